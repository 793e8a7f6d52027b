/** Surfaces that no provider is asked for: files, and batches of them (docs/decisions.md#ai-files). */
import { type AiRefused, refused } from '../conversation/refusal.ts';
import { asRouted } from './surface-of.ts';

const NOT_SERVED = /\/v1\/(?:(files)(?:\/[^/]+(?:\/content)?)?|batches(?:\/[^/]+(?:\/cancel)?)?)$/;

/** Why a request to this path is refused; null where it is for another surface. */
export function notServed(path: string): AiRefused | null {
  const found = NOT_SERVED.exec(asRouted(path));
  if (found === null) return null;
  const name = found[1] ?? 'batches';
  return refused('validation-failed', `${name}_not_supported`, `The gateway does not pass ${name} on to a provider.`);
}
