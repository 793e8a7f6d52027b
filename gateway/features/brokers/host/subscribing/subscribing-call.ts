/** Shared parts of host functions that subscribe: the wait, the hand-off, results as numbers. */

import { type Call, HostCallError } from '../../../kit.ts';
import { SUBSCRIBE_CODES, SubscribeError } from './subscribe-error.ts';
import type { Subscriber } from './subscriber.ts';

/** Milliseconds of waiting beyond the time for the connection, so that the plugin gets the time-out as an answer. */
const GRACE_MS = 1_000;
const HANDED_OFF = 0;

/** Opens the stream, and hands the request off to it: returns 0, or the failure. */
export function subscribed(
  call: Call,
  last: { retryAfter: number },
  timeoutMs: number,
  open: () => Promise<Subscriber>,
): Promise<number> {
  if (call.hook !== 'dispatch') throw new HostCallError(`subscribing is for dispatchers, not ${call.hook}`);
  const exchange = call.request();
  if (exchange.engine !== null || call.handedOff) throw new HostCallError('the request is handed off already');
  let abandoned = false;
  const opened = open().catch((error: unknown) => told(call, last, error));
  const waited = call.wait(opened, timeoutMs + GRACE_MS, (result) => {
    if (typeof result === 'number') return result;
    exchange.engine = result;
    exchange.onClose(() => result.close());
    call.handedOff = true;
    return HANDED_OFF;
  });
  waited.catch(() => {
    abandoned = true;
  });
  opened.then(
    // In the turn after: the wait has ended by then, or had before.
    (result) => void setImmediate(() => abandoned && typeof result !== 'number' && result.close()),
    () => {},
  );
  return waited;
}

/** Logs a failure, and returns its code: the plugin decides how to answer. */
function told(call: Call, last: { retryAfter: number }, error: unknown): number {
  if (!(error instanceof SubscribeError)) throw error;
  const { services, name } = call.binding;
  services.log('debug', name, error.message, call.exchange);
  last.retryAfter = error.retryAfter;
  return SUBSCRIBE_CODES[error.failure];
}
