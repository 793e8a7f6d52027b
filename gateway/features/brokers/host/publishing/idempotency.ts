/**
 * A message that is published once for an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): reserved before
 * it is published, its acknowledgement recorded after, for repeats within a window, over all workers and pods.
 */
import { hash } from 'node:crypto';
import {
  type Exchange,
  get,
  headerOf,
  isObject,
  type JsonObject,
  joinedHeader,
  type OwnerPath,
  type Reservation,
  type ReservationStore,
  StateUnavailable,
} from '../../../kit.ts';
import type { MessageHeader } from './message-headers.ts';
import { PublishError } from './publish-error.ts';

/** `idempotency` of a config. */
export interface IdempotencySettings {
  /** For how long a repeat gets the first answer. */
  readonly windowSeconds: number;
  /** Requests without a key are refused. */
  readonly required: boolean;
}

/** Returns null if the config has no `idempotency`. */
export function readIdempotency(config: JsonObject): IdempotencySettings | null {
  const given = config['idempotency'];
  if (!isObject(given)) return null;
  const window = get(given, 'window');
  return { windowSeconds: typeof window === 'number' ? window : 86_400, required: get(given, 'required') === true };
}

/** Identifies a request that must be done once. */
export interface OnceKey {
  /** Key from consumer, operation and the client's key, so that answers never reach another consumer. Base64url. */
  readonly key: string;
  /** Digest of all parts of the message. */
  readonly mark: string;
}

export interface MessageParts {
  /** Topic or subject, and the key, if any. */
  readonly destination: readonly (string | null)[];
  readonly headers: readonly MessageHeader[];
  readonly payload: Uint8Array;
}

const HEADER = 'idempotency-key';
const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
/** Headers that differ from one attempt to the next. */
const OF_ATTEMPT = new Set(['traceparent', 'tracestate']);

/** Returns null if the message need not be published once only. Throws PublishError for a key that cannot be used. */
export function onceKeyOf(
  exchange: Exchange,
  settings: IdempotencySettings | null,
  parts: MessageParts,
): OnceKey | null {
  if (settings === null) return null;
  const given = joinedHeader(exchange.headers, HEADER);
  if (given === undefined && !settings.required) return null;
  if (given === undefined || !PRINTABLE.test(given)) {
    const text = 'Idempotency-Key is missing, or not 1 to 255 printable ASCII characters without a space at either end';
    throw new PublishError('bad-key', text, { answered: true });
  }
  const { operation } = exchange;
  const headers = parts.headers.filter(([name]) => !OF_ATTEMPT.has(name));
  const message = JSON.stringify([
    exchange.target,
    parts.destination,
    headers,
    hash('sha256', parts.payload, 'base64url'),
  ]);
  return {
    key: hash(
      'sha256',
      JSON.stringify([callerOf(exchange), operation?.api, exchange.method, operation?.path, given]),
      'base64url',
    ),
    mark: hash('sha256', message, 'base64url'),
  };
}

/** Returns the consumer that a plugin has identified, or else the credentials; all other clients are one. */
function callerOf({ headers }: Exchange): readonly string[] {
  const consumer = headerOf(headers, 'x-auth-consumer');
  if (consumer !== undefined) return ['consumer', consumer];
  const credentials = headerOf(headers, 'authorization');
  return credentials === undefined ? [] : ['authorization', credentials];
}

export interface OnceOptions {
  /** Owner that its key counts for. */
  readonly owner: OwnerPath;
  readonly once: OnceKey;
  readonly windowSeconds: number;
  /** Seconds after which a reservation ends if its process has died. */
  readonly holdSeconds: number;
}

/** Result of publishing. */
export interface Publication<A> {
  readonly acknowledged: A;
  /** The acknowledgement came from an earlier request. */
  readonly replayed: boolean;
}

/** Called when the outcome of the message is known; null: it is not in the broker, as far as that can be known. */
export type Settled<A> = (acknowledged: A | null) => void | Promise<void>;

/**
 * Publishes with `publish` if nothing was published under this key. Rejects with the errors of `publish`, and with
 * PublishError if the key belongs to another message, or its message is on its way.
 */
export async function publishOnce<A>(
  store: ReservationStore,
  { once: { key, mark }, windowSeconds, holdSeconds, owner }: OnceOptions,
  publish: (settled: Settled<A>) => Promise<A>,
): Promise<Publication<A>> {
  const token = crypto.randomUUID();
  const reservation = await known(store.reserve({ key, token, mark, holdSeconds, owner }));
  if (reservation.state !== 'reserved') return earlier(reservation, mark);
  const acknowledged = await publish(async (result) => {
    // If the state is unavailable, the reservation expires; repeats are told to wait until then.
    const done =
      result === null
        ? store.release(key, token)
        : store.record({ key, token, value: JSON.stringify(result), keepSeconds: windowSeconds });
    await Promise.resolve(done).catch(() => {});
  });
  return { acknowledged, replayed: false };
}

async function known(reservation: Reservation | Promise<Reservation>): Promise<Reservation> {
  try {
    return await reservation;
  } catch (error) {
    if (!(error instanceof StateUnavailable)) throw error;
    throw new PublishError('state-unavailable', error.message, { cause: error, answered: true });
  }
}

function earlier<A>(reservation: Exclude<Reservation, { state: 'reserved' }>, mark: string): Publication<A> {
  if (reservation.state === 'full') {
    throw new PublishError('full', 'this client has more Idempotency-Keys than its share of the room', {
      answered: true,
    });
  }
  if (reservation.state === 'forgotten') {
    const text = 'the message of this Idempotency-Key was published, and its answer had to make room for others';
    throw new PublishError('state-unavailable', text, { answered: true });
  }
  if (reservation.mark !== mark) {
    throw new PublishError('mismatch', 'the Idempotency-Key was used for another message', { answered: true });
  }
  if (reservation.state === 'held') {
    throw new PublishError('in-progress', 'the message of this Idempotency-Key is on its way', { answered: true });
  }
  return { acknowledged: JSON.parse(reservation.value), replayed: true };
}
