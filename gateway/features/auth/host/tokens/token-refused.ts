/** Failures of a token. */

/** The token is not valid: 401. The message is for the client, and reveals nothing of the token. */
export class TokenRefused extends Error {}

/**
 * The token cannot be checked: the issuer is unavailable, slow, or answers nonsense. 503; the message is for the log.
 */
export class IssuerUnavailable extends Error {}
