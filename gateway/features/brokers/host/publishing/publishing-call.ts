/** Shared parts of host functions that publish: the request's body and trace, the wait, results as numbers. */

import {
  type Call,
  type CallState,
  type Exchange,
  headerOf,
  ownerOf,
  type ReservationStore,
  traceparentOf,
  withBody,
} from '../../../kit.ts';
import {
  type IdempotencySettings,
  type MessageParts,
  type OnceKey,
  onceKeyOf,
  type Publication,
  publishOnce,
} from './idempotency.ts';
import { type MessageHeader, messageHeaders } from './message-headers.ts';
import { FAILURE_CODES, PublishError } from './publish-error.ts';
import type { Publisher } from './publisher.ts';

/** Milliseconds of waiting beyond the time limit of publishing, so that the plugin gets the time-out as an answer. */
const GRACE_MS = 1_000;
const PUBLISHED = 0;
const REPLAYED = 1;
const NO_BYTES = new Uint8Array(0);

/** Outcome of the message that the call has published last. */
export class LastPublication<A> implements CallState {
  acknowledged: A | null = null;
  /** Whole seconds. */
  retryAfter = 1;

  end(): void {
    this.acknowledged = null;
  }
}

/** The body as the client sent it, or as a plugin has changed it. */
export function payloadOf({ body }: Exchange): Uint8Array {
  return body ?? NO_BYTES;
}

/** Returns the plugin's headers, and the request's trace (W3C Trace Context). */
export function headersOf(call: Call, pointer: number, length: number): readonly MessageHeader[] {
  const exchange = call.request();
  call.charge(length);
  const headers = [...messageHeaders(call.memory.text(pointer, length))];
  const traceparent = traceparentOf(exchange, null);
  if (traceparent === null) return headers;
  headers.push(['traceparent', traceparent]);
  const state = headerOf(exchange.headers, 'tracestate');
  if (state !== undefined) headers.push(['tracestate', state]);
  return headers;
}

/**
 * Publishes once the body is read, while the plugin waits: returns 0, 1 if an earlier request has published it, or the
 * failure.
 */
export function published<A>(
  call: Call,
  last: LastPublication<A>,
  timeoutMs: number,
  publish: () => Promise<Publication<A>>,
): number | Promise<number> {
  const waits = () => {
    last.acknowledged = null;
    const settled = publish().catch((error: unknown) => told(call, last, error));
    return call.wait(settled, timeoutMs + GRACE_MS, (result) => {
      if (typeof result === 'number') return result;
      last.acknowledged = result.acknowledged;
      return result.replayed ? REPLAYED : PUBLISHED;
    });
  };
  const exchange = call.request();
  if (exchange.body !== null || exchange.bodyStream === null) return waits();
  const read = withBody(call, () => 0);
  return typeof read === 'number' ? waits() : read.then(waits);
}

/** Logs a failure, and returns its code: the plugin decides how to answer. */
function told<A>(call: Call, last: LastPublication<A>, error: unknown): number {
  if (!(error instanceof PublishError)) throw error;
  const { services, name } = call.binding;
  services.log('debug', name, error.message, call.exchange);
  last.retryAfter = error.retryAfter;
  return FAILURE_CODES[error.failure];
}

/** Publishes a request's message; once only, if it has an `Idempotency-Key` and the config enables it. */
interface PublishOptions<M> {
  readonly parts: MessageParts;
  /** Null: each request is a message. */
  readonly idempotency: IdempotencySettings | null;
  readonly timeoutMs: number;
  /** Seconds after which the outcome of a message is known, at the latest. */
  readonly holdSeconds: number;
  message(once: OnceKey | null): M;
}

/** Rejects with PublishError. */
export async function publishMessage<M, A>(
  exchange: Exchange,
  publisher: Publisher<M, A>,
  reservations: ReservationStore,
  { parts, idempotency, timeoutMs, holdSeconds, message }: PublishOptions<M>,
): Promise<Publication<A>> {
  const once = onceKeyOf(exchange, idempotency, parts);
  const terms = { bytes: sizeOf(parts), owner: ownerOf(exchange), timeoutMs };
  if (once === null || idempotency === null) {
    return { acknowledged: await publisher.publish(message(null), terms), replayed: false };
  }
  const { windowSeconds } = idempotency;
  const { operation } = exchange;
  const owner = [`${operation?.api} ${exchange.method} ${operation?.path}`, ...terms.owner];
  return publishOnce(reservations, { once, windowSeconds, holdSeconds, owner }, (settled) =>
    publisher.publish(message(once), { ...terms, settled }),
  );
}

/** Bytes that a message holds while it waits. */
function sizeOf({ destination, headers, payload }: MessageParts): number {
  const texts = [...destination, ...headers.flat()];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), payload.length);
}
