/** Topics of Kafka as sources of event streams. */

import type { EgressGuard } from '../../../kit.ts';
import type { Position } from '../subscribing/position.ts';
import type { Backlog, LiveReader, TopicSource } from '../subscribing/topic-source.ts';
import { KafkaBacklogs } from './kafka-backlog.ts';
import { KafkaReader } from './kafka-reader.ts';
import type { KafkaBrokers } from './kafka-settings.ts';
import { KafkaTopic } from './kafka-topic.ts';

/** `partition:offset`, several with commas between. */
const ID = /^\d{1,4}:\d{1,16}(,\d{1,4}:\d{1,16})*$/;
/** Longest id, in characters: `format` stays below it with the most partitions. */
const MOST_ID = 4_800;
const MOST_PARTITION = 999;

export class KafkaTopicSource implements TopicSource {
  readonly name: string;
  readonly #brokers: KafkaBrokers;
  readonly #topic: string;
  readonly #guard: EgressGuard;
  readonly #backlogs = new KafkaBacklogs(() => this.#open());

  constructor(brokers: KafkaBrokers, topic: string, guard: EgressGuard) {
    this.name = `kafka://${brokers.brokers.join(',')}/${topic}`;
    this.#brokers = brokers;
    this.#topic = topic;
    this.#guard = guard;
  }

  async open(position: Position | null): Promise<LiveReader> {
    return KafkaReader.open(await this.#open(), position);
  }

  backlog(): Backlog {
    return this.#backlogs.backlog();
  }

  format(position: Position): string {
    return position.map((next, partition) => `${partition}:${next}`).join(',');
  }

  /** Partitions that it leaves out have been made since: they are read from their beginning. */
  parse(text: string): Position | null {
    if (text.length > MOST_ID || !ID.test(text)) return null;
    const position: number[] = [];
    for (const part of text.split(',')) {
      const [partition = 0, next = 0] = part.split(':').map(Number);
      if (partition > MOST_PARTITION || position[partition] !== undefined || !Number.isSafeInteger(next)) return null;
      position[partition] = next;
    }
    return Array.from(position, (next) => next ?? 0);
  }

  close(): void {
    this.#backlogs.close();
  }

  #open(): Promise<KafkaTopic> {
    return KafkaTopic.open(this.#brokers, this.#topic, this.#guard);
  }
}
