/** Why a stream of events does not begin, and the result for plugins. */

export type SubscribeFailure =
  /** No connection, or the broker refused. */
  | 'failed'
  /** No answer in time. */
  | 'timeout'
  /** The circuit is open. */
  | 'unavailable'
  /** The limit of clients is reached. */
  | 'full'
  /** The `Last-Event-ID` does not belong to this topic. */
  | 'bad-position';

/** Results of subscribing as plugins see them, below 0. */
export const SUBSCRIBE_CODES: Readonly<Record<SubscribeFailure, number>> = {
  failed: -1,
  timeout: -2,
  unavailable: -3,
  full: -4,
  'bad-position': -5,
};

/** Its message names the broker and never a credential, header or payload. */
export class SubscribeError extends Error {
  readonly failure: SubscribeFailure;
  /** Whole seconds. */
  readonly retryAfter: number;

  constructor(
    failure: SubscribeFailure,
    message: string,
    options: ErrorOptions & { readonly retryAfter?: number } = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.retryAfter = options.retryAfter ?? 1;
  }
}
