/** Pages of lists: together they are the list, whatever comes and goes between them (docs/mcp.md#pages). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { pageOf } from './pages.ts';

const texts = (sizes: Readonly<Record<string, number>>) => (key: string) => 'x'.repeat(sizes[key] ?? 10);

describe('pages of a list', () => {
  it('are the list, in order, each within its size and 1 MB', () => {
    const lists = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.integer({ min: 1, max: 1_200_000 }), {
      maxKeys: 12,
    });
    fc.assert(
      fc.property(lists, fc.integer({ min: 0, max: 4 }), (sizes, size) => {
        const keys = Object.keys(sizes).sort();
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = pageOf(keys, cursor, { size, text: texts(sizes) });
          if (page === null) throw new Error('the cursor is not known');
          if (size > 0) expect(page.keys.length).toBeLessThanOrEqual(size);
          const bytes = page.keys.reduce((sum, key) => sum + (sizes[key] ?? 0), 0);
          if (page.keys.length > 1) expect(bytes).toBeLessThanOrEqual(1_000_000);
          seen.push(...page.keys);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        expect(seen).toEqual(keys);
      }),
      propertyRuns(60),
    );
  });

  it('are one where all is below 1 MB', () => {
    const keys = Array.from({ length: 2_000 }, (_, i) => `tool_${String(i).padStart(5, '0')}`);
    expect(pageOf(keys, undefined, { size: 0, text: texts({}) })).toEqual({ keys });
  });
});
