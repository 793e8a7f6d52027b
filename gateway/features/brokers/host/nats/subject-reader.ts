/** Reads a subject of NATS as messages come: from the stream that has them all, or from the server. Loaded with the library. */
import { type ConsumerMessages, jetstream } from '@nats-io/jetstream';
import type { NatsConnection, Subscription } from '@nats-io/nats-core';
import { ConnectionRefused } from '../publishing/kept-connection.ts';
import type { Position } from '../subscribing/position.ts';
import type { Gap, LiveReader, MessageBatch, StreamMessage } from '../subscribing/topic-source.ts';
import { messageOf, streamMessageOf } from './subject-message.ts';
import type { SubjectStream } from './subject-stream.ts';

/** Messages that a stream sends ahead. */
const AHEAD = 256;

export class SubjectReader implements LiveReader {
  readonly gaps: readonly Gap[];
  readonly ended: Promise<void>;
  readonly #end = Promise.withResolvers<void>();
  readonly #stop: () => void;
  #deliver: ((batch: MessageBatch) => void) | null = null;
  #position: Position | null;
  /** Read in this turn. */
  #messages: StreamMessage[] = [];

  private constructor(
    client: NatsConnection,
    begins: { readonly position: Position | null; readonly gaps: readonly Gap[] },
    stop: () => void,
  ) {
    this.#position = begins.position;
    this.gaps = begins.gaps;
    this.#stop = stop;
    this.ended = this.#end.promise;
    // Rejections reach those that wait for the end; waiting is optional.
    this.ended.catch(() => {});
    client
      .closed()
      .then((error) => this.lost(new Error(error?.message ?? 'the connection was lost', { cause: error })));
  }

  /** Reads messages that reach the server from now on. Rejects with ConnectionRefused if it is not permitted. */
  static async ofServer(client: NatsConnection, subject: string): Promise<SubjectReader> {
    let subscription: Subscription | null = null;
    const reader = new SubjectReader(client, { position: null, gaps: [] }, () => subscription?.unsubscribe());
    let refused: Error | null = null;
    subscription = client.subscribe(subject, {
      callback: (error, message) => {
        if (error) {
          refused = error;
          reader.lost(error);
        } else reader.#read(messageOf(message));
      },
    });
    await client.flush();
    if (refused === null) return reader;
    throw new ConnectionRefused('the server does not permit subscribing to the subject', { cause: refused });
  }

  /** Reads the stream's messages from the position on. */
  static async ofStream(
    client: NatsConnection,
    stream: SubjectStream,
    begins: { readonly position: Position; readonly gaps: readonly Gap[] },
  ): Promise<SubjectReader> {
    const consumer = await jetstream(client).consumers.get(stream.name, {
      filter_subjects: stream.subject,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: Math.max(1, begins.position[0] ?? 1),
    });
    let messages: ConsumerMessages | null = null;
    const reader = new SubjectReader(client, begins, () => {
      messages?.stop();
      // Otherwise the server keeps it for minutes.
      if (!client.isClosed()) consumer.delete().catch(() => {});
    });
    messages = await consumer.consume({
      max_messages: AHEAD,
      abort_on_missing_resource: true,
      callback: (message) => reader.#read(streamMessageOf(message)),
    });
    messages.closed().then((error) => reader.lost(error instanceof Error ? error : new Error('the stream has ended')));
    return reader;
  }

  get position(): Position | null {
    return this.#position;
  }

  start(deliver: (batch: MessageBatch) => void): void {
    this.#deliver = deliver;
    this.#flush();
  }

  close(): void {
    this.#end.resolve();
    this.#stop();
  }

  lost(error: Error): void {
    this.#end.reject(error);
    this.#stop();
  }

  /** Passes the messages of a turn on together. */
  #read(message: StreamMessage): void {
    if (this.#messages.push(message) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#deliver === null || this.#messages.length === 0) return;
    const messages = this.#messages;
    this.#messages = [];
    const last = messages.at(-1);
    if (this.#position !== null && last !== undefined) this.#position = [last.offset + 1];
    this.#deliver({ messages, position: this.#position, gaps: [] });
  }
}
