/** Which addresses get requests: ejection, probes, the panic threshold, and changes of the set. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type UpstreamPolicy } from '../../artifact/upstream-policy.ts';
import { AddressSet } from './address-set.ts';
import type { UpstreamAddress } from './upstream-address.ts';

interface Rig {
  readonly set: AddressSet;
  readonly events: string[];
  pass(ms: number): void;
  /** Addresses of so many requests, which all succeed. */
  chosen(count?: number): string[];
  eject(name: string): void;
}

function rig(names: readonly string[], ejection: Partial<UpstreamPolicy['ejection']> = {}): Rig {
  let now = 0;
  const events: string[] = [];
  const policy: UpstreamPolicy = { balance: 'round-robin', ejection: { ...DEFAULT_POLICY.ejection, ...ejection } };
  const set = new AddressSet(
    { name: 'books', policy },
    names.map((url) => ({ url, weight: 1 })),
    {
      ejected: (_, address) => void events.push(`-${address}`),
      restored: (_, address) => void events.push(`+${address}`),
    },
    () => now,
  );
  return {
    set,
    events,
    pass(ms) {
      now += ms;
    },
    chosen(count = 6) {
      const all = Array.from({ length: count }, () => {
        const address = set.choose(request());
        address?.breaker.succeeded();
        return address?.url ?? '-';
      });
      return [...new Set(all)].sort();
    },
    eject(name) {
      const address = addressOf(set, name);
      while (!address.breaker.refuses) address.unreachable('203.0.113.9');
    },
  };
}

const request = (clientIp = '203.0.113.1') => ({ headers: [], clientIp });

function addressOf({ addresses }: AddressSet, name: string): UpstreamAddress {
  const found = addresses.find(({ url }) => url === name);
  if (!found) throw new Error(`no address ${name}`);
  return found;
}

describe('an address', () => {
  it('is out after failures in a row, and comes back if one request after the cool-down succeeds', () => {
    const { set, events, pass, chosen, eject } = rig(['a', 'b', 'c']);
    eject('b');
    expect([events, chosen(), set.stateOf(addressOf(set, 'b'))]).toEqual([['-b'], ['a', 'c'], 'ejected']);
    pass(9_999);
    expect(chosen()).toEqual(['a', 'c']);
    pass(1);
    expect(set.stateOf(addressOf(set, 'b'))).toBe('probing');
    expect(chosen()).toEqual(['a', 'b', 'c']);
    expect([events, set.stateOf(addressOf(set, 'b'))]).toEqual([['-b', '+b'], 'healthy']);
  });

  it('gets one request at a time until it has answered', () => {
    const { set, pass, eject } = rig(['a', 'b']);
    eject('b');
    pass(10_000);
    const begun = Array.from({ length: 10 }, () => set.choose(request())?.url);
    expect(begun.filter((url) => url === 'b')).toHaveLength(1);
  });

  it('is out by the numbers of the policy', () => {
    const { set, pass, chosen } = rig(['a', 'b'], { failures: 2, cooldown: 0.5 });
    const address = addressOf(set, 'a');
    address.unreachable('203.0.113.1');
    expect(chosen()).toEqual(['a', 'b']);
    for (let i = 0; i < 2; i++) address.unreachable('203.0.113.1');
    expect(chosen()).toEqual(['b']);
    pass(500);
    expect(chosen()).toEqual(['a', 'b']);
  });

  it('is out for a client whose own requests fail there, and for no other', () => {
    const { set, events, chosen } = rig(['a', 'b']);
    const address = addressOf(set, 'a');
    for (let i = 0; i < 5; i++) {
      address.breaker.admits('203.0.113.7');
      address.breaker.failed('203.0.113.7');
    }
    expect([chosen(), events]).toEqual([['a', 'b'], []]);
    for (let i = 0; i < 5; i++) {
      address.breaker.admits('203.0.113.7');
      address.breaker.failed('203.0.113.7');
    }
    const own = Array.from({ length: 6 }, () => set.choose(request('203.0.113.7'))?.url);
    expect(own).toEqual(Array(6).fill('b'));
  });
});

describe('a set', () => {
  it('gives no address if all are out, and says when to come back', () => {
    const { set, pass, eject } = rig(['a', 'b']);
    eject('a');
    pass(4_000);
    eject('b');
    expect([set.choose(request()), set.retryAfter('203.0.113.1')]).toEqual([null, 6]);
  });

  it('uses all addresses if fewer than the panic threshold are healthy, but prefers others after a failure', () => {
    const { set, chosen, eject } = rig(['a', 'b', 'c', 'd']);
    eject('a');
    eject('b');
    expect(chosen()).toEqual(['c', 'd']);
    eject('c');
    const all = Array.from({ length: 8 }, () => set.choose(request()));
    expect(new Set(all.map((each) => each?.url))).toEqual(new Set(['a', 'b', 'c', 'd']));
    expect(Array.from({ length: 8 }, () => set.choose(request(), addressOf(set, 'a'))?.url)).toEqual(
      Array(8).fill('d'),
    );
  });

  it('has no panic threshold if it is 0', () => {
    const { chosen, eject } = rig(['a', 'b', 'c'], { panic: 0 });
    eject('a');
    eject('b');
    expect(chosen()).toEqual(['c']);
  });

  it('keeps the circuit and the requests of addresses that stay, and tells of those that leave', () => {
    const { set, events, chosen, eject } = rig(['a', 'b', 'c']);
    const removed: string[] = [];
    set.onRemoved(({ url }) => void removed.push(url));
    eject('b');
    const [a, b] = set.addresses;
    set.update([
      { url: 'b', weight: 1 },
      { url: 'a', weight: 3 },
      { url: 'd', weight: 1 },
    ]);
    expect([set.addresses[0] === b, set.addresses[1] === a, a?.weight, removed]).toEqual([true, true, 3, ['c']]);
    expect([chosen(), events]).toEqual([['a', 'd'], ['-b']]);
    if (b) b.inFlight = 2;
    set.update([{ url: 'a', weight: 1 }]);
    expect(set.inFlight).toBe(2);
    b?.breaker.succeeded();
    expect([chosen(), events]).toEqual([['a'], ['-b']]);
  });
});
