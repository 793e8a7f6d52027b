/** A connection to NATS: publishes, and knows how a message is acknowledged. Loaded with the library on demand. */
import { Buffer } from 'node:buffer';
import { JetStreamApiError, type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream';
import {
  type NatsConnection as Client,
  type MsgHdrs,
  headers as messageHeaders,
  PermissionViolationError,
  TimeoutError,
} from '@nats-io/nats-core';
import { BoundedMap, type EgressGuard, IN_FLIGHT_LIMITS } from '../../../kit.ts';
import type { Connection } from '../publishing/kept-connection.ts';
import type { MessageHeader } from '../publishing/message-headers.ts';
import { PublishError } from '../publishing/publish-error.ts';
import type { Acknowledgement, NatsServers } from './nats-settings.ts';
import { openClient } from './vetted-client.ts';

/** Milliseconds for which the connection remembers whether a stream listens on a subject. */
const STREAM_MS = { listens: 60_000, none: 10_000 };
const LOOKUP_TIMEOUT_MS = 2_000;
const MOST_SUBJECTS = 1_000;

export interface NatsMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: readonly MessageHeader[];
  readonly acknowledgement: Acknowledgement;
  /** Id by which a stream recognises a repetition (`Nats-Msg-Id`); null without one. */
  readonly id: string | null;
}

/** A message that is on its way without a stream's acknowledgement. */
interface Pending {
  readonly subject: string;
  refusal: Error | null;
}

export class NatsConnection implements Connection {
  readonly closed: Promise<unknown>;
  readonly #client: Client;
  readonly #streams: JetStreamClient;
  readonly #name: string;
  readonly #pending = new Set<Pending>();
  readonly #lookups = new BoundedMap<{ readonly listens: Promise<boolean>; until: number }>(MOST_SUBJECTS);
  /**
   * Everything that waits for the server; handlers on the promise of the end would stay for as long as the connection.
   */
  readonly #waiting = new Set<(error: PublishError) => void>();
  #flush: Promise<void> | null = null;

  private constructor(client: Client, name: string) {
    this.#client = client;
    this.#name = name;
    this.#streams = jetstream(client);
    this.closed = client.closed();
    void this.#watch();
    void this.closed.then(() => {
      for (const reject of this.#waiting) reject(this.#lost());
    });
  }

  /** Rejects if no server accepts it. */
  static async open(servers: NatsServers, guard: EgressGuard, name: string): Promise<NatsConnection> {
    return new NatsConnection(await openClient(servers, guard, IN_FLIGHT_LIMITS.bytes), name);
  }

  /** Rejects with PublishError. */
  async publish(message: NatsMessage, timeoutMs: number): Promise<void> {
    const { subject, payload, acknowledgement } = message;
    const most = this.#client.info?.max_payload ?? Number.POSITIVE_INFINITY;
    const sent = hdrs(message);
    if (payload.length + (sent?.encodedLength ?? 0) > most) {
      const text = `${this.#name}: the server takes messages of at most ${most} bytes`;
      throw new PublishError('too-large', text, { answered: true });
    }
    const byStream =
      acknowledgement === 'stream' || (acknowledgement === 'auto' && (await this.#streamListens(subject)));
    try {
      if (byStream) await this.#toStream(message, sent?.headers, timeoutMs);
      else await this.#plain(message, sent?.headers);
    } catch (error) {
      throw failureOf(error, this.#name);
    }
  }

  close(): void {
    this.#client.close().catch(() => {});
  }

  async #toStream({ subject, payload, acknowledgement }: NatsMessage, headers: MsgHdrs | undefined, timeoutMs: number) {
    try {
      await this.#orClosed(
        this.#streams.publish(subject, payload, { timeout: timeoutMs, ...(headers ? { headers } : {}) }),
      );
    } catch (error) {
      // The stream may have been deleted: the next message looks it up again.
      this.#lookups.delete(subject);
      if (acknowledgement === 'auto' && noStream(error)) return;
      throw error;
    }
  }

  /** The server has taken the message when it answers a ping behind it; refusals come before that. */
  async #plain({ subject, payload }: NatsMessage, headers: MsgHdrs | undefined) {
    const pending: Pending = { subject, refusal: null };
    this.#pending.add(pending);
    try {
      this.#client.publish(subject, payload, headers ? { headers } : {});
      await this.#flushed();
    } finally {
      this.#pending.delete(pending);
    }
    if (pending.refusal) throw pending.refusal;
  }

  /** Sends one ping for all messages that are published in a turn. */
  #flushed(): Promise<void> {
    this.#flush ??= new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        this.#flush = null;
        this.#orClosed(this.#client.flush()).then(() => setImmediate(resolve), reject);
      });
    });
    return this.#flush;
  }

  #streamListens(subject: string): Promise<boolean> {
    const known = this.#lookups.get(subject);
    if (known && known.until > performance.now()) return known.listens;
    const lookup = { listens: this.#lookUp(subject), until: Number.POSITIVE_INFINITY };
    this.#lookups.set(subject, lookup);
    lookup.listens.then(
      (listens) => {
        lookup.until = performance.now() + (listens ? STREAM_MS.listens : STREAM_MS.none);
      },
      () => this.#lookups.delete(subject),
    );
    return lookup.listens;
  }

  /** Returns false if the account may not ask, or has no streams. */
  async #lookUp(subject: string): Promise<boolean> {
    try {
      const manager = await jetstreamManager(this.#client, { checkAPI: false, timeout: LOOKUP_TIMEOUT_MS });
      await this.#orClosed(manager.streams.find(subject));
      return true;
    } catch (error) {
      if (this.#client.isClosed()) throw failureOf(error, this.#name);
      return false;
    }
  }

  /** Rejects when the connection closes: the library would keep waiting. */
  #orClosed<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      work.then(resolve, reject).finally(() => this.#waiting.delete(reject));
      if (this.#client.isClosed()) reject(this.#lost());
    });
  }

  #lost(): PublishError {
    return new PublishError('failed', `${this.#name}: the connection was lost`, { connectionLost: true });
  }

  /** Notes refusals, which the server reports at any time. */
  async #watch(): Promise<void> {
    for await (const status of this.#client.status()) {
      if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue;
      const { subject } = status.error;
      for (const each of this.#pending) if (each.subject === subject) each.refusal = status.error;
    }
  }
}

function hdrs({
  headers: given,
  id,
}: NatsMessage): { readonly headers: MsgHdrs; readonly encodedLength: number } | null {
  const headers: readonly MessageHeader[] = id === null ? given : [...given, ['Nats-Msg-Id', id]];
  if (headers.length === 0) return null;
  const set = messageHeaders();
  let encodedLength = 'NATS/1.0\r\n\r\n'.length;
  for (const [name, value] of headers) {
    set.append(name, value);
    encodedLength += Buffer.byteLength(name) + Buffer.byteLength(value) + ': \r\n'.length;
  }
  return { headers: set, encodedLength };
}

/** Error codes of JetStream (its errors.json). */
const MESSAGE_TOO_LARGE = 10_054;

/** The subject has no listener. */
function noStream(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}

/** `name`: of the servers. */
function failureOf(error: unknown, name: string): PublishError {
  if (error instanceof PublishError) return error;
  const says = (failure: 'failed' | 'timeout' | 'too-large', text: string, answered: boolean) =>
    new PublishError(failure, `${name}: ${text}`, { cause: error, answered });
  if (error instanceof TimeoutError) return says('timeout', 'no acknowledgement of the stream in time', false);
  if (error instanceof JetStreamApiError) {
    const failure = error.code === MESSAGE_TOO_LARGE ? 'too-large' : 'failed';
    return says(failure, `the stream refused the message (${error.code})`, true);
  }
  if (noStream(error)) return says('failed', 'no stream listens on the subject', true);
  if (isPermission(error)) return says('failed', 'the server does not permit publishing to the subject', true);
  // When the connection is lost, the library rejects waiting calls with errors of several kinds.
  const text = `the connection was lost (${error instanceof Error ? error.name : 'unknown'})`;
  return new PublishError('failed', `${name}: ${text}`, { cause: error, connectionLost: true });
}

function isPermission(error: unknown): boolean {
  return (
    error instanceof PermissionViolationError ||
    (error instanceof Error && error.cause instanceof PermissionViolationError)
  );
}
