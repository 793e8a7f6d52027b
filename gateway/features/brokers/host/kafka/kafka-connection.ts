/**
 * An idempotent producer of Kafka, loaded with the library on demand. A topic has one batch under way at a time, and
 * later messages form the next: the library gives a batch that it sends again its first numbers, by which brokers
 * recognise it, but gives other batches the same ones meanwhile.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Message, Producer } from 'kafkajs';
import type { EgressGuard } from '../../../kit.ts';
import type { Connection } from '../publishing/kept-connection.ts';
import { createBatch, type Queued, type TopicBatch } from './batch.ts';
import { isRefusal, isUnknownTopic, TopicUnknown } from './kafka-failures.ts';
import { Kafka } from './kafka-library.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';
import type { KafkaBrokers } from './kafka-settings.ts';
import { stickyPartitioner } from './sticky-partitioner.ts';
import { REQUEST_TIMEOUT_MS, RETRY, vettedClient } from './vetted-client.ts';

/** Milliseconds in which a batch is sent again. After that it is not known whether it is in the log. */
export const DELIVERY_MS = 120_000;
const PAUSE_MS = { first: 100, most: 2_000 };
/** Milliseconds in which a topic that is not known may be made, by brokers that make topics on use. */
const UNKNOWN_TOPIC_MS = 3_000;

/**
 * The message waited for another batch whose numbers may be used up: it was not sent, and may go over another
 * connection.
 */
export class ConnectionRetired extends Error {}

interface Topic {
  waiting: Queued[];
  isBusy: boolean;
}

export class KafkaConnection implements Connection {
  readonly closed: Promise<void>;
  readonly #producer: Producer;
  readonly #topics = new Map<string, Topic>();
  readonly #retired = Promise.withResolvers<void>();
  readonly #ended = new AbortController();
  #isRetired = false;

  private constructor(producer: Producer) {
    this.#producer = producer;
    this.closed = this.#retired.promise;
  }

  /** Rejects if no broker accepts it. */
  static async open(brokers: KafkaBrokers, guard: EgressGuard): Promise<KafkaConnection> {
    const vetted = vettedClient(brokers, guard);
    const kafka = new Kafka(vetted.options);
    const producer = kafka.producer({
      idempotent: true,
      retry: { ...RETRY, retries: 1 },
      createPartitioner: stickyPartitioner,
    });
    try {
      await producer.connect();
      return new KafkaConnection(producer);
    } catch (error) {
      void producer.disconnect().catch(() => {});
      throw vetted.reasonOf(error);
    }
  }

  /** Settles when the outcome of the message is known, or past `DELIVERY_MS`. Rejects with ConnectionRetired. */
  publish(message: KafkaMessage): Promise<KafkaAcknowledgement> {
    if (this.#isRetired) return Promise.reject(new ConnectionRetired());
    return new Promise((resolve, reject) => {
      const topic = this.#topics.get(message.topic) ?? { waiting: [], isBusy: false };
      this.#topics.set(message.topic, topic);
      topic.waiting.push({ message, resolve, reject });
      // At the end of the turn, so that messages of one turn are sent together.
      if (topic.waiting.length === 1 && !topic.isBusy) {
        topic.isBusy = true;
        setImmediate(() => void this.#work(message.topic, topic));
      }
    });
  }

  close(): void {
    this.#ended.abort();
    this.#retire();
  }

  async #work(name: string, topic: Topic): Promise<void> {
    while (topic.waiting.length > 0) {
      const batch = createBatch(name, topic.waiting);
      topic.waiting = topic.waiting.slice(batch.queued.length);
      if (await this.#deliver(batch)) continue;
      for (const each of topic.waiting) each.reject(new ConnectionRetired());
      topic.waiting = [];
    }
    this.#topics.delete(name);
    this.#disconnectWhenIdle();
  }

  /** Returns false if the outcome is unknown: no other batch of the topic may follow on this connection. */
  async #deliver(batch: TopicBatch): Promise<boolean> {
    try {
      batch.acknowledge(await this.#sent(batch));
      return true;
    } catch (error) {
      if (!isRefusal(error)) {
        // Its numbers may be used up: brokers would take another batch with them for this one, and drop it.
        this.#retire();
        batch.fail(error);
        return false;
      }
      if (batch.queued.length === 1) batch.fail(error);
      else return this.#deliverEach(batch);
      return true;
    }
  }

  /** Delivers each by itself: a refused message does not affect the others. */
  async #deliverEach({ topic, queued }: TopicBatch): Promise<boolean> {
    for (const [i, each] of queued.entries()) {
      if (await this.#deliver(createBatch(topic, [each]))) continue;
      for (const later of queued.slice(i + 1)) later.reject(new ConnectionRetired());
      return false;
    }
    return true;
  }

  /** The same batch, as often as there is time. */
  async #sent({ topic, messages }: TopicBatch) {
    const since = performance.now();
    for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most)) {
      try {
        return await this.#send(topic, messages);
      } catch (error) {
        const waited = performance.now() - since + pauseMs;
        if (isUnknownTopic(error) && waited > UNKNOWN_TOPIC_MS) throw new TopicUnknown(topic, { cause: error });
        if (isRefusal(error) || this.#ended.signal.aborted || waited > DELIVERY_MS) throw error;
      }
      await pause(pauseMs, undefined, { signal: this.#ended.signal });
    }
  }

  #send(topic: string, messages: Message[]) {
    return this.#producer.sendBatch({ acks: -1, timeout: REQUEST_TIMEOUT_MS, topicMessages: [{ topic, messages }] });
  }

  /** Retires the connection: later messages use another. */
  #retire(): void {
    this.#isRetired = true;
    this.#retired.resolve();
    this.#disconnectWhenIdle();
  }

  #disconnectWhenIdle(): void {
    if (this.#isRetired && this.#topics.size === 0) this.#producer.disconnect().catch(() => {});
  }
}
