/** Bearer tokens, for programs that embed the gateway. */

export { CLOCK_SKEW_MS, issuerTokens } from './issuer-tokens.ts';
export type { TokenClaims } from './token-claims.ts';
export { IssuerUnavailable, TokenRefused } from './token-refused.ts';
