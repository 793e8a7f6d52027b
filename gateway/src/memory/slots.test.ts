import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SLOT, Slots } from './slots.ts';

interface Member {
  readonly name: number;
  slot: number;
}

describe('Slots', () => {
  it('hold what a Set would hold, whatever comes and goes', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(20)), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (each) => {
        const members: Member[] = Array.from({ length: 21 }, (_, name) => ({ name, slot: NO_SLOT }));
        const [slots, expected] = [new Slots<Member>(), new Set<Member>()];
        for (const [comes, at] of each) {
          const member = members[at] as Member;
          if (comes && !expected.has(member)) {
            member.slot = slots.add(member);
            expected.add(member);
          } else if (!comes) expect(slots.remove(member.slot, member)).toBe(expected.delete(member));
          expect(slots.at(member.slot) === member).toBe(expected.has(member));
          expect(slots.size).toBe(expected.size);
        }
        expect(new Set(slots)).toEqual(expected);
      }),
    );
  });

  it('let members leave while they are walked over', () => {
    const slots = new Slots<Member>();
    const members = [1, 2, 3].map((name) => {
      const member = { name, slot: NO_SLOT };
      member.slot = slots.add(member);
      return member;
    });
    const seen: number[] = [];
    for (const { name } of slots) {
      seen.push(name);
      for (const each of members) slots.remove(each.slot, each);
    }
    expect(seen).toEqual([1]);
    expect(slots.size).toBe(0);
  });
});
