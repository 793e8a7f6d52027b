/** Why a message is not known to be in the broker, and the result for plugins. */

export type PublishFailure =
  /** No connection, or the broker refused the message. */
  | 'failed'
  /** No acknowledgement in time: the message may be there, or not. */
  | 'timeout'
  /** The circuit is open. */
  | 'unavailable'
  /** The process, or this broker's share of it, is at its limit of messages in flight. */
  | 'full'
  /** The broker takes no message of this size. */
  | 'too-large'
  /** A message of the same `Idempotency-Key` is on its way. */
  | 'in-progress'
  /** The `Idempotency-Key` is another message's. */
  | 'mismatch'
  /** The state of an `Idempotency-Key` cannot be read. */
  | 'state-unavailable'
  /** The `Idempotency-Key` cannot be used, or is missing and required. */
  | 'bad-key';

/** Results of publishing as plugins see them, below 0. */
export const FAILURE_CODES: Readonly<Record<PublishFailure, number>> = {
  failed: -1,
  timeout: -2,
  unavailable: -3,
  full: -4,
  'too-large': -5,
  'in-progress': -6,
  mismatch: -7,
  'state-unavailable': -8,
  'bad-key': -9,
};

interface PublishErrorOptions extends ErrorOptions {
  /** The broker answered: it is available, and the fault is the message's. Default false. */
  readonly answered?: boolean;
  /** The connection was lost with the message on its way, which says nothing about the next. Default false. */
  readonly connectionLost?: boolean;
  /** Whole seconds. Default 1. */
  readonly retryAfter?: number;
}

/** Its message names the broker and never a credential, header or payload. */
export class PublishError extends Error {
  readonly failure: PublishFailure;
  readonly answered: boolean;
  readonly connectionLost: boolean;
  readonly retryAfter: number;

  constructor(
    failure: PublishFailure,
    message: string,
    { answered = false, connectionLost = false, retryAfter = 1, ...options }: PublishErrorOptions = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.answered = answered;
    this.connectionLost = connectionLost;
    this.retryAfter = retryAfter;
  }
}
