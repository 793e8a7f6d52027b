/** Bearer tokens, for whoever embeds the gateway. */

export { CLOCK_SKEW_MS, type IssuerTokens, issuerTokens } from './issuer-tokens.ts';
export type { TokenLog } from './outage.ts';
export type { TokenClaims } from './token-claims.ts';
export { IssuerUnavailable, TokenRefused } from './token-refused.ts';
