import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { LocalConnectionSlots } from './connection-slots.ts';

/** Connections that can be ended for others, all of them or only the idle ones. */
class Clients {
  readonly slots: LocalConnectionSlots;
  readonly open: { owner: string; idle: boolean }[] = [];
  readonly crowded: string[] = [];

  constructor(most: number) {
    this.slots = new LocalConnectionSlots(most, { crowded: (owner) => this.crowded.push(owner) });
    this.slots.endOneOf = ({ sites, busy }) => {
      const idle = this.open.find((each) => sites.includes(each.owner) && each.idle);
      const ended = idle ?? (busy ? this.open.findLast((each) => each.owner === sites[0]) : undefined);
      if (ended === undefined) return null;
      this.open.splice(this.open.indexOf(ended), 1);
      return ended.owner;
    };
  }

  come(owner: string, idle: boolean): boolean {
    const admitted = this.slots.take(owner) === true;
    if (admitted) this.open.push({ owner, idle });
    return admitted;
  }

  leave(index: number): void {
    const [left] = this.open.splice(index % this.open.length, 1);
    if (left) this.slots.release(left.owner);
  }

  heldBy(owner: string): number {
    return this.open.filter((each) => each.owner === owner).length;
  }
}

describe('places for connections', () => {
  it('are never more than there are, and are given to whoever is below its share, whoever has the others', () => {
    const step = fc.record({
      owner: fc.constantFrom('a', 'b', 'c', 'd'),
      idle: fc.boolean(),
      leaves: fc.nat(9),
      n: fc.nat(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.array(step, { maxLength: 200 }), (most, steps) => {
        const clients = new Clients(most);
        for (const { owner, idle, leaves, n } of steps) {
          if (leaves === 0 && clients.open.length > 0) clients.leave(n);
          const owners = new Set([...clients.open.map((each) => each.owner), owner]);
          const below = clients.heldBy(owner) + 1 <= most / owners.size;
          const before = clients.open.length;
          const admitted = clients.come(owner, idle);
          if (below && owners.size > 1) expect(admitted).toBe(true);
          expect(clients.open.length).toBeLessThanOrEqual(most);
          // One at most ends for another.
          expect(clients.open.length).toBeGreaterThanOrEqual(before - (admitted ? 0 : 1));
        }
      }),
      propertyRuns(300),
    );
  });

  it('keep a reserve for others, which who is alone does not take', () => {
    const clients = new Clients(100);
    for (let i = 0; i < 120; i++) clients.come('alone', false);
    expect(clients.open).toHaveLength(95);
    for (let i = 0; i < 5; i++) expect(clients.come('other', false)).toBe(true);
    expect(clients.heldBy('alone')).toBe(95);
    expect(clients.crowded).toHaveLength(15);
  });

  it('are counted by /48 of IPv6', () => {
    const clients = new Clients(10);
    const network = (n: number) => `2001:db8:1:${n}::/64`;
    for (let i = 1; i < 6; i++) expect(clients.come(network(i), false)).toBe(true);
    for (let i = 0; i < 5; i++) expect(clients.come('192.0.2.1', false)).toBe(true);
    expect(clients.come(network(7), false)).toBe(false);
  });

  it('of trusted proxies are nobody’s', () => {
    const clients = new Clients(3);
    for (let i = 0; i < 3; i++) expect(clients.slots.take(null)).toBe(true);
    expect([clients.come('a', true), clients.slots.take(null)]).toEqual([false, false]);
    clients.slots.release(null);
    expect(clients.come('a', false)).toBe(true);
    expect(clients.slots.take(null)).toBe(false);
    clients.leave(0);
    expect(clients.come('a', true)).toBe(true);
    // What is idle yields to anybody.
    expect(clients.slots.take(null)).toBe(true);
  });
});
