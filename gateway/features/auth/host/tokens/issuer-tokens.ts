/** Tokens of one issuer that the operator has named, such as those for signing in to the control plane. */

import { BufferBudget, EgressGuard, HttpClient, Outage, type OutageLog } from '../../../kit.ts';
import { ALGORITHMS } from './jws.ts';
import { JwtVerifier } from './jwt-verifier.ts';
import { RemoteKeys } from './remote-keys.ts';
import type { TokenClaims } from './token-claims.ts';
import { keyFetcher } from './tokens.ts';

export interface IssuerTokensOptions {
  /** `iss` of the tokens; its keys are found by discovery. Of `http://` the keys may come by that, too. */
  readonly issuer: string;
  /** One of `aud`. */
  readonly audience: string;
  readonly log: OutageLog;
}

export interface IssuerTokens {
  /** The claims of a token that holds. Rejects with TokenRefused or IssuerUnavailable. */
  verify(token: string): Promise<TokenClaims>;
  /** Fetches no more keys. */
  close(): Promise<void>;
}

/** Milliseconds of tolerance for the times of a token. */
export const CLOCK_SKEW_MS = 60_000;
const REFRESH_MS = 300_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 2 << 20;

/** Begins to fetch the issuer's keys; retries while it is unavailable. */
export function issuerTokens({ issuer, audience, log }: IssuerTokensOptions): IssuerTokens {
  const client = new HttpClient({
    // An operator names the issuer, which is often within.
    guard: new EgressGuard({ allowInternal: true, allow: [] }),
    allowPlaintext: issuer.startsWith('http://'),
    maxResponseBytes: MAX_BYTES,
    budget: new BufferBudget(2 * MAX_BYTES),
  });
  const keys = new RemoteKeys({
    fetch: keyFetcher(client, { kind: 'issuer', issuer: { url: issuer, overridden: false } }, TIMEOUT_MS),
    refreshMs: REFRESH_MS,
    outage: new Outage(`keys of ${issuer}`, log),
  });
  const verifier = new JwtVerifier({
    algorithms: new Set(ALGORITHMS),
    issuer,
    audience,
    skewMs: CLOCK_SKEW_MS,
    keys,
  });
  return {
    verify: async (token) => verifier.verify(token, null),
    close: async () => {
      keys.close();
      await client.close();
    },
  };
}
