/** Verifies bearer tokens, and returns their claims. */

import type { Exchange } from '../../../kit.ts';
import type { TokenClaims } from './token-claims.ts';

export interface TokenVerifier {
  /**
   * Returns the claims; at once if they are known. Throws, or rejects, with TokenRefused or IssuerUnavailable. `exchange`: the
   * request that the token came with.
   */
  verify(token: string, exchange: Exchange): TokenClaims | Promise<TokenClaims>;
}
