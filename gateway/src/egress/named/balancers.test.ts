/** Shares of addresses, and which keys move when addresses come and go. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import type { BalancedRequest, Candidate } from './balancer.ts';
import { balancerOf } from './balancers.ts';
import { hashOf } from './hash-balancer.ts';

interface Address extends Candidate {
  readonly name: string;
  inFlight: number;
}

function address(name: string, weight = 1, inFlight = 0): Address {
  return { name, weight, inFlight, hash: hashOf(name), credit: 0 };
}

/** A generator of even numbers from 0 to 1, the same each time. */
function random(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const request = (headers: readonly string[] = [], clientIp = '203.0.113.1'): BalancedRequest => ({
  headers: [...headers],
  clientIp,
});

function shares(candidates: readonly Address[], times: number, choose: () => Address): readonly number[] {
  const counts = new Map<Address, number>();
  for (let i = 0; i < times; i++) {
    const chosen = choose();
    counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
  }
  return candidates.map((each) => (counts.get(each) ?? 0) / times);
}

describe('round robin', () => {
  it('gives each address exactly its share by weight, and heavy ones no runs', () => {
    const balancer = balancerOf('round-robin');
    const candidates = [address('a', 5), address('b', 1), address('c', 1)];
    const chosen = Array.from({ length: 14 }, () => balancer.choose(candidates, request()).name).join('');
    expect(chosen).toBe('aabacaaaabacaa');
  });

  it('gives the share of an address that is out to the others', () => {
    const balancer = balancerOf('round-robin');
    const all = [address('a'), address('b'), address('c')];
    for (let i = 0; i < 4; i++) balancer.choose(all, request());
    const left = all.slice(0, 2);
    const [a = 0, b = 0] = shares(left, 100, () => balancer.choose(left, request()));
    expect([Math.abs(a - 0.5), Math.abs(b - 0.5)].every((off) => off < 0.02)).toBe(true);
  });
});

describe('least requests', () => {
  it('takes the less busy of two, by weight', () => {
    const balancer = balancerOf('least-requests', random());
    const idle = [address('a', 1, 3), address('b', 1, 2)];
    expect(shares(idle, 100, () => balancer.choose(idle, request()))).toEqual([0, 1]);
    const weighted = [address('a', 3, 5), address('b', 1, 2)];
    expect(shares(weighted, 100, () => balancer.choose(weighted, request()))).toEqual([1, 0]);
  });

  it('gives idle addresses their shares by weight', () => {
    const balancer = balancerOf('least-requests', random());
    const candidates = [address('a', 1), address('b', 2), address('c', 7)];
    const [a = 0, b = 0, c = 0] = shares(candidates, 50_000, () => balancer.choose(candidates, request()));
    expect([Math.abs(a - 0.1), Math.abs(b - 0.2), Math.abs(c - 0.7)].every((off) => off < 0.01)).toBe(true);
  });

  it('takes two different ones, whatever weights there are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.nat(),
        (one, other, seed) => {
          const two = [address('busy', one, 9_000_000), address('idle', other)];
          const balancer = balancerOf('least-requests', random(seed));
          expect(shares(two, 20, () => balancer.choose(two, request()))).toEqual([0, 1]);
        },
      ),
      propertyRuns(50),
    );
  });
});

describe('a hash', () => {
  const balancer = balancerOf({ hash: { header: 'x-tenant' } }, random());
  const chosenFor = (candidates: readonly Address[], key: string) =>
    balancer.choose(candidates, request(['x-tenant', key]));

  it('moves only the keys of an address that leaves', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.domain(), fc.integer({ min: 1, max: 9 })), {
          minLength: 2,
          maxLength: 12,
          selector: ([name]) => name,
        }),
        fc.array(fc.string(), { minLength: 50, maxLength: 50 }),
        fc.nat(),
        (addresses, keys, at) => {
          const all = addresses.map(([name, weight]) => address(name, weight));
          const gone = all[at % all.length];
          const left = all.filter((each) => each !== gone);
          for (const key of keys) {
            const before = chosenFor(all, `k${key}`);
            if (before !== gone) expect(chosenFor(left, `k${key}`)).toBe(before);
          }
        },
      ),
      propertyRuns(50),
    );
  });

  it('shares keys by weight, and takes for a new address its share of all others', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `tenant-${i}`);
    const three = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((name, i) => address(`http://${name}:8080`, i + 1));
    let i = 0;
    const [a = 0, b = 0, c = 0] = shares(three, keys.length, () => chosenFor(three, keys[i++] ?? ''));
    expect([Math.abs(a - 1 / 6), Math.abs(b - 2 / 6), Math.abs(c - 3 / 6)].every((off) => off < 0.01)).toBe(true);
    const four = [...three, address('http://10.0.0.4:8080', 2)];
    const moved = keys.filter((key) => chosenFor(three, key) !== chosenFor(four, key));
    expect(moved.every((key) => chosenFor(four, key) === four[3])).toBe(true);
    expect(Math.abs(moved.length / keys.length - 2 / 8)).toBeLessThan(0.01);
  });

  it('is of a cookie or the client address; requests without a key are balanced by least requests', () => {
    const all = [address('a'), address('b'), address('c')];
    const byCookie = balancerOf({ hash: { cookie: 'sid' } }, random());
    const of = (cookie: string) => byCookie.choose(all, request(['cookie', cookie])).name;
    const spread = new Set(Array.from({ length: 50 }, (_, i) => of(`a=1; sid=${i}`)));
    expect(spread.size).toBe(3);
    expect(new Set(Array.from({ length: 50 }, (_, i) => of(`other=${i}; sid=same`))).size).toBe(1);
    expect(new Set(Array.from({ length: 50 }, (_, i) => of(`notsid=${i}`))).size).toBe(3);
    const byClient = balancerOf({ hash: 'client-address' }, random());
    const addresses = Array.from({ length: 50 }, (_, i) => byClient.choose(all, request([], `192.0.2.${i}`)));
    expect(new Set(addresses).size).toBe(3);
    expect(addresses).toEqual(Array.from({ length: 50 }, (_, i) => byClient.choose(all, request([], `192.0.2.${i}`))));
  });
});
