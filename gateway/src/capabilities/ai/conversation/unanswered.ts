/** What a client is told where no provider has answered. */
import type { Problem } from '../../../problems.ts';
import type { ProviderFailed } from './provider-failure.ts';
import { aiProblem } from './refusal.ts';

/** `otherwise`: what is said where time was not what it lacked. */
export function unanswered({ status, retryAfter }: ProviderFailed, otherwise: string): Problem {
  const detail = status === 504 ? 'No provider answered in time.' : otherwise;
  const headers = retryAfter === null ? {} : { headers: ['retry-after', String(retryAfter)] };
  return aiProblem('upstream-failed', null, detail, headers);
}
