/** Tells what an inspection did, for a trace. */
import type { RuleIndex } from './rule-index.ts';
import { FATES, type Fate, type Verdict } from './verdict.ts';

/** Those that say something about the request; of rules that were not reached, the outcome does. */
const TOLD: readonly Fate[] = ['matched', ...FATES.filter((fate) => fate !== 'matched' && fate !== 'not reached')];

/**
 * Returns the scores, the rules by what became of them, and the values that were left out. Neighbours in the order of the
 * rules are written as a range, such as `942100-942200`.
 */
export function explained(
  { inbound, outbound, matches, fates, proved }: Verdict,
  rules: Pick<RuleIndex, 'at'>,
): string {
  const logged = new Set(matches.map(({ rule }) => rule));
  // Rules that set a variable or choose what runs next match, too, and say nothing about the request.
  const told = fates.map((fate, rule) => (fate === 'matched' && !logged.has(rule) ? 'ran' : fate));
  const groups = TOLD.flatMap((fate) => {
    const ranges = rangesOf(told, fate).map(([from, to]) => idsOf(rules, from, to));
    return ranges.length === 0 ? [] : [`${fate}: ${ranges.join(', ')}`];
  });
  const scores = `scores ${inbound} inbound, ${outbound} outbound`;
  const left = proved.length === 0 ? [] : [`proved by the document: ${[...new Set(proved)].join(', ')}`];
  return [scores, ...left, ...groups].join('; ');
}

function rangesOf(fates: readonly Fate[], fate: Fate): readonly (readonly [from: number, to: number])[] {
  const ranges: [from: number, to: number][] = [];
  for (const [index, each] of fates.entries()) {
    if (each !== fate) continue;
    const last = ranges.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges;
}

function idsOf(rules: Pick<RuleIndex, 'at'>, from: number, to: number): string {
  const [first = 0, last = 0] = [rules.at(from)?.id, rules.at(to)?.id];
  return from === to ? String(first) : `${first}-${last}`;
}
