/** The stream of JetStream that has all messages of a subject. Loaded with the library. */
import { type ConsumerInfo, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { isBehind, type Position } from '../subscribing/position.ts';
import type { Backlog, Gap } from '../subscribing/topic-source.ts';
import { streamMessageOf } from './subject-message.ts';

const TIMEOUT_MS = 5_000;
/** Bytes of one read: as much as each client that resumes may hold, by the mean size of the stream's messages. */
const READ_BYTES = 128 << 10;
const MOST_MESSAGES = 500;
/** Milliseconds that a read waits for messages that the server has said are there. */
const READ_MS = 5_000;
/** Nanoseconds after which the server forgets a reader that does not read. */
const INACTIVE_NS = 60_000_000_000;

export class SubjectStream {
  readonly name: string;
  readonly subject: string;
  readonly #client: NatsConnection;
  readonly #manager: JetStreamManager;

  private constructor(name: string, subject: string, client: NatsConnection, manager: JetStreamManager) {
    this.name = name;
    this.subject = subject;
    this.#client = client;
    this.#manager = manager;
  }

  /** Returns null if no stream has all messages of the subject, or the account may not ask. */
  static async find(client: NatsConnection, subject: string): Promise<SubjectStream | null> {
    try {
      const manager = await jetstreamManager(client, { checkAPI: false, timeout: TIMEOUT_MS });
      for await (const { config } of manager.streams.list(subject)) {
        if (!config.subjects?.some((each) => covers(each, subject))) continue;
        return new SubjectStream(config.name, subject, client, manager);
      }
      return null;
    } catch (error) {
      if (client.isClosed()) throw error;
      return null;
    }
  }

  async #bounds(): Promise<{ readonly first: number; readonly next: number; readonly meanBytes: number }> {
    const { state } = await this.#manager.streams.info(this.name);
    const meanBytes = state.messages > 0 ? state.bytes / state.messages : 1;
    return { first: Math.max(1, state.first_seq), next: state.last_seq + 1, meanBytes };
  }

  async earliest(): Promise<Position> {
    return [(await this.#bounds()).first];
  }

  async latest(): Promise<Position> {
    return [(await this.#bounds()).next];
  }

  /** Returns the position; if its messages are gone, the oldest that remain. */
  async clamp(position: Position): Promise<{ readonly position: Position; readonly gaps: readonly Gap[] }> {
    const from = position[0] ?? 1;
    const { first, next } = await this.#bounds();
    if (from >= first && from <= next) return { position, gaps: [] };
    return { position: [first], gaps: from === first ? [] : [{ from, to: first }] };
  }

  /** For a client of its own. */
  backlog(): Backlog {
    let reader: { readonly consumer: ConsumerInfo; next: number; left: number } | null = null;
    const forget = () => {
      const name = reader?.consumer.name;
      reader = null;
      if (name !== undefined) this.#manager.consumers.delete(this.name, name).catch(() => {});
    };
    return {
      earliest: () => this.earliest(),
      clamp: (position) => this.clamp(position),
      read: async (from, until) => {
        const [start = 1, end = 1] = [from[0], until[0]];
        if (!isBehind(from, until)) return { messages: [], position: from, gaps: [] };
        if (reader?.next !== start) {
          forget();
          const consumer = await this.#consumerFrom(start);
          reader = { consumer, next: start, left: consumer.num_pending };
        }
        const mine = reader;
        const { messages, left } =
          mine.left === 0 ? { messages: [], left: 0 } : await this.#fetch(mine.consumer, mine.left);
        mine.left = left;
        const wanted = messages.filter(({ offset }) => offset < end);
        // Messages past the end are the other reader's: another consumer begins there, if needed.
        const last = messages.at(-1)?.offset ?? 0;
        const next = left === 0 ? end : Math.min(end, last + 1);
        mine.next = last >= end || left === 0 ? -1 : next;
        return { messages: wanted, position: [Math.max(start, next)], gaps: [] };
      },
      close: forget,
    };
  }

  #consumerFrom(sequence: number): Promise<ConsumerInfo> {
    return this.#manager.consumers.add(this.name, {
      filter_subject: this.subject,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: Math.max(1, sequence),
      ack_policy: 'none',
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: INACTIVE_NS,
    });
  }

  /** Some of those that it has left. */
  async #fetch(consumer: ConsumerInfo, left: number) {
    const { meanBytes } = await this.#bounds();
    const most = Math.max(1, Math.min(left, MOST_MESSAGES, Math.floor(READ_BYTES / meanBytes)));
    const found = [];
    let pending = left;
    const fetched = await jetstream(this.#client)
      .consumers.getConsumerFromInfo(consumer)
      .fetch({ max_messages: most, expires: READ_MS });
    for await (const message of fetched) {
      found.push(streamMessageOf(message));
      pending = message.info.pending;
      if (pending === 0) break;
    }
    if (found.length === 0) throw new Error('the stream sent none of the messages that it has');
    return { messages: found, left: pending };
  }
}

/** Reports whether every subject that `pattern` matches is one that `other` matches, too. */
export function covers(other: string, pattern: string): boolean {
  const [outer, inner] = [other.split('.'), pattern.split('.')];
  for (const [i, token] of outer.entries()) {
    const wanted = inner[i];
    if (wanted === undefined) return false;
    if (token === '>') return true;
    if (wanted === '>' || (token !== '*' && token !== wanted)) return false;
  }
  return outer.length === inner.length;
}
