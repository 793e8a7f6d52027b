/**
 * Surfaces that no provider is asked for: keys and calls of realtime sessions, by which clients would speak to the provider
 * without the gateway (docs/decisions.md#ai-realtime).
 */
import { type AiRefused, refused } from '../conversation/refusal.ts';
import { asRouted } from './surface-of.ts';

const NOT_SERVED = [
  { name: 'realtime_keys', path: /\/v1\/realtime\/(?:client_secrets|sessions|transcription_sessions)$/ },
  { name: 'realtime_calls', path: /\/v1\/realtime\/calls(?:\/[^/]+\/[^/]+)?$/ },
];

/** Why a request to this path is refused; null where it is for another surface. */
export function notServed(path: string): AiRefused | null {
  const routed = asRouted(path);
  const name = NOT_SERVED.find((each) => each.path.test(routed))?.name;
  if (name === undefined) return null;
  const what = name.replace('realtime_', 'realtime ');
  return refused('validation-failed', `${name}_not_supported`, `The gateway does not pass ${what} on to a provider.`);
}
