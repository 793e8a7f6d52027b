/** The messages of a topic that go together. */
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';

export interface Queued {
  readonly message: KafkaMessage;
  resolve(acknowledged: KafkaAcknowledgement): void;
  reject(error: unknown): void;
}

/** Below the default limit of brokers (`message.max.bytes`, 1 MiB); a larger message goes alone. */
const MOST_BYTES = 900_000;
const MOST_MESSAGES = 5_000;
/** Largest size of a record besides key, value and headers, in bytes. */
const RECORD_BYTES = 64;

/** Returns the number of waiting messages that fit into a batch. */
export function fitting(waiting: readonly Queued[]): number {
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
