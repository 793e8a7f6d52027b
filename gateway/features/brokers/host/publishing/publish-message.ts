/** Publishes a request's message; once only, if it has an `Idempotency-Key` and the config enables it. */

import { type Exchange, ownerOf, type ReservationStore } from '../../../kit.ts';
import {
  type IdempotencySettings,
  type MessageParts,
  type OnceKey,
  onceKeyOf,
  type Publication,
  publishOnce,
} from './idempotency.ts';
import type { Publisher } from './publisher.ts';

export interface PublishOptions<M> {
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
