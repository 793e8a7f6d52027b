/** A topic of Kafka as it is read by a client of its own: its partitions and their offsets, and messages from there. */

import type { EgressGuard } from '../../../kit.ts';
import type { Position } from '../subscribing/position.ts';
import type { Gap, MessageBatch, StreamMessage } from '../subscribing/topic-source.ts';
import { batchesOf } from './fetched-messages.ts';
import { KafkaCluster } from './kafka-cluster.ts';
import type { KafkaBrokers } from './kafka-settings.ts';
import {
  FETCH,
  FETCH_ZSTD,
  type FetchedPartition,
  LIST_OFFSETS,
  type OffsetsRequest,
  type Partition,
} from './protocol.ts';
import type { KafkaRecord } from './record-reader.ts';

export interface FetchLimits {
  /** Milliseconds that a broker waits for messages. */
  readonly waitMs: number;
  /** Bytes of a request; a larger message comes alone. */
  readonly bytes: number;
}

export type KafkaBatch = MessageBatch & { readonly position: Position };

/** Bytes of a message that is passed on: a batch of 64 MiB may be one. */
const MOST_MESSAGE = 8 << 20;
/** Most partitions whose offsets fit into an `id` of events. */
const MOST_PARTITIONS = 200;

export class KafkaTopic {
  readonly #cluster: KafkaCluster;
  readonly #topic: string;
  #partitions: readonly Partition[] = [];

  private constructor(cluster: KafkaCluster, topic: string) {
    this.#cluster = cluster;
    this.#topic = topic;
  }

  /** Rejects with EgressRefused, ConnectionRefused, KafkaError, or errors of connections. */
  static async open(brokers: KafkaBrokers, topic: string, guard: EgressGuard): Promise<KafkaTopic> {
    const opened = new KafkaTopic(await KafkaCluster.open(brokers, guard), topic);
    try {
      await opened.refresh();
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  async earliest(): Promise<Position> {
    return this.#offsets('oldest');
  }

  async latest(): Promise<Position> {
    return this.#offsets('newest');
  }

  /** Returns the position; for partitions whose messages are gone, the oldest that remain. */
  async clamp(position: Position): Promise<{ readonly position: Position; readonly gaps: readonly Gap[] }> {
    const [earliest, latest] = [await this.earliest(), await this.latest()];
    const clamped = earliest.map((first, partition) => {
      const next = position[partition] ?? 0;
      return next < first || next > (latest[partition] ?? 0) ? first : next;
    });
    const gaps = position.flatMap((from, partition): Gap[] => {
      const to = clamped[partition] ?? 0;
      return from === to ? [] : [{ partition, from, to }];
    });
    return { position: clamped, gaps };
  }

  /** Partitions by the broker that leads them. */
  leaders(): ReadonlyMap<number, readonly number[]> {
    const led = this.#partitions.filter(({ leader }) => leader >= 0);
    const byLeader = Map.groupBy(led, ({ leader }) => leader);
    return new Map([...byLeader].map(([leader, partitions]) => [leader, partitions.map(({ index }) => index)]));
  }

  /** Asks for the leaders anew. */
  async refresh(): Promise<void> {
    this.#cluster.forget(this.#topic);
    this.#partitions = await this.#cluster.partitions(this.#topic);
    const count = this.#partitions.length;
    if (count === 0) throw new Error(`the brokers know no topic "${this.#topic}"`);
    if (count > MOST_PARTITIONS)
      throw new Error(`the topic has ${count} partitions, at most ${MOST_PARTITIONS} are read`);
  }

  /**
   * From one broker, of the partitions that it leads. Batches that cannot be unpacked, and messages that are too large,
   * are gaps.
   */
  async fetch(node: number, partitions: readonly number[], from: Position, limits: FetchLimits): Promise<KafkaBatch> {
    const connection = await this.#cluster.node(node);
    const api = connection.takes(FETCH_ZSTD) ? FETCH_ZSTD : FETCH;
    const fetched = await connection.request(api, {
      topic: this.#topic,
      waitMs: limits.waitMs,
      bytes: limits.bytes,
      partitions: partitions.map((index) => ({ index, offset: from[index] ?? 0 })),
    });
    const position = [...from];
    const messages: StreamMessage[] = [];
    const gaps: Gap[] = [];
    for (const each of fetched) {
      if (!partitions.includes(each.index)) throw new Error('the broker answers for another partition');
      const read = await readPartition(each, position[each.index] ?? 0);
      for (const message of read.messages) messages.push(message);
      gaps.push(...read.gaps);
      position[each.index] = read.next;
    }
    return { messages, position, gaps };
  }

  close(): void {
    this.#cluster.close();
  }

  async #offsets(of: OffsetsRequest['of']): Promise<Position> {
    const offsets = new Map<number, number>();
    for (const [node, partitions] of this.leaders()) {
      const connection = await this.#cluster.node(node);
      const found = await connection.request(LIST_OFFSETS, { topic: this.#topic, partitions, of });
      for (const [partition, offset] of found) offsets.set(partition, offset);
    }
    return this.#partitions.map(({ index }) => {
      const offset = offsets.get(index);
      if (offset === undefined) throw new Error(`partition ${index} has no offsets`);
      return offset;
    });
  }
}

interface PartitionRead {
  readonly messages: readonly StreamMessage[];
  readonly gaps: readonly Gap[];
  readonly next: number;
}

/** Reads up to a gap that is behind messages: gaps stand before messages. */
async function readPartition(fetched: FetchedPartition, begin: number): Promise<PartitionRead> {
  const messages: StreamMessage[] = [];
  const gaps: Gap[] = [];
  let next = begin;
  const leaveOut = (from: number, to: number) => {
    gaps.push({ partition: fetched.index, from, to });
    next = to;
  };
  for await (const { last, records } of batchesOf(fetched)) {
    if (last < next) continue;
    if (records === null) {
      if (messages.length > 0) break;
      leaveOut(next, last + 1);
      continue;
    }
    for (const record of records) {
      if (record.offset < next) continue;
      const isTooLarge = (record.value?.length ?? 0) > MOST_MESSAGE;
      if (isTooLarge && messages.length > 0) return { messages, gaps, next: record.offset };
      if (isTooLarge) leaveOut(record.offset, record.offset + 1);
      else messages.push(messageOf(fetched.index, record));
    }
    next = last + 1;
  }
  return { messages, gaps, next };
}

function messageOf(partition: number, record: KafkaRecord): StreamMessage {
  const { offset, key, value, headers, timestamp } = record;
  return {
    partition,
    offset,
    key,
    payload: value,
    metadata: () => ({ partition, offset, timestamp, key: key && textOf(key), headers: headersOf(headers) }),
  };
}

/** The last of a name, as maps of headers have it. */
function headersOf(headers: KafkaRecord['headers']): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) if (value !== null) found[name] = textOf(value);
  return found;
}

function textOf(bytes: Buffer): string {
  return bytes.toString();
}
