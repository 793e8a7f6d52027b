/** Verdicts on patterns, remembered over compilations: documents say the same ones again and again. */
import { patternKind as judge, type PatternKind } from './pattern.ts';

const known = new Map<string, PatternKind>();
const MOST_KNOWN = 10_000;
/** Characters of the longest one that is remembered. */
const MOST_LENGTH = 1000;

export function patternKind(source: string): PatternKind {
  let kind = known.get(source);
  if (kind === undefined) {
    kind = judge(source);
    if (known.size < MOST_KNOWN && source.length <= MOST_LENGTH) known.set(source, kind);
  }
  return kind;
}
