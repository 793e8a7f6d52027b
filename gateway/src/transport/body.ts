/** A request's body as it arrives: counted, held to the limit, and read only when someone wants it. */
import { Readable } from 'node:stream';
import type { BodyCopy } from '../exchange.ts';
import { streamed } from '../memory/collect-chunks.ts';
import { NO_SLOT } from '../memory/slots.ts';
import { atEndOfTick } from '../scheduling/end-of-tick.ts';
import { ByteCollector, SMALL_PIECE } from '../streams/byte-collector.ts';
import type { StallDetector, WatchedClient } from './stall-detector.ts';

/** The body grew past `--max-body-size`, or past a plugin's limit, while it streamed. */
export class BodyTooLarge extends Error {
  readonly received: number;
  /** A plugin's limit; null if it is that of `--max-body-size`. */
  readonly limit: number | null;
  constructor(received: number, limit: number | null) {
    super('the request body is larger than the limit');
    this.received = received;
    this.limit = limit;
  }
}

/** Where the bytes of a body come from: an HTTP/1.1 connection, or an HTTP/2 stream. */
export interface BodySource {
  /** Begins to pass what arrives, and has arrived, to the body. Called once. */
  begin(body: IncomingBody): void;
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
  /** Returns the body if it has arrived whole, has at most so many bytes, and has not begun; null otherwise. */
  takeWhole(most: number): Uint8Array | null;
}

/** Returns an HTTP/2 stream as the source of a body. */
export function sourceOf(stream: Readable): BodySource {
  return {
    begin: (body) => {
      stream.on('data', (chunk: Buffer) => body.arrived(chunk));
      stream.on('end', () => body.ended());
      stream.on('error', (error) => body.destroy(error));
      stream.on('close', () => {
        if (!stream.readableEnded) body.brokeOff();
      });
    },
    get isPaused() {
      return stream.isPaused();
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    takeWhole: () => null,
  };
}

/** The response to the request that the body belongs to. */
export interface BodyOwner {
  /** The body is wanted: the place for `100 Continue`. */
  bodyWanted(): void;
  /** The client sends too slowly: answers with 408 unless an answer has begun. */
  bodyTooSlow(): void;
}

/** Bytes of small pieces that are put together. */
const JOINED = 16 << 10;

export interface BodyLimits {
  /** Bytes. */
  readonly maxBodySize: number;
  readonly slowSenders: StallDetector;
}

/**
 * Stands between the connection and the reader of the body, so that an upstream that answers early or fails does not
 * tear down the client's connection. Sends `100 Continue` on the first read, if the client waits for it.
 */
export class IncomingBody extends Readable implements WatchedClient {
  readonly #source: BodySource;
  readonly #owner: BodyOwner;
  readonly #limits: BodyLimits;
  received = 0;
  limit = Number.POSITIVE_INFINITY;
  progressAt = 0;
  slot = NO_SLOT;
  #copies: BodyCopy[] | null = null;
  #started = false;
  #isTaken = false;
  /** Small pieces of this turn. */
  readonly #small = new ByteCollector();

  constructor(source: BodySource, owner: BodyOwner, limits: BodyLimits) {
    super({ highWaterMark: 64 << 10 });
    this.#source = source;
    this.#owner = owner;
    this.#limits = limits;
    // The reader has its own listener, but may not have attached it yet, or have left, when the body breaks off.
    this.on('error', ignore);
  }

  get waitsForClient(): boolean {
    return !this.#source.isPaused;
  }

  get isRead(): boolean {
    return this.#isTaken || this.readableEnded;
  }

  takeWhole(): Uint8Array | null {
    if (this.#started || this.#copies !== null || this.destroyed) return null;
    const whole = this.#source.takeWhole(Math.min(this.limit, this.#limits.maxBodySize));
    if (whole === null) return null;
    this.#started = true;
    this.#isTaken = true;
    this.received = whole.length;
    this.#owner.bodyWanted();
    return whole;
  }

  limitTo(bytes: number): void {
    this.limit = Math.min(this.limit, bytes);
  }

  copyTo(copy: BodyCopy): void {
    this.#copies ??= [];
    this.#copies.push(copy);
  }

  cutOff(): void {
    this.#owner.bodyTooSlow();
    this.destroy(new Error('the request body did not arrive in time'));
  }

  #start(): void {
    this.#started = true;
    this.#owner.bodyWanted();
    this.progressAt = performance.now();
    this.#limits.slowSenders.add(this);
    this.#source.begin(this);
  }

  /** For its source: bytes have arrived. */
  arrived(chunk: Uint8Array): void {
    if (this.destroyed) return;
    this.progressAt = performance.now();
    this.received += chunk.length;
    streamed(chunk.length);
    if (this.received > Math.min(this.limit, this.#limits.maxBodySize)) {
      this.#source.pause();
      const ours = this.received > this.#limits.maxBodySize;
      this.destroy(new BodyTooLarge(this.received, ours ? null : this.limit));
      return;
    }
    if (this.#copies !== null) for (const copy of this.#copies) copy.chunk(chunk);
    if (chunk.length < SMALL_PIECE) this.#join(chunk);
    else {
      this.#flush();
      if (!this.push(chunk)) this.#source.pause();
    }
  }

  /** For its source: the body is whole. */
  ended(): void {
    if (this.destroyed) return;
    this.#limits.slowSenders.delete(this);
    this.#flush();
    if (this.#copies !== null) for (const copy of this.#copies) copy.whole();
    this.push(null);
  }

  /** For its source: no more of it will come. */
  brokeOff(): void {
    this.destroy(new Error('the client went away'));
  }

  /** Keeps a small piece until the turn ends, or enough of them are there. */
  #join(chunk: Uint8Array): void {
    if (this.#small.length === 0) atEndOfTick(() => this.#flush());
    this.#small.add(chunk);
    if (this.#small.length >= JOINED) this.#flush();
  }

  #flush(): void {
    if (this.#small.length === 0 || this.destroyed) return;
    if (!this.push(this.#small.takeWhole())) this.#source.pause();
  }

  override _read(): void {
    if (!this.#started) this.#start();
    else if (this.#source.isPaused) {
      this.progressAt = performance.now();
      this.#source.resume();
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#limits.slowSenders.delete(this);
    done(error);
  }
}

function ignore(): void {}
