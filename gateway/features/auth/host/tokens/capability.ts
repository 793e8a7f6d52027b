/** `host_token_open` and `host_token_verify`: bearer tokens, and the small calls that read their claims. */

import { type CallState, capability, HostCallError, messageOf, onlyIn, overloadedIfCrowded } from '../../../kit.ts';
import type { TokenClaims } from './token-claims.ts';
import { IssuerUnavailable, TokenRefused } from './token-refused.ts';
import type { TokenVerifier } from './token-verifier.ts';
import { Tokens } from './tokens.ts';

const HOLDS = 0;
const REFUSED = 1;
/** The plugin decides how to answer then. */
const UNAVAILABLE = 2;

/** Cost of a digest and of a signature, in instructions. */
const DIGEST = 3_000;
/** The verifier's own time-outs are shorter. */
const DEADLINE_MS = 300_000;
const MOST_VERIFIERS = 16;

/** The token that the call verified last. */
class LastToken implements CallState {
  /** Set if the token is valid. */
  claims: TokenClaims | null = null;
  /** Why it does not. */
  refusal: string | null = null;

  end(): void {
    this.claims = null;
    this.refusal = null;
  }
}

export const tokens = capability({
  open: ({ http, log }) => new Tokens(http, log),
  load: (tokens) => tokens.scope(),
  /** Verifiers that `init` has opened. */
  bind: (): TokenVerifier[] => [],
  call: () => new LastToken(),
  close: (scope) => scope.close(),
  functions: {
    host_token_open: {
      signature: 'ii:i',
      parameters: '(rules, len) -> verifier',
      meaning: 'in `init`: what tokens must satisfy ([rules](#rules-of-tokens)); unusable rules reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        (rules, length) => {
          onlyIn(call, 'init', 'host_token_open');
          const verifiers = bound();
          if (verifiers.length >= MOST_VERIFIERS) throw new HostCallError('host_token_open: too many verifiers');
          return verifiers.push(loaded.open(call.memory.text(rules, length), call.binding.config.whole)) - 1;
        },
    },
    host_token_verify: {
      signature: 'iii:i',
      parameters: '(verifier, token, len) -> result',
      meaning:
        '0: the token is valid, and `token_claim_get` reads it; 1: it is not (`token_refusal_get`); 2: this cannot be determined, since the issuer is unavailable, slow or returns invalid data',
      waits: true,
      declared: true,
      make:
        (call, { bound, state }) =>
        (handle, token, length) => {
          const exchange = call.request();
          const verifier = bound()[handle];
          if (verifier === undefined) throw new HostCallError(`host_token_verify: there is no verifier ${handle}`);
          call.burn(DIGEST);
          call.charge(length);
          state.claims = null;
          try {
            const claims = verifier.verify(call.memory.text(token, length), exchange);
            if (!(claims instanceof Promise)) return holds(state, claims);
            const result = claims.catch((error: unknown) => fails(error));
            return call.wait(result, DEADLINE_MS, (each) =>
              each instanceof Failure ? each.tell(state) : holds(state, each),
            );
          } catch (error) {
            return fails(error).tell(state);
          }
        },
    },
    token_claim_get: {
      signature: 'iiii:i',
      parameters: '(pointer, len, buf, cap) -> len',
      meaning:
        'the claim at a JSON pointer of the token that `host_token_verify` last found valid: strings as they are, everything else as JSON text; the empty pointer: all claims',
      make:
        (call, { state }) =>
        (pointer, length, buf, cap) => {
          const text = claimsOf(state).text(call.memory.text(pointer, length));
          if (text !== undefined) call.charge(text.length);
          return call.memory.writeText(text, buf, cap);
        },
    },
    token_claim_count: {
      signature: 'ii:i',
      parameters: '(pointer, len) -> n',
      meaning: 'elements of an array or members of an object among them, -1 for others',
      make:
        (call, { state }) =>
        (pointer, length) =>
          claimsOf(state).count(call.memory.text(pointer, length)),
    },
    token_refusal_get: {
      signature: 'ii:i',
      parameters: '(buf, cap) -> len',
      meaning: 'why the last token is not valid: a text from the gateway for the client',
      make:
        (call, { state }) =>
        (buf, cap) =>
          call.memory.writeText(state.refusal ?? undefined, buf, cap),
    },
  },
});

function claimsOf({ claims }: LastToken): TokenClaims {
  if (claims === null) throw new HostCallError('no token has been verified: call host_token_verify first');
  return claims;
}

function holds(last: LastToken, claims: TokenClaims): number {
  last.claims = claims;
  last.refusal = null;
  return HOLDS;
}

class Failure {
  readonly #result: number;
  readonly #reason: string;

  constructor(result: number, reason: string) {
    this.#result = result;
    this.#reason = reason;
  }

  tell(last: LastToken): number {
    last.refusal = this.#reason;
    return this.#result;
  }
}

/** Throws other errors. Outages of an issuer are logged once, and kept from clients. */
function fails(error: unknown): Failure {
  if (error instanceof TokenRefused) return new Failure(REFUSED, messageOf(error));
  if (error instanceof IssuerUnavailable) return new Failure(UNAVAILABLE, 'the issuer of tokens is unavailable');
  throw overloadedIfCrowded(error);
}
