/** How much a model thinks before it answers, as clients of all protocols say it. */
import type { Members } from './json-reader.ts';
import { invalid } from './refusal.ts';

/** From the least to the most. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

/** Returns null if it is absent. Throws AiRefusal for any other value. */
export function readEffort(object: Members, name: string): Effort | null {
  const value = object.text(name);
  const effort = EFFORTS.find((each) => each === value) ?? null;
  if (effort === null && value !== null) throw invalid(object.at(name), `one of ${EFFORTS.join(', ')}`);
  return effort;
}

/**
 * Returns the model's effort nearest to the wanted one: the nearest below it, else the least. Null if the model takes
 * no effort.
 */
export function fitEffort(wanted: Effort, taken: readonly Effort[]): Effort | null {
  const ordered = EFFORTS.filter((each) => taken.includes(each));
  const most = EFFORTS.indexOf(wanted);
  return ordered.findLast((each) => EFFORTS.indexOf(each) <= most) ?? ordered[0] ?? null;
}
