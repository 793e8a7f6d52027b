/** Reads a topic with one reader after another: a lost reader is replaced by one that resumes at its position. */
import { setTimeout as pause } from 'node:timers/promises';
import { EgressRefused, firstLineOf, type Outage } from '../../../kit.ts';
import { ConnectionRefused } from '../publishing/kept-connection.ts';
import type { Position } from './position.ts';
import { SubscribeError } from './subscribe-error.ts';
import type { LiveReader, MessageBatch, TopicSource } from './topic-source.ts';

export interface Reading {
  /** Position at which the next reader begins; null: with new messages. */
  readonly position: Position | null;
  began(reader: LiveReader): void;
  deliver(batch: MessageBatch): void;
}

interface Waiting {
  resolve(): void;
  reject(error: SubscribeError): void;
}

const PAUSE_MS = { first: 100, most: 2_000 };

export class ReaderLoop {
  readonly #source: TopicSource;
  readonly #reading: Reading;
  readonly #outage: Outage;
  readonly #ended = new AbortController();
  readonly #waiting = new Set<Waiting>();
  #isLive = false;
  /** The latest reader has delivered something. */
  #hasRead = false;
  /** Error of the last attempt; null if it succeeded, or was the first. */
  #failure: unknown = null;

  constructor(source: TopicSource, reading: Reading, outage: Outage) {
    this.#source = source;
    this.#reading = reading;
    this.#outage = outage;
    void this.#run();
  }

  /** Resolves when it reads; rejects with SubscribeError, at the latest after the time. */
  ready(withinMs: number): Promise<void> {
    if (this.#isLive) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => waiting.reject(this.#error()), withinMs);
      const settle = () => {
        clearTimeout(late);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        resolve: () => {
          settle();
          resolve();
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  close(): void {
    this.#ended.abort();
    for (const each of [...this.#waiting]) each.reject(new SubscribeError('failed', 'the gateway is stopping'));
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    let pauseMs = PAUSE_MS.first;
    while (!signal.aborted) {
      try {
        await this.#read(signal);
        pauseMs = PAUSE_MS.first;
      } catch (error) {
        if (signal.aborted) return;
        // A connection alone is not a success: otherwise unreadable messages would be requested again at once, forever.
        if (this.#hasRead) pauseMs = PAUSE_MS.first;
        this.#lost(error);
        await pause(pauseMs, undefined, { signal }).catch(() => {});
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS.most);
      }
    }
  }

  /** Reads with one reader, to its end. */
  async #read(signal: AbortSignal): Promise<void> {
    this.#hasRead = false;
    const reader = await this.#source.open(this.#reading.position);
    if (signal.aborted) return reader.close();
    const end = () => reader.close();
    signal.addEventListener('abort', end, { once: true });
    this.#began(reader);
    try {
      await reader.ended;
    } finally {
      signal.removeEventListener('abort', end);
      reader.close();
    }
  }

  #began(reader: LiveReader): void {
    this.#failure = null;
    this.#outage.succeeded();
    this.#isLive = true;
    this.#reading.began(reader);
    reader.start((batch) => {
      this.#hasRead = true;
      if (!this.#ended.signal.aborted) this.#reading.deliver(batch);
    });
    for (const each of [...this.#waiting]) each.resolve();
  }

  #lost(error: unknown): void {
    this.#isLive = false;
    this.#failure = error;
    this.#outage.failed(firstLineOf(error));
    // The next attempt would fail in the same way, so waiting callers get the error now.
    if (!(error instanceof ConnectionRefused || error instanceof EgressRefused)) return;
    for (const each of [...this.#waiting]) each.reject(this.#error());
  }

  #error(): SubscribeError {
    const { name } = this.#source;
    if (this.#failure === null) return new SubscribeError('timeout', `${name}: not connected in time`);
    return new SubscribeError('failed', `${name}: ${firstLineOf(this.#failure)}`, { cause: this.#failure });
  }
}
