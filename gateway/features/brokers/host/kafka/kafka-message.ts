/** A message published to Kafka, and its acknowledgement. */
import type { MessageHeader } from '../publishing/message-headers.ts';

export interface KafkaMessage {
  readonly topic: string;
  /** Null: without a key, to any partition. */
  readonly key: string | null;
  readonly payload: Uint8Array;
  readonly headers: readonly MessageHeader[];
}

export interface KafkaAcknowledgement {
  readonly partition: number;
  readonly offset: number;
}
