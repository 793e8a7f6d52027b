/** Failures of an exchange. */

/**
 * `refused`: the caller's token is not accepted; `denied`: it is, but no token for the upstream is issued for it;
 * `unavailable`: the server is unavailable; `timeout`: not in time; `unusable`: the server's answer or token cannot be
 * used.
 */
export type ExchangeFailure = 'refused' | 'denied' | 'unavailable' | 'timeout' | 'unusable';

interface Details {
  /** Reason for the client, without the server's own text: why its token is refused, or the code of a denial. */
  readonly reason?: string;
  /** Seconds after which it may work. Default 1. */
  readonly retryAfter?: number;
  /** The failure shows that the server is ill, for any token. Default false. */
  readonly ill?: boolean;
}

/** The message is for the log, and names the server and no token. */
export class ExchangeFailed extends Error {
  readonly failure: ExchangeFailure;
  readonly reason: string;
  readonly retryAfter: number;
  readonly ill: boolean;

  constructor(failure: ExchangeFailure, message: string, { reason = '', retryAfter = 1, ill = false }: Details = {}) {
    super(message);
    this.failure = failure;
    this.reason = reason;
    this.retryAfter = retryAfter;
    this.ill = ill;
  }
}
