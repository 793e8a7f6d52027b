/** Reads a topic of Kafka as messages come: a request to each broker that leads some of its partitions. */
import type { Position } from '../subscribing/position.ts';
import type { Gap, LiveReader, MessageBatch } from '../subscribing/topic-source.ts';
import type { KafkaTopic } from './kafka-topic.ts';

/** Brokers answer a connection's requests one after another: others wait as long. */
const LIMITS = { waitMs: 2_000, bytes: 4 << 20 };
/** Milliseconds between looks for other leaders and more partitions. */
const REFRESH_MS = 30_000;

export class KafkaReader implements LiveReader {
  readonly gaps: readonly Gap[];
  readonly ended: Promise<void>;
  readonly #topic: KafkaTopic;
  readonly #end = Promise.withResolvers<void>();
  readonly #leaders: ReadonlyMap<number, readonly number[]>;
  #position: Position;
  #closed = false;
  #refreshAt = performance.now() + REFRESH_MS;

  private constructor(topic: KafkaTopic, position: Position, gaps: readonly Gap[]) {
    this.#topic = topic;
    this.#position = position;
    this.#leaders = topic.leaders();
    this.gaps = gaps;
    this.ended = this.#end.promise;
    // Rejections reach those that wait for the end; waiting is optional.
    this.ended.catch(() => {});
  }

  /** Opens a reader at the end of the topic, or at the position. */
  static async open(topic: KafkaTopic, from: Position | null): Promise<KafkaReader> {
    try {
      if (from === null) return new KafkaReader(topic, await topic.latest(), []);
      const { position, gaps } = await topic.clamp(from);
      return new KafkaReader(topic, position, gaps);
    } catch (error) {
      topic.close();
      throw error;
    }
  }

  get position(): Position {
    return this.#position;
  }

  start(deliver: (batch: MessageBatch) => void): void {
    for (const [nodeId, partitions] of this.#leaders) {
      this.#follow(nodeId, partitions, deliver).catch((error: unknown) => this.#stop(() => this.#end.reject(error)));
    }
  }

  close(): void {
    this.#stop(() => this.#end.resolve());
  }

  async #follow(nodeId: number, partitions: readonly number[], deliver: (batch: MessageBatch) => void): Promise<void> {
    while (!this.#closed) {
      const fetched = await this.#topic.fetch(nodeId, partitions, this.#position, LIMITS);
      if (this.#closed) return;
      const position = [...this.#position];
      for (const partition of partitions) position[partition] = fetched.position[partition] ?? 0;
      const moved = partitions.some((partition) => position[partition] !== this.#position[partition]);
      this.#position = position;
      if (moved) deliver({ ...fetched, position });
      if (performance.now() >= this.#refreshAt) await this.#refresh();
    }
  }

  /** Another reader takes over if partitions have other leaders, or their number grows. */
  async #refresh(): Promise<void> {
    this.#refreshAt = performance.now() + REFRESH_MS;
    const before = JSON.stringify([...this.#leaders]);
    await this.#topic.refresh();
    if (JSON.stringify([...this.#topic.leaders()]) !== before) this.close();
  }

  #stop(settle: () => void): void {
    if (this.#closed) return;
    this.#closed = true;
    settle();
    this.#topic.close();
  }
}
