/** Problems for clients when no provider has answered. */

import type { Problem } from '../../../../kit.ts';
import type { ProviderFailure } from './provider-failure.ts';
import { aiProblem } from './refusal.ts';

/** Statuses by which a provider, or a proxy before it, refuses the gateway's credential, which no client has sent. */
const CREDENTIAL: readonly number[] = [401, 407];

/** Returns null if the provider refuses something else. Its text about the credential is kept from the client. */
export function credentialProblem(status: number): Problem | null {
  if (!CREDENTIAL.includes(status)) return null;
  const detail = 'The provider refused the credential of the gateway.';
  return aiProblem('upstream-failed', 'provider_credential_refused', detail);
}

/** `otherwise`: the detail if the provider did not time out. */
export function noAnswerProblem({ status, retryAfter }: ProviderFailure, otherwise: string): Problem {
  const detail = status === 504 ? 'No provider answered in time.' : otherwise;
  const headers = retryAfter === null ? {} : { headers: ['retry-after', String(retryAfter)] };
  return aiProblem('upstream-failed', null, detail, headers);
}
