/** A topic of Kafka as it is read by a client of its own: its partitions and their offsets, and messages from there. */

import type { EgressGuard } from '../../../kit.ts';
import type { Position } from '../subscribing/position.ts';
import type { Gap, MessageBatch, StreamMessage } from '../subscribing/topic-source.ts';
import {
  Batch,
  Cluster,
  createLogger,
  type FetchedMessage,
  type FetchedPartition,
  noteUnreadable,
} from './kafka-library.ts';
import type { KafkaBrokers } from './kafka-settings.ts';
import { vettedClient } from './vetted-client.ts';

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
const READ_COMMITTED = 1;
/** Milliseconds for which the library remembers leaders that it has no reason to doubt. */
const METADATA_MAX_AGE_MS = 300_000;
const NOTHING = 0;

export class KafkaTopic {
  readonly #cluster: Cluster;
  readonly #topic: string;

  private constructor(cluster: Cluster, topic: string) {
    this.#cluster = cluster;
    this.#topic = topic;
  }

  /** Rejects with EgressRefused, ConnectionRefused, or errors of the library. */
  static async open(brokers: KafkaBrokers, topic: string, guard: EgressGuard): Promise<KafkaTopic> {
    const { options, reasonOf } = vettedClient(brokers, guard);
    const cluster = new Cluster({
      ...options,
      logger: createLogger({ level: NOTHING, logCreator: options.logCreator }),
      enforceRequestTimeout: true,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: true,
      maxInFlightRequests: null,
      isolationLevel: READ_COMMITTED,
    });
    const opened = new KafkaTopic(cluster, topic);
    try {
      await cluster.connect();
      await cluster.addTargetTopic(topic);
      opened.#checkPartitions();
      return opened;
    } catch (error) {
      opened.close();
      throw reasonOf(error);
    }
  }

  async earliest(): Promise<Position> {
    return this.#offsets(true);
  }

  async latest(): Promise<Position> {
    return this.#offsets(false);
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
  leaders(): ReadonlyMap<string, readonly number[]> {
    const partitions = this.#partitions();
    return new Map(Object.entries(this.#cluster.findLeaderForPartitions(this.#topic, partitions)));
  }

  /** Asks for the leaders anew. */
  async refresh(): Promise<void> {
    await this.#cluster.refreshMetadata();
    this.#checkPartitions();
  }

  /**
   * From one broker, of the partitions that it leads. Batches that cannot be unpacked, and messages that are too large,
   * are gaps.
   */
  async fetch(nodeId: string, partitions: readonly number[], from: Position, limits: FetchLimits): Promise<KafkaBatch> {
    const broker = await this.#cluster.findBroker({ nodeId });
    const offsetOf = (partition: number) => String(from[partition] ?? 0);
    const { waitMs, bytes } = limits;
    const request = {
      maxWaitTime: waitMs,
      minBytes: 1,
      maxBytes: bytes,
      isolationLevel: READ_COMMITTED,
      topics: [
        {
          topic: this.#topic,
          partitions: partitions.map((partition) => ({ partition, fetchOffset: offsetOf(partition), maxBytes: bytes })),
        },
      ],
    };
    const {
      read: { responses },
      unreadable,
    } = await noteUnreadable(() => broker.fetch(request));
    const position = [...from];
    const messages: StreamMessage[] = [];
    const gaps: Gap[] = [];
    for (const fetched of responses.flatMap((each) => each.partitions)) {
      const { partition } = fetched;
      const batch = new Batch(this.#topic, offsetOf(partition), fetched);
      const begin = position[partition] ?? 0;
      let next = nextOffset(begin, fetched);
      let isFirst = true;
      for (const message of batch.messages) {
        const offset = Number(message.offset);
        const isTooLarge = (message.value?.length ?? 0) > MOST_MESSAGE;
        // Gaps stand before messages: earlier messages go first.
        if (isTooLarge && !isFirst) {
          next = offset;
          break;
        }
        if (isTooLarge) gaps.push({ partition, from: offset, to: offset + 1 });
        else messages.push(messageOf(partition, message));
        isFirst &&= isTooLarge;
      }
      position[partition] = next;
      // With several partitions it is unknown which one is stuck: each is then read by itself.
      const stuck = partitions.length === 1 && fetched.messages.length === 0;
      const passedOver = stuck ? unreadable.find(({ first, last }) => first <= begin && begin <= last) : undefined;
      if (passedOver === undefined) continue;
      position[partition] = passedOver.last + 1;
      gaps.push({ partition, from: begin, to: passedOver.last + 1 });
    }
    const read = { messages, position, gaps };
    const isStuck = unreadable.length > 0 && messages.length === 0 && partitions.length > 1;
    return isStuck ? this.#fetchEach(nodeId, partitions, read, limits) : read;
  }

  async #fetchEach(
    nodeId: string,
    partitions: readonly number[],
    read: KafkaBatch,
    limits: FetchLimits,
  ): Promise<KafkaBatch> {
    let { messages, position, gaps } = read;
    for (const partition of partitions) {
      const one = await this.fetch(nodeId, [partition], position, { ...limits, waitMs: 0 });
      messages = [...messages, ...one.messages];
      position = one.position;
      gaps = [...gaps, ...one.gaps];
    }
    return { messages, position, gaps };
  }

  close(): void {
    this.#cluster.disconnect().catch(() => {});
  }

  #partitions(): readonly number[] {
    const found = this.#cluster.findTopicPartitionMetadata(this.#topic).map(({ partitionId }) => partitionId);
    return found.sort((one, other) => one - other);
  }

  #checkPartitions(): void {
    const count = this.#partitions().length;
    if (count === 0) throw new Error(`the brokers know no topic "${this.#topic}"`);
    if (count > MOST_PARTITIONS)
      throw new Error(`the topic has ${count} partitions, at most ${MOST_PARTITIONS} are read`);
  }

  async #offsets(fromBeginning: boolean): Promise<Position> {
    const wanted = this.#partitions();
    const partitions = wanted.map((partition) => ({ partition }));
    const found = await this.#cluster.fetchTopicsOffset([{ topic: this.#topic, partitions, fromBeginning }]);
    const offsets = new Map(
      found.flatMap((each) => each.partitions).map(({ partition, offset }) => [partition, offset]),
    );
    return wanted.map((partition) => {
      const offset = offsets.get(partition);
      if (offset === undefined) throw new Error(`partition ${partition} has no offsets`);
      return Number(offset);
    });
  }
}

/** Returns the offset behind all received messages, including those that are hidden or compacted. */
function nextOffset(from: number, { messages }: FetchedPartition): number {
  const last = messages.at(-1);
  if (last === undefined) return from;
  const { batchContext } = last;
  const end = batchContext ? Number(batchContext.firstOffset) + batchContext.lastOffsetDelta : Number(last.offset);
  return Math.max(from, end + 1);
}

function messageOf(partition: number, { offset, key, value, headers = {}, timestamp }: FetchedMessage): StreamMessage {
  return {
    partition,
    offset: Number(offset),
    key,
    payload: value,
    metadata: () => ({
      partition,
      offset: Number(offset),
      timestamp: Number(timestamp),
      key: key && textOf(key),
      headers: headersOf(headers),
    }),
  };
}

/** The last of a name, as maps of headers have it. */
function headersOf(headers: NonNullable<FetchedMessage['headers']>): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    const last = [value].flat().at(-1);
    if (last !== undefined) found[name] = textOf(last);
  }
  return found;
}

function textOf(bytes: Buffer): string {
  return bytes.toString();
}
