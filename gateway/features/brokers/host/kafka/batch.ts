/** The messages of a topic that go together, and the place in the log that each has then. */
import type { Message, RecordMetadata } from 'kafkajs';
import { PublishError } from '../publishing/publish-error.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';

export interface Queued {
  readonly message: KafkaMessage;
  resolve(acknowledged: KafkaAcknowledgement): void;
  reject(error: unknown): void;
}

export interface TopicBatch {
  readonly topic: string;
  readonly queued: readonly Queued[];
  readonly messages: Message[];
  acknowledge(metadata: readonly RecordMetadata[]): void;
  fail(error: unknown): void;
}

/** Below the default limit of brokers (`message.max.bytes`, 1 MiB); a larger message goes alone. */
const MOST_BYTES = 900_000;
const MOST_MESSAGES = 5_000;
/** Largest size of a record besides key, value and headers, in bytes. */
const RECORD_BYTES = 64;

/** Creates a batch of the first waiting messages: as many as fit. */
export function createBatch(topic: string, waiting: readonly Queued[]): TopicBatch {
  const queued = waiting.slice(0, fitting(waiting));
  const messages = queued.map(({ message }) => recordOf(message));
  return {
    topic,
    queued,
    messages,
    acknowledge(metadata) {
      const bases = new Map(metadata.map(({ partition, baseOffset = '-1' }) => [partition, Number(baseOffset)]));
      const places = new Map<number, number>();
      for (const [i, each] of queued.entries()) {
        const partition = messages[i]?.partition ?? -1;
        const place = places.get(partition) ?? 0;
        places.set(partition, place + 1);
        const base = bases.get(partition);
        if (base === undefined) each.reject(new PublishError('failed', `partition ${partition} did not acknowledge`));
        else each.resolve({ partition, offset: base < 0 ? -1 : base + place });
      }
    },
    fail(error) {
      for (const each of queued) each.reject(error);
    },
  };
}

function fitting(waiting: readonly Queued[]): number {
  let bytes = 0;
  let count = 0;
  for (const { message } of waiting) {
    bytes += bytesOf(message);
    if (count > 0 && (bytes > MOST_BYTES || count === MOST_MESSAGES)) break;
    count++;
  }
  return count;
}

function bytesOf({ payload, key, headers }: KafkaMessage): number {
  const texts = headers.flat().reduce((sum, text) => sum + Buffer.byteLength(text), Buffer.byteLength(key ?? ''));
  return payload.length + texts + RECORD_BYTES;
}

function recordOf({ payload, key, headers }: KafkaMessage): Message {
  const byName: Record<string, string[]> = Object.create(null);
  for (const [name, value] of headers) {
    byName[name] ??= [];
    byName[name].push(value);
  }
  const value = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return { key, value, ...(headers.length > 0 ? { headers: byName } : {}) };
}
