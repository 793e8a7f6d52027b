/** Reads earlier messages of a Kafka topic, for all clients that resume over one connection. */
import { isBehind, type Position } from '../subscribing/position.ts';
import type { Backlog } from '../subscribing/topic-source.ts';
import { Turns } from '../subscribing/turns.ts';
import type { KafkaBatch, KafkaTopic } from './kafka-topic.ts';

/** Limits of one read: as much as each client that resumes may hold. Brokers need not wait: the messages exist. */
const LIMITS = { waitMs: 0, bytes: 128 << 10 };

/** The connection, open while a client needs it. It takes one question at a time, which bounds what is read at once. */
export class KafkaBacklogs {
  readonly #open: () => Promise<KafkaTopic>;
  #topic: Promise<KafkaTopic> | null = null;
  readonly #turns = new Turns(1);
  #clients = 0;

  constructor(open: () => Promise<KafkaTopic>) {
    this.#open = open;
  }

  backlog(): Backlog {
    this.#clients++;
    let closed = false;
    return {
      earliest: () => this.#ask((topic) => topic.earliest()),
      clamp: (position) => this.#ask((topic) => topic.clamp(position)),
      read: (from, until) => this.#ask((topic) => read(topic, from, until)),
      close: () => {
        if (closed) return;
        closed = true;
        if (--this.#clients === 0) this.close();
      },
    };
  }

  close(): void {
    const topic = this.#topic;
    this.#topic = null;
    topic?.then(
      (each) => each.close(),
      () => {},
    );
  }

  #ask<T>(work: (topic: KafkaTopic) => Promise<T>): Promise<T> {
    return this.#turns.take(() => this.#tried(work));
  }

  /** After a failure the next gets another connection. */
  async #tried<T>(work: (topic: KafkaTopic) => Promise<T>): Promise<T> {
    this.#topic ??= this.#open();
    const mine = this.#topic;
    try {
      return await work(await mine);
    } catch (error) {
      if (this.#topic === mine) this.close();
      throw error;
    }
  }
}

/** Some of the messages between, of the partitions of one broker. */
async function read(topic: KafkaTopic, from: Position, until: Position): Promise<KafkaBatch> {
  const isWanted = (partition: number) => (from[partition] ?? 0) < (until[partition] ?? 0);
  for (const [nodeId, led] of topic.leaders()) {
    const partitions = led.filter(isWanted);
    if (partitions.length === 0) continue;
    const { messages, position, gaps } = await topic.fetch(nodeId, partitions, from, LIMITS);
    return {
      messages: messages.filter(({ partition, offset }) => offset < (until[partition] ?? 0)),
      position: position.map((next, partition) => (isWanted(partition) ? Math.min(next, until[partition] ?? 0) : next)),
      gaps: gaps.filter(({ partition = 0, from: first }) => first < (until[partition] ?? 0)),
    };
  }
  if (isBehind(from, until)) throw new Error('partitions have no leader');
  return { messages: [], position: from, gaps: [] };
}
