/** Bearer tokens, for programs that embed the gateway. */

export type { OutageLog } from '../../../../src/capability/outage.ts';
export { CLOCK_SKEW_MS, type IssuerTokens, issuerTokens } from './issuer-tokens.ts';
export type { TokenClaims } from './token-claims.ts';
export { IssuerUnavailable, TokenRefused } from './token-refused.ts';
