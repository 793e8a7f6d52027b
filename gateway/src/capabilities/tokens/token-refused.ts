/** How a token fails. */

/** The token is no good: 401. The message is for the client, and says nothing that the token holds. */
export class TokenRefused extends Error {}

/** Nobody can say whether the token is good: the issuer is away, slow, or answers nonsense. 503; the message is for the log. */
export class IssuerUnavailable extends Error {}
