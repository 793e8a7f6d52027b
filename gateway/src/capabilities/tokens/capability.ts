/** `host_token_open` and `host_token_verify`: bearer tokens, and the small calls that read what they claim. */

import { messageOf } from '../../message-of.ts';
import type { Call } from '../../wasm/call.ts';
import { HostCallError } from '../../wasm/failures.ts';
import type { HostFunctions } from '../../wasm/host/host-function.ts';
import type { TokenClaims } from './token-claims.ts';
import { IssuerUnavailable, TokenRefused } from './token-refused.ts';

const HOLDS = 0;
const REFUSED = 1;
/** The plugin decides what that means for the request. */
const UNAVAILABLE = 2;

/** What a digest costs, in instructions, and a signature. */
const DIGEST = 3_000;
/** The verifier's own time-outs are shorter. */
const DEADLINE_MS = 300_000;
const MOST_VERIFIERS = 16;

export const tokenFunctions: HostFunctions = {
  host_token_open: {
    signature: 'ii:i',
    declared: true,
    make: (call) => (rules, length) => {
      if (call.hook !== 'init') throw new HostCallError('host_token_open is for init');
      const { config, services } = call.binding;
      if (config.verifiers.length >= MOST_VERIFIERS) throw new HostCallError('host_token_open: too many verifiers');
      return config.verifiers.push(services.tokens.open(call.memory.text(rules, length), config.whole)) - 1;
    },
  },
  host_token_verify: {
    signature: 'iii:i',
    waits: true,
    declared: true,
    make: (call) => (handle, token, length) => {
      const x = call.request();
      const verifier = call.binding.config.verifiers[handle];
      if (verifier === undefined) throw new HostCallError(`host_token_verify: there is no verifier ${handle}`);
      call.burn(DIGEST);
      call.charge(length);
      call.tokenClaims = null;
      try {
        const claims = verifier.verify(call.memory.text(token, length), x);
        if (!(claims instanceof Promise)) return holds(call, claims);
        const result = claims.catch((error: unknown) => fails(error));
        return call.wait(result, DEADLINE_MS, (each) =>
          each instanceof Failure ? each.tell(call) : holds(call, each),
        );
      } catch (error) {
        return fails(error).tell(call);
      }
    },
  },
  token_claim_get: {
    signature: 'iiii:i',
    make: (call) => (pointer, length, buf, cap) => {
      const text = claimsOf(call).text(call.memory.text(pointer, length));
      if (text !== undefined) call.charge(text.length);
      return call.memory.writeText(text, buf, cap);
    },
  },
  token_claim_count: {
    signature: 'ii:i',
    make: (call) => (pointer, length) => claimsOf(call).count(call.memory.text(pointer, length)),
  },
  token_refusal_get: {
    signature: 'ii:i',
    make: (call) => (buf, cap) => call.memory.writeText(call.tokenRefusal ?? undefined, buf, cap),
  },
};

function claimsOf(call: Call): TokenClaims {
  if (call.tokenClaims === null) throw new HostCallError('there is no token that holds: call host_token_verify first');
  return call.tokenClaims;
}

function holds(call: Call, claims: TokenClaims): number {
  call.tokenClaims = claims;
  call.tokenRefusal = null;
  return HOLDS;
}

class Failure {
  readonly #result: number;
  readonly #reason: string;

  constructor(result: number, reason: string) {
    this.#result = result;
    this.#reason = reason;
  }

  tell(call: Call): number {
    call.tokenRefusal = this.#reason;
    return this.#result;
  }
}

/** Throws what is neither of the two. Why an issuer is away is in the log once, and no client's business. */
function fails(error: unknown): Failure {
  if (error instanceof TokenRefused) return new Failure(REFUSED, messageOf(error));
  if (error instanceof IssuerUnavailable) return new Failure(UNAVAILABLE, 'the issuer of tokens cannot be asked');
  throw error;
}
