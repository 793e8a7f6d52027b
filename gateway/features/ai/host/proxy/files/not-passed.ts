/** The gateway, or a policy in front of it, does not let files and batches through. */
import { type AiRefused, refused } from '../conversation/refusal.ts';
import type { FilesSurface } from '../targets/bound-ids.ts';

export function notPassed(surface: FilesSurface): AiRefused {
  return refused(
    'validation-failed',
    `${surface}_not_supported`,
    `The gateway does not pass ${surface} on to a provider.`,
  );
}
