/** Validates a body without helper processes, so that the verdict is there at once. */
import type { BodyValidator } from '../gateway/src/validation/body.ts';
import type { Asker, Verdict } from '../gateway/src/validation/helpers/validation-helpers.ts';

const ASKER: Asker = { clientIp: '127.0.0.1', authenticated: false, wanted: () => true };

export function validateNow(validator: BodyValidator, contentType: string | undefined, body: Uint8Array): Verdict {
  const verdict = validator.validate(contentType, body, ASKER);
  if (verdict instanceof Promise) throw new Error('a validator without helpers has answered later');
  return verdict;
}
