/**
 * A connection to a broker: over a socket that the egress guard has vetted, to the brokers of the config as well as to
 * those that they name, with TLS and credentials if need be.
 */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { connectVetted, type EgressGuard, startTlsClient } from '../../../kit.ts';
import { Frames } from './frames.ts';
import { ConnectionLost, KafkaError } from './kafka-error.ts';
import type { KafkaSasl } from './kafka-settings.ts';
import { API_VERSIONS, type Api, type Node, type Requester } from './protocol.ts';
import { authenticate } from './sasl.ts';
import { AnswerReader, RequestWriter } from './wire.ts';

export interface VettedOptions {
  readonly guard: EgressGuard;
  /** Null: plaintext. */
  readonly secureContext: SecureContext | null;
  readonly sasl: KafkaSasl | null;
}

interface Pending {
  answer(reader: AnswerReader): void;
  fail(error: Error): void;
}

const CLIENT_ID = 'gw';
const CONNECT_TIMEOUT_MS = 10_000;
/** Milliseconds until an answer, in which brokers wait for replicas, or for messages. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Part of the time for which credentials are good after which another connection is used. */
const LIFETIME_USED = 0.8;

export class VettedConnection implements Requester {
  /** Resolves when it has ended. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #frames = new Frames(() => this.#pending.size > 0);
  /** By the number of the request. */
  readonly #pending = new Map<number, Pending>();
  readonly #closing = Promise.withResolvers<void>();
  #requests = 0;
  #ended: Error | null = null;
  #usableUntil = Number.POSITIVE_INFINITY;
  #newest: ReadonlyMap<number, number> = new Map();

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = this.#closing.promise;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the broker closed the connection')));
  }

  /** Rejects with EgressRefused, ConnectionRefused, ConnectionLost, KafkaError or errors of the system. */
  static async open({ host, port }: Node, { guard, secureContext, sasl }: VettedOptions): Promise<VettedConnection> {
    const deadline = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    const secure = secureContext && ((raw: Socket) => startTlsClient(raw, host, deadline, { context: secureContext }));
    const socket = await connectVetted(host, port, { guard, timeoutMs: CONNECT_TIMEOUT_MS }, deadline, secure);
    const connection = new VettedConnection(socket);
    try {
      connection.#newest = await connection.request(API_VERSIONS, null);
      const lifetimeMs = sasl === null ? 0 : await authenticate(connection, sasl);
      if (lifetimeMs > 0) connection.#usableUntil = performance.now() + lifetimeMs * LIFETIME_USED;
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** False once it has ended, and when its credentials are about to expire. */
  get isUsable(): boolean {
    return this.#ended === null && performance.now() < this.#usableUntil;
  }

  /** Returns whether the broker takes this version of the API. */
  takes({ key, version }: Pick<Api<never, unknown>, 'key' | 'version'>): boolean {
    return (this.#newest.get(key) ?? -1) >= version;
  }

  request<Request, Answer>(api: Api<Request, Answer>, request: Request): Promise<Answer> {
    if (this.#ended !== null) return Promise.reject(this.#lost());
    const id = (this.#requests + 1) & 0x7fffffff;
    const writer = new RequestWriter().int16(api.key).int16(api.version).int32(id).text(CLIENT_ID);
    api.write(writer, request);
    this.#requests = id;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const late = setTimeout(() => this.#end(new Error('the broker did not answer in time')), ANSWER_TIMEOUT_MS);
    this.#pending.set(id, {
      answer(reader) {
        clearTimeout(late);
        resolve(api.read(reader));
      },
      fail(error) {
        clearTimeout(late);
        reject(error);
      },
    });
    this.#socket.write(writer.framed());
    return promise;
  }

  close(): void {
    this.#end(new Error('the connection is closed'));
  }

  #end(reason: Error): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    this.#socket.destroy();
    for (const { fail } of this.#pending.values()) fail(this.#lost());
    this.#pending.clear();
    this.#closing.resolve();
  }

  #lost(): ConnectionLost {
    return new ConnectionLost(this.#ended?.message, { cause: this.#ended });
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.add(chunk)) this.#answered(new AnswerReader(frame));
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #answered(reader: AnswerReader): void {
    const id = reader.int32();
    const pending = this.#pending.get(id);
    if (pending === undefined) throw new Error('the broker answers more than it is asked');
    try {
      pending.answer(reader);
    } catch (error) {
      // The next answers may be read in the wrong place, too.
      if (!(error instanceof KafkaError)) throw new Error('an answer of the broker cannot be read', { cause: error });
      pending.fail(error);
    }
    this.#pending.delete(id);
    if (!this.isUsable && this.#pending.size === 0) this.close();
  }
}
