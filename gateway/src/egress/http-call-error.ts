/** Why a call has no answer. */
import { messageOf } from '../text/message-of.ts';
import { ConnectTimeout, EgressRefused } from './connector.ts';
import { isOwnLimit } from './own-limit.ts';

export type HttpCallFailure = 'failed' | 'timeout' | 'refused' | 'too-large' | 'no-room';

export class HttpCallError extends Error {
  readonly failure: HttpCallFailure;

  constructor(failure: HttpCallFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** Names the server only: paths may hold a token, as those of webhooks do. */
export function failureOf(error: unknown, url: URL): HttpCallError {
  if (error instanceof HttpCallError) return error;
  const name = url.origin;
  const says = `${name}: ${messageOf(error)}`;
  if (error instanceof EgressRefused) return new HttpCallError('refused', says, { cause: error });
  if (error instanceof ConnectTimeout) return new HttpCallError('timeout', says, { cause: error });
  if (isOwnLimit(error)) return new HttpCallError('no-room', says, { cause: error });
  return new HttpCallError('failed', says, { cause: error });
}
