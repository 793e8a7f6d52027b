/** How much a model thinks before it answers, as clients of OpenAI's protocols say it. */
import type { Members } from './json-reader.ts';
import { invalid } from './refusal.ts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

export type Effort = (typeof EFFORTS)[number];

/** Null where it is absent. Throws AiRefused for any other value. */
export function readEffort(object: Members, name: string): Effort | null {
  const value = object.text(name);
  const effort = EFFORTS.find((each) => each === value) ?? null;
  if (effort === null && value !== null) throw invalid(object.at(name), `one of ${EFFORTS.join(', ')}`);
  return effort;
}
