/** Whether a regular expression compiles, and whether it can be matched in linear time (RE2 semantics). */
import { RE2JS } from 're2js';

export type PatternVerdict = 'linear' | 'backtracking' | 'invalid';

const known = new Map<string, PatternVerdict>();
/** Verdicts remembered over compilations. */
const MAX_KNOWN = 10_000;

export function judgePattern(pattern: string): PatternVerdict {
  let verdict = known.get(pattern);
  if (verdict === undefined) {
    verdict = judge(pattern);
    if (known.size < MAX_KNOWN) known.set(pattern, verdict);
  }
  return verdict;
}

function judge(pattern: string): PatternVerdict {
  try {
    RE2JS.compile(RE2JS.translateRegExp(pattern));
    return 'linear';
  } catch {
    try {
      new RegExp(pattern, 'u');
      return 'backtracking';
    } catch {
      return 'invalid';
    }
  }
}
