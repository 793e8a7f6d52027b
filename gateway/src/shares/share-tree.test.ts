import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { OwnerPath } from './owner-path.ts';
import { type Entry, ShareTree } from './share-tree.ts';

describe('a tree of shares', () => {
  it('has the owner that holds most yield its oldest, at each level', () => {
    const tree = new ShareTree<string>();
    for (let i = 0; i < 3; i++) tree.add(['policy', 'many', `name ${i}`], `many ${i}`);
    tree.add(['policy', 'one', 'name'], 'one');
    tree.add(['other', 'one', 'name'], 'other');
    expect(tree.yielding(['policy', 'newcomer', 'name'])?.value).toBe('many 0');
    expect(tree.yielding(['third', 'newcomer', 'name'])?.value).toBe('many 0');
    expect(tree.yielding(['policy', 'one', 'name'])?.value).toBe('many 0');
    expect(tree.yielding(['policy', 'many', 'name 0'])).toBeNull();
    expect(tree.weight).toBe(5);
    expect(tree.weightOf(['policy', 'many'])).toBe(3);
  });

  it('lets one that holds nothing take the place of one that holds as much as it would, if ties count', () => {
    const tree = new ShareTree<string>();
    for (const name of ['a', 'b', 'c']) tree.add([name], name);
    expect(tree.yielding(['d'], 1, { ties: true })?.value).toBe('a');
    expect(tree.yielding(['d'])).toBeNull();
    expect(tree.yielding(['a'], 1, { ties: true })).toBeNull();
    expect(tree.yielding(['d'], 2, { ties: true })).toBeNull();
  });

  it('takes owners in turn, however much each has', () => {
    const tree = new ShareTree<string>();
    for (let i = 0; i < 5; i++) tree.add(['busy', `n${i}`], `busy ${i}`);
    tree.add(['quiet', 'n'], 'quiet');
    const order: string[] = [];
    for (let next = tree.inTurn(); next !== null; next = tree.inTurn()) {
      order.push(next.value);
      tree.remove(next);
    }
    expect(order.indexOf('quiet')).toBe(1);
    expect(order).toHaveLength(6);
  });

  it('keeps its sums, whatever is added, replaced, touched and removed; nobody below the most yields', () => {
    const path = fc.tuple(fc.constantFrom('p', 'q'), fc.constantFrom('a', 'b', 'c'));
    const step = fc.tuple(
      fc.constantFrom('add', 'remove', 'replace', 'touch'),
      path,
      fc.integer({ min: 1, max: 5_000 }),
    );
    const property = fc.property(fc.array(step, { maxLength: 60 }), path, (steps, asking) => {
      const tree = new ShareTree<OwnerPath>();
      const held: Entry<OwnerPath>[] = [];
      for (const [what, owner, weight] of steps) {
        const at = weight % Math.max(1, held.length);
        const entry = held[at];
        if (what === 'add') held.push(tree.add(owner, owner, weight));
        else if (entry === undefined) continue;
        else if (what === 'touch') tree.touch(entry);
        else if (what === 'replace') held[at] = tree.replace(entry, entry.value, weight);
        else {
          tree.remove(entry);
          held.splice(at, 1);
        }
      }
      const of = (owner: OwnerPath) =>
        held
          .filter(({ value }) => owner.every((name, i) => value[i] === name))
          .reduce((sum, { weight }) => sum + weight, 0);
      expect(tree.weight).toBe(of([]));
      for (const owner of [['p'], ['q'], ['p', 'a'], ['q', 'c']]) expect(tree.weightOf(owner)).toBe(of(owner));
      const yields = tree.yielding(asking, 1);
      if (yields === null) return;
      const level = yields.value[0] === asking[0] ? 2 : 1;
      expect(of(yields.value.slice(0, level))).toBeGreaterThan(of(asking.slice(0, level)));
    });
    fc.assert(property, propertyRuns(300));
  });
});
