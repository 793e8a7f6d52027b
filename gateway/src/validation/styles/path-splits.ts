/**
 * Segments with several parameters, such as `{lat}.{format}`, fit a path in several ways: `71.441.json` is 71 and
 * `441.json`, or 71.441 and `json`. The first way with valid values counts, each value as short as that allows.
 */
import { readingsOf, type SegmentText, sentSlice } from '../../router/segment-text.ts';
import { parseTemplate, type SegmentPattern } from '../../router/template.ts';

/** Most splits tried for one segment; without a valid one among them, the router's split is refused. */
const MOST_TRIES = 64;

interface Splittable {
  readonly pattern: SegmentPattern;
  /** Index of its first parameter, among those of the template. */
  readonly index: number;
}

/** Whether a value would be valid for the parameter at this place of the template; still encoded. */
export type Holds = (index: number, raw: string) => boolean;

export class PathSplits {
  readonly #segments: readonly Splittable[];

  private constructor(segments: readonly Splittable[]) {
    this.#segments = segments;
  }

  /** Returns null if each path has one split at most. */
  static of(template: string): PathSplits | null {
    let index = 0;
    const segments: Splittable[] = [];
    for (const segment of parseTemplate(template).segments) {
      if (segment.kind === 'static') continue;
      const { names } = segment.kind === 'pattern' ? segment.pattern : { names: [segment.name] };
      if (segment.kind === 'pattern' && names.length > 1) segments.push({ pattern: segment.pattern, index });
      index += names.length;
    }
    return segments.length === 0 ? null : new PathSplits(segments);
  }

  /** `params`: as the router has split them. */
  valid(params: readonly string[], holds: Holds): readonly string[] {
    let settled = params;
    for (const { pattern, index } of this.#segments) {
      const values = validSplit(pattern, params.slice(index, index + pattern.names.length), (i, raw) =>
        holds(index + i, raw),
      );
      if (values !== null) settled = settled.toSpliced(index, values.length, ...values);
    }
    return settled;
  }
}

function validSplit(pattern: SegmentPattern, first: readonly string[], holds: Holds): string[] | null {
  // The segment without the text before its first parameter and behind its last one.
  const raw = first.reduce((before, value, i) => before + encodedPercent(pattern.literals[i] as string) + value);
  for (const reading of readingsOf(raw)) {
    const values = splitOf(reading, pattern, first.length, holds);
    if (values !== null) return values;
  }
  return null;
}

/** In encoded text, a percent sign begins an escape. */
function encodedPercent(literal: string): string {
  return literal.replaceAll('%', '%25');
}

function splitOf(reading: SegmentText, { literals }: SegmentPattern, count: number, holds: Holds): string[] | null {
  const { text } = reading;
  const values: string[] = [];
  let tries = 0;
  const fits = (i: number, value: string): boolean => {
    values[i] = value;
    return ++tries <= MOST_TRIES && value !== '' && holds(i, value);
  };
  const split = (i: number, at: number): boolean => {
    if (i === count - 1) return fits(i, sentSlice(reading, at, text.length));
    const literal = literals[i + 1] as string;
    for (let end = text.indexOf(literal, at + 1); end >= 0; end = text.indexOf(literal, end + 1)) {
      if (fits(i, sentSlice(reading, at, end)) && split(i + 1, end + literal.length)) return true;
      if (tries > MOST_TRIES) return false;
    }
    return false;
  };
  return split(0, 0) ? values : null;
}
