/**
 * A topic of a broker as a process reads it: once, for all clients that stream it. Reading begins with the first and ends
 * a while after the last.
 */

import { CircuitBreaker, type FairQueue, Outage } from '../../../kit.ts';
import type { PublisherLog } from '../publishing/publisher.ts';
import { LiveBatch } from './live-batch.ts';
import type { Position } from './position.ts';
import { ReaderLoop, type Reading } from './reader-loop.ts';
import { SubscribeError } from './subscribe-error.ts';
import type { LiveReader, MessageBatch, TopicSource } from './topic-source.ts';

/** A client of a topic's live messages. Never throws. */
export interface LiveClient {
  take(batch: LiveBatch): void;
}

export interface TopicOptions {
  readonly log: PublisherLog;
  /** Turns of reading earlier messages, over all topics. */
  readonly turns: FairQueue;
  /** It has ended. */
  ended(): void;
}

const BREAKER = { failures: 5, cooldownMs: 5_000 };
/** Milliseconds for which a topic without clients is read on, for those that come back. */
const LINGER_MS = 10_000;

export class Topic implements Reading {
  readonly source: TopicSource;
  readonly turns: FairQueue;
  readonly #ended: () => void;
  readonly #outage: Outage;
  readonly #breaker = new CircuitBreaker(BREAKER);
  readonly #clients = new Set<LiveClient>();
  readonly #awaited = new Set<() => void>();
  /** Streams that are open or about to be. */
  #holders = 0;
  #position: Position | null = null;
  #loop: ReaderLoop | null = null;
  #lingering: NodeJS.Timeout | null = null;

  constructor(source: TopicSource, { log, turns, ended }: TopicOptions) {
    this.source = source;
    this.turns = turns;
    this.#ended = ended;
    this.#outage = new Outage(source.name, log);
  }

  /** Position of clients that have all messages; null if the broker numbers no messages. */
  get position(): Position | null {
    return this.#position;
  }

  /** The position as an id of events; null if the broker numbers no messages. */
  get id(): string | null {
    return this.#position && this.source.format(this.#position);
  }

  /**
   * Resolves once the topic is read, which goes on until the returned function is called. Rejects with SubscribeError.
   */
  async hold(timeoutMs: number): Promise<() => void> {
    this.#holders++;
    this.#stopLingering();
    const release = once(() => {
      this.#holders--;
      if (this.#holders === 0) this.#lingering = setTimeout(() => this.end(), LINGER_MS).unref();
    });
    try {
      await this.#ready(timeoutMs);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  async #ready(timeoutMs: number): Promise<void> {
    if (!this.#breaker.admits()) {
      const retryAfter = this.#breaker.retryAfter();
      throw new SubscribeError('unavailable', `${this.source.name}: the circuit breaker is open`, { retryAfter });
    }
    this.#loop ??= new ReaderLoop(this.source, this, this.#outage);
    try {
      await this.#loop.ready(timeoutMs);
      this.#breaker.succeeded();
    } catch (error) {
      this.#breaker.failed();
      throw error;
    }
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Ends the topic: it is no longer held, and cannot be. */
  end(): void {
    this.#stopLingering();
    this.#loop?.close();
    this.#wake();
    this.source.close();
    this.#ended();
  }

  /** Adds a client, which gets all messages read from now on. */
  join(client: LiveClient): void {
    this.#clients.add(client);
  }

  leave(client: LiveClient): void {
    this.#clients.delete(client);
  }

  /** Resolves when more has been read, or the topic ends. */
  moved(): Promise<void> {
    return new Promise((resolve) => this.#awaited.add(resolve));
  }

  began({ position, gaps }: LiveReader): void {
    if (gaps.length > 0) this.deliver({ messages: [], position, gaps });
    this.#position = position;
  }

  deliver(batch: MessageBatch): void {
    const live = new LiveBatch(batch, this.#position, (position) => this.source.format(position));
    this.#position = batch.position;
    for (const client of this.#clients) client.take(live);
    this.#wake();
  }

  #wake(): void {
    const awaited = [...this.#awaited];
    this.#awaited.clear();
    for (const each of awaited) each();
  }

  #stopLingering(): void {
    if (this.#lingering !== null) clearTimeout(this.#lingering);
    this.#lingering = null;
  }
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
