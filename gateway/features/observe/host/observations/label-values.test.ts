import { describe, expect, it } from 'vitest';
import { FirstValues, ListedValues } from './label-values.ts';

describe('values of a label', () => {
  it('are those that are listed; all else is other', () => {
    const values = new ListedValues(['gold', 'silver']);
    expect(['gold', 'Gold', '', 'planted\n', undefined].map((each) => values.of(each))).toEqual([
      ...['gold', 'other', 'other', 'other', 'none'],
    ]);
  });

  it('are the first that occur, however many come, over all configs of a process', () => {
    const seen = new Set<string>();
    const before = new FirstValues(seen, 2);
    expect(['a', 'b', 'c', 'a', undefined].map((each) => before.of(each))).toEqual(['a', 'b', 'other', 'a', 'none']);
    for (let i = 0; i < 10_000; i++) before.of(`consumer ${i}`);
    expect(seen.size).toBe(2);
    const after = new FirstValues(seen, 3);
    expect(['c', 'd', 'b'].map((each) => after.of(each))).toEqual(['c', 'other', 'b']);
  });
});
