/**
 * An idempotent producer of Kafka. A topic has one batch under way at a time, and later messages form the next: a batch
 * that is sent again has the numbers that it had first, by which brokers recognise it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { EgressGuard } from '../../../kit.ts';
import type { Connection } from '../publishing/kept-connection.ts';
import { fitting, type Queued } from './batch.ts';
import { KafkaCluster } from './kafka-cluster.ts';
import { throwIfError } from './kafka-error.ts';
import { isRefusal, isUnknownTopic, TopicUnknown } from './kafka-failures.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';
import type { KafkaBrokers } from './kafka-settings.ts';
import { Partitioner } from './partitioner.ts';
import { INIT_PRODUCER_ID, PRODUCE, type ProducedBatch, type ProducerId, type RecordBatch } from './protocol.ts';
import { batchOf } from './record-writer.ts';
import type { VettedConnection } from './vetted-connection.ts';

/** Milliseconds in which a batch is sent again. After that it is not known whether it is in the log. */
const DELIVERY_MS = 120_000;
const PAUSE_MS = { first: 100, most: 2_000 };
/** Milliseconds in which a topic that is not known may be made, by brokers that make topics on use. */
const UNKNOWN_TOPIC_MS = 3_000;
/** Milliseconds that a broker waits for its replicas, a little less than the answer is waited for. */
const REPLICAS_MS = 9_000;

/**
 * The message waited for another batch whose numbers may be used up: it was not sent, and may go over another
 * connection.
 */
export class ConnectionRetired extends Error {}

interface Topic {
  waiting: Queued[];
  isBusy: boolean;
}

/** Batches that go to a broker together. */
interface Request {
  readonly batches: RecordBatch[];
  readonly produced: Promise<readonly ProducedBatch[]>;
}

export class KafkaProducer implements Connection {
  readonly closed: Promise<void>;
  readonly #cluster: KafkaCluster;
  readonly #producer: ProducerId;
  readonly #partitioner = new Partitioner();
  /** Numbers of the next messages, by `topic:partition`. */
  readonly #sequences = new Map<string, number>();
  /** Those of this turn. */
  readonly #requests = new Map<VettedConnection, Request>();
  readonly #topics = new Map<string, Topic>();
  readonly #retired = Promise.withResolvers<void>();
  readonly #ended = new AbortController();
  #isRetired = false;

  private constructor(cluster: KafkaCluster, producer: ProducerId) {
    this.#cluster = cluster;
    this.#producer = producer;
    this.closed = this.#retired.promise;
  }

  /** Rejects if no broker accepts it. */
  static async open(brokers: KafkaBrokers, guard: EgressGuard): Promise<KafkaProducer> {
    const cluster = await KafkaCluster.open(brokers, guard);
    try {
      const connection = await cluster.any();
      return new KafkaProducer(cluster, await connection.request(INIT_PRODUCER_ID, null));
    } catch (error) {
      cluster.close();
      throw error;
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
      const batch = topic.waiting.slice(0, fitting(topic.waiting));
      topic.waiting = topic.waiting.slice(batch.length);
      if (await this.#deliver(name, batch)) continue;
      for (const each of topic.waiting) each.reject(new ConnectionRetired());
      topic.waiting = [];
    }
    this.#topics.delete(name);
    this.#disconnectWhenIdle();
  }

  /** Returns false if an outcome is unknown: no other batch of the topic may follow on this connection. */
  async #deliver(topic: string, batch: readonly Queued[]): Promise<boolean> {
    try {
      const partitions = await this.#insist(topic, () => this.#cluster.partitions(topic));
      const choose = this.#partitioner.forBatch(partitions);
      const parts = [...Map.groupBy(batch, ({ message }) => choose(message.key))];
      const delivered = await Promise.all(
        parts.map(([partition, queued]) => this.#deliverTo(topic, partition, queued)),
      );
      return !delivered.includes(false);
    } catch (error) {
      return this.#fail(batch, error);
    }
  }

  async #deliverTo(topic: string, partition: number, queued: readonly Queued[]): Promise<boolean> {
    const key = `${topic}:${partition}`;
    const sequence = this.#sequences.get(key) ?? 0;
    const messages = queued.map(({ message }) => message);
    const bytes = batchOf(messages, this.#producer, sequence, Date.now());
    try {
      const first = await this.#insist(topic, () => this.#produce({ topic, partition, bytes }));
      this.#sequences.set(key, (sequence + queued.length) & 0x7fffffff);
      for (const [i, { resolve }] of queued.entries()) resolve({ partition, offset: first < 0 ? -1 : first + i });
      return true;
    } catch (error) {
      const isMixed = isRefusal(error) && queued.length > 1;
      return isMixed ? this.#deliverEach(topic, partition, queued) : this.#fail(queued, error);
    }
  }

  /** Delivers each by itself: a refused message does not affect the others. */
  async #deliverEach(topic: string, partition: number, queued: readonly Queued[]): Promise<boolean> {
    for (const [i, each] of queued.entries()) {
      if (await this.#deliverTo(topic, partition, [each])) continue;
      for (const later of queued.slice(i + 1)) later.reject(new ConnectionRetired());
      return false;
    }
    return true;
  }

  #fail(queued: readonly Queued[], error: unknown): boolean {
    const isKnown = isRefusal(error);
    // Their numbers may be used up: brokers would take another batch with them for this one, and drop it.
    if (!isKnown) this.#retire();
    for (const each of queued) each.reject(error);
    return isKnown;
  }

  /** Tries as often as there is time. */
  async #insist<T>(topic: string, attempt: () => Promise<T>): Promise<T> {
    const since = performance.now();
    for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most)) {
      try {
        return await attempt();
      } catch (error) {
        const waited = performance.now() - since + pauseMs;
        if (isUnknownTopic(error) && waited > UNKNOWN_TOPIC_MS) throw new TopicUnknown(topic, { cause: error });
        if (isRefusal(error) || this.#ended.signal.aborted || waited > DELIVERY_MS) throw error;
        this.#cluster.forget(topic);
      }
      await pause(pauseMs, undefined, { signal: this.#ended.signal });
    }
  }

  /** Returns the offset of the first message of the batch; negative: the broker does not say. */
  async #produce(batch: RecordBatch): Promise<number> {
    const { topic, partition } = batch;
    const produced = await this.#send(await this.#cluster.leader(topic, partition), batch);
    const answer = produced.find((each) => each.topic === topic && each.partition === partition);
    if (answer === undefined) throw new Error(`partition ${partition} did not acknowledge`);
    throwIfError(answer.error);
    return answer.offset;
  }

  /** Sends the batches of one turn that go to a broker in one request: it answers one request after another. */
  #send(connection: VettedConnection, batch: RecordBatch): Promise<readonly ProducedBatch[]> {
    const open = this.#requests.get(connection);
    if (open !== undefined) {
      open.batches.push(batch);
      return open.produced;
    }
    const batches = [batch];
    const turn = new Promise<void>((resolve) => setImmediate(resolve));
    const produced = turn.then(() => {
      this.#requests.delete(connection);
      return connection.request(PRODUCE, { waitMs: REPLICAS_MS, batches });
    });
    this.#requests.set(connection, { batches, produced });
    return produced;
  }

  /** Retires the connection: later messages use another. */
  #retire(): void {
    this.#isRetired = true;
    this.#retired.resolve();
    this.#disconnectWhenIdle();
  }

  #disconnectWhenIdle(): void {
    if (this.#isRetired && this.#topics.size === 0) this.#cluster.close();
  }
}
