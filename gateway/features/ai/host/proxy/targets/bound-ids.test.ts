import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundIds } from './bound-ids.ts';

const ids = new BoundIds('0123456789abcdef0123456789abcdef');
const owner = { consumer: 'ann', account: 'provider https://api.example' };
const ID = /^[\w-]{1,128}$/;

describe('an id', () => {
  it('opens for whom it was sealed, and for nobody else', () => {
    fc.assert(
      fc.property(fc.stringMatching(ID), fc.string(), fc.string(), (id, consumer, account) => {
        const own = ids.of({ consumer, account });
        const bound = own.bind('files', id);
        expect(bound).toMatch(/^file-[\w-]{23,200}$/);
        expect(own.bind('files', id)).toBe(bound);
        expect(own.unbind('files', bound)).toBe(id);
        const others = [
          ids.of({ consumer: `${consumer}x`, account }),
          ids.of({ consumer, account: `${account}x` }),
          ids.of({ consumer: account, account: `${consumer}x` }),
          new BoundIds('another-0123456789abcdef01234567').of({ consumer, account }),
        ];
        for (const other of others) expect(other.unbind('files', bound)).toBeNull();
        expect(own.unbind('batches', bound)).toBeNull();
        expect(own.unbind('batches', bound.replace('file-', 'batch_'))).toBeNull();
      }),
    );
  });

  it('that is changed in one place opens no more', () => {
    const own = ids.of(owner);
    const bound = own.bind('batches', 'batch_0123456789');
    for (let i = 0; i < bound.length; i++) {
      const other = String.fromCharCode(((bound.charCodeAt(i) + randomInt(1, 90)) % 90) + 33);
      if (other === bound[i]) continue;
      expect(own.unbind('batches', bound.slice(0, i) + other + bound.slice(i + 1))).toBeNull();
      expect(own.unbind('batches', bound.slice(0, i))).toBeNull();
    }
    expect(own.unbind('batches', `${bound}=`)).toBeNull();
  });

  it.each(['', 'a b', 'a/b', '..', 'a"', 'a'.repeat(129), 'é'])('of a provider is never %j', (id) => {
    expect(() => ids.of(owner).bind('files', id)).toThrow('id');
  });
});
