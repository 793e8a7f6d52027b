/** `host_nonce_enter`: nonces of signatures, which every instance, worker or pod shares. */

import { capability, HostCallError, type NonceVerdict, StateUnavailable } from '../../kit.ts';

const ANSWERS = { new: 1, used: 0, forgotten: -2 } as const satisfies Record<NonceVerdict, number>;
/** The store is away. */
const UNAVAILABLE = -1;

/** A store that lives elsewhere must answer within this. */
const DEADLINE_MS = 5_000;

export const nonces = capability({
  open: ({ state }) => state,
  functions: {
    host_nonce_enter: {
      signature: 'iiiidi:i',
      parameters: '(credential, len, nonce, len, created, keep) -> state',
      meaning:
        'records the nonce of a verified signature of the credential, created at `created` (f64, Unix time in whole seconds), which can be valid for `keep` seconds: 1 if the nonce is new, 0 if it was already recorded, -2 if the signature is older than what the store remembers, -1 if the store is unavailable',
      waits: (state) => state.nonces.immediate !== true,
      declared: true,
      make:
        (call, { loaded }) =>
        (credential, credentialLength, nonce, nonceLength, created, keepSeconds) => {
          if (!Number.isSafeInteger(created) || keepSeconds < 1) {
            throw new HostCallError('host_nonce_enter: created must be whole seconds, and keep 1 or more');
          }
          call.request();
          call.charge(credentialLength + nonceLength);
          const verdict = loaded.nonces.enter({
            // No plugin pushes out the nonces of another one.
            credential: `${call.binding.name}:${call.memory.text(credential, credentialLength)}`,
            nonce: call.memory.text(nonce, nonceLength),
            created,
            keepSeconds,
          });
          const answer = (each: NonceVerdict | null) => (each === null ? UNAVAILABLE : ANSWERS[each]);
          return verdict instanceof Promise
            ? call.wait(verdict.catch(nullWhereAway), DEADLINE_MS, answer)
            : answer(verdict);
        },
    },
  },
});

function nullWhereAway(error: unknown): null {
  if (error instanceof StateUnavailable) return null;
  throw error;
}
