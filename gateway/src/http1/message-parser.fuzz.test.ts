/**
 * Our parser beside the one of node:http, over the same bytes: what is a message, where it ends, and what is refused.
 * `test/http1/compare.ts` lists where ours may be stricter.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differenceOf, STRICTER } from '../../../test/http1/compare.ts';
import { SeededRandom } from '../../../test/http1/random.ts';
import { randomConnection } from '../../../test/http1/random-messages.ts';
import type { Kind, ReadOptions } from '../../../test/http1/reading.ts';
import { RESPONSES } from '../../../test/http1/responses.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { CASES } from '../../../test/smuggling/cases.ts';

const NODE_HEAD_BYTES = 16 << 10;
/** Cases of `npm run test:long`; `GW_FUZZ_SECONDS` has as many as fit. */
const MOST_LONG_CASES = 1_000_000;

function comparison(seed: number, kind: Kind) {
  const random = new SeededRandom(seed);
  const text = randomConnection(random, kind);
  const places = Array.from({ length: random.below(6) }, () => random.below(text.length + 1));
  const options: ReadOptions = {
    kind,
    mostHeadBytes: random.once(10) ? 200 : NODE_HEAD_BYTES,
    answersHead: kind === 'response' && random.once(8),
  };
  return { text, places, options };
}

describe.each<Kind>(['request', 'response'])('a random %s', (kind) => {
  it('is read as node:http reads it', () => {
    const runs = propertyRuns(50_000);
    const numRuns = process.env['GW_FUZZ_SECONDS'] ? runs.numRuns : Math.min(runs.numRuns, MOST_LONG_CASES);
    fc.assert(
      fc.property(fc.noShrink(fc.integer()), (seed) => {
        const { text, places, options } = comparison(seed, kind);
        const difference = differenceOf(text, places, options);
        if (difference !== null) throw new Error(report(text, places, options, difference));
      }),
      { ...runs, numRuns },
    );
  });
});

describe('bytes that we know, cut at every place', () => {
  const options = { mostHeadBytes: NODE_HEAD_BYTES, answersHead: false };

  it.each(CASES)('request: $name', ({ bytes }) => {
    expect(differenceAtEachPlace(bytes, { kind: 'request', ...options })).toBeNull();
  });

  it.each(RESPONSES.map(([, bytes]) => bytes))('response %#', (bytes) => {
    expect(differenceAtEachPlace(bytes, { kind: 'response', ...options })).toBeNull();
    expect(differenceAtEachPlace(bytes, { kind: 'response', ...options, answersHead: true })).toBeNull();
  });
});

describe('where ours is stricter', () => {
  it('has a reason for each', () => {
    expect(STRICTER.filter(({ why }) => why === '')).toEqual([]);
  });
});

/** Places between bytes; of long texts only some of them. */
function differenceAtEachPlace(text: string, options: ReadOptions): string | null {
  const step = Math.ceil(text.length / 4000);
  const places = Array.from({ length: Math.ceil(text.length / step) }, (_, i) => i * step);
  for (const place of places) {
    const difference = differenceOf(text, [place], options);
    if (difference !== null) return report(text, [place], options, difference);
    // A long text is compared whole, which takes its time.
    if (text.length > 100_000) break;
  }
  const difference = differenceOf(text, text.length > 100_000 ? [] : places, options);
  return difference === null ? null : report(text, places, options, difference);
}

function report(text: string, places: readonly number[], options: ReadOptions, difference: string): string {
  return `${JSON.stringify(text)} cut at [${places}] with ${JSON.stringify(options)}\n${difference}`;
}
