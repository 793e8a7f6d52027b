import { describe, expect, it } from 'vitest';
import { NOBODY } from '../../../../src/shares/owner-path.ts';
import { TokenClaims } from './token-claims.ts';
import { digestOf, VerifiedTokens } from './verified-tokens.ts';

const token = () => ({ claims: new TokenClaims({ sub: 'alice' }), validity: { from: 0, until: 0 } });

describe('tokens that were verified', () => {
  it('are as many as fit, those used last', () => {
    const tokens = new VerifiedTokens();
    const length = 16_384;
    for (let i = 0; i < 10_000; i++) {
      tokens.set(`t${i}`, token(), length, NOBODY);
      tokens.get('t0');
    }
    const kept = Array.from({ length: 10_000 }, (_, i) => i).filter((i) => tokens.get(`t${i}`) !== undefined);
    expect(kept.length * length).toBeLessThanOrEqual(8 << 20);
    expect(kept.length * length).toBeGreaterThan(7 << 20);
    expect([kept[0], kept.at(-1)]).toEqual([0, 9_999]);
  });

  it('are forgotten one by one or all together', () => {
    const tokens = new VerifiedTokens();
    for (const name of ['a', 'b', 'b', 'c']) tokens.set(name, token(), 10, NOBODY);
    tokens.delete('b');
    tokens.delete('b');
    expect(tokens.get('b')).toBeUndefined();
    expect(tokens.get('c')).toBeDefined();
    tokens.clear();
    expect(tokens.get('c')).toBeUndefined();
  });

  it('are known by a digest that says nothing of them', () => {
    expect(digestOf('a')).not.toBe(digestOf('b'));
    expect(digestOf('a')).toBe(digestOf('a'));
    expect(digestOf('token'.repeat(100))).toHaveLength(44);
  });
});
