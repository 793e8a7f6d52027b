import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { ItemsByOwner } from './items-by-owner.ts';

const item = (owner: string, n: number) => ({ owner, n });

describe('what is held by network', () => {
  it('gives up the oldest of whom has most, and of equals whose came first', () => {
    const held = new ItemsByOwner<ReturnType<typeof item>>();
    for (const each of [item('a', 1), item('b', 2), item('b', 3), item('c', 4)]) held.add(each);
    expect(Array.from({ length: 5 }, () => held.takeOldestOfBusiest()?.n)).toEqual([2, 1, 3, 4, undefined]);
    expect(held.size).toBe(0);
  });

  it('gives each network its turn, whatever another one holds', () => {
    const held = new ItemsByOwner<ReturnType<typeof item>>();
    for (let n = 0; n < 100; n++) held.add(item('many', n));
    for (const each of [item('one', 100), item('two', 101), item('two', 102)]) held.add(each);
    expect(Array.from({ length: 6 }, () => held.takeInTurn()?.n)).toEqual([0, 100, 101, 1, 102, 2]);
  });

  it('counts networks of one IPv6 site together before it counts them apart', () => {
    const held = new ItemsByOwner<ReturnType<typeof item>>();
    const network = (n: number) => `2001:db8:1:${n.toString(16)}::/64`;
    for (let n = 0; n < 50; n++) held.add(item(network(n), n));
    held.add(item(network(7), 50));
    for (const n of [51, 52]) held.add(item('192.0.2.1', n));
    expect(held.takeOldestOfBusiest()?.n).toBe(7);
    expect(held.takeOldestOfBusiest()?.n).toBe(0);
    expect(Array.from({ length: 4 }, () => held.takeInTurn()?.n)).toEqual([1, 51, 2, 52]);
    expect([held.heldBySiteOf(network(9)), held.heldBySiteOf('192.0.2.1'), held.sites]).toEqual([47, 0, 1]);
  });

  it('holds what was added and not taken, in any order of calls', () => {
    const step = fc.record({ what: fc.constantFrom('add', 'delete', 'busiest', 'turn'), n: fc.nat(20) });
    const all = Array.from({ length: 21 }, (_, n) => item(`network ${n % 4}`, n));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const held = new ItemsByOwner<ReturnType<typeof item>>();
        const model = new Set<number>();
        for (const { what, n } of steps) {
          const each = all[n];
          if (!each) continue;
          if (what === 'add') {
            held.add(each);
            model.add(n);
          } else if (what === 'delete') expect(held.delete(each)).toBe(model.delete(n));
          else {
            const taken = what === 'busiest' ? held.takeOldestOfBusiest() : held.takeInTurn();
            expect(model.delete(taken?.n ?? -1)).toBe(taken !== undefined);
          }
          expect(held.size).toBe(model.size);
        }
      }),
      propertyRuns(200),
    );
  });
});
