/** Output to a client: written while it reads, queued in order up to a limit while it does not. */

import type { DirectionFigures } from '../../../kit.ts';
import type { Channel } from './channel.ts';
import type { Frames, FramesReader } from './frames.ts';
import type { Lag } from './subscription-settings.ts';

/** Bytes that are written at once: the rest of long frames stays in memory that clients share. */
const PIECE = 64 << 10;

type Sink = Pick<Channel, 'sink' | 'inPieces'>;

export class Outbox {
  readonly #sink: Channel['sink'];
  readonly #piece: number;
  readonly #maxLag: Lag;
  readonly #reader: FramesReader;
  readonly #figures: DirectionFigures | null;
  #kept: Frames[] = [];
  #lag = { messages: 0, bytes: 0 };
  /** Earlier output that the client has yet to read. */
  #unread: Frames[] = [];
  /** The rest of the last of them, which is not written yet. */
  #rest: Buffer | null = null;
  /** The client has yet to read earlier output. */
  #full = false;
  /** Time at which output began to wait, on the monotonic clock. */
  #fullSince = 0;
  /** New output waits until something else has been written. */
  #held = false;
  #closed = false;
  readonly #drained = new Set<() => void>();
  messages = 0;
  bytes = 0;

  /** `reader`: frames count for it while they wait. `figures`: counts the output, too. */
  constructor({ sink, inPieces }: Sink, maxLag: Lag, reader: FramesReader, figures: DirectionFigures | null = null) {
    this.#sink = sink;
    this.#piece = inPieces ? PIECE : Number.POSITIVE_INFINITY;
    this.#maxLag = maxLag;
    this.#reader = reader;
    this.#figures = figures;
    sink.on('drain', () => this.#goOn());
  }

  /** True if no output waits for the client. */
  get isEmpty(): boolean {
    return !this.#full && !this.#held && this.#kept.length === 0;
  }

  /** How fast the client reads what waits for it: bytes a millisecond. */
  rate(now: number): number {
    const waiting = this.#unread.reduce((sum, { bytes }) => sum + bytes.length, this.#lag.bytes);
    return waiting / Math.max(1, now - this.#fullSince);
  }

  /** Returns false if more waits than may, or there is no room for it. */
  offer(frames: Frames): boolean {
    if (this.#closed) return true;
    if (!this.#full && !this.#held) {
      this.#put(frames);
      return true;
    }
    this.#kept.push(frames);
    this.#lag.messages += frames.messages;
    this.#lag.bytes += frames.bytes.length;
    if (this.#lag.messages > this.#maxLag.messages || this.#lag.bytes > this.#maxLag.bytes) return false;
    return frames.waitFor(this.#reader);
  }

  /** Writes before all queued output; resolves when the client wants more, or the outbox is closed. */
  async write(frames: Frames): Promise<void> {
    if (this.#full) await this.#readable();
    if (this.#closed) return;
    this.#put(frames);
    await this.#readable();
  }

  /** Resolves when the client has read earlier output, or the outbox is closed. */
  async #readable(): Promise<void> {
    if (this.#full && !this.#closed) await new Promise<void>((resolve) => this.#drained.add(resolve));
  }

  /** Keeps new output until it is released, or dropped. */
  hold(): void {
    this.#held = true;
    if (!this.#full) this.#fullSince = performance.now();
  }

  release(): void {
    this.#held = false;
    this.#flush();
  }

  forget(): void {
    this.#held = false;
    const kept = this.#kept;
    this.#kept = [];
    this.#lag = { messages: 0, bytes: 0 };
    for (const frames of kept) frames.leave(this.#reader);
  }

  /** Stops writing; earlier output waits for the client. */
  close(): void {
    this.#closed = true;
    if (this.#rest !== null) this.#sink.write(this.#rest);
    this.#rest = null;
    this.forget();
    this.#wake();
  }

  /** Stops writing; nothing waits for the client any longer. */
  drop(): void {
    this.#rest = null;
    this.close();
    this.#forgetUnread();
  }

  #put(frames: Frames): void {
    const { bytes, messages } = frames;
    this.messages += messages;
    this.bytes += bytes.length;
    if (this.#figures !== null) {
      this.#figures.messages += messages;
      this.#figures.bytes += bytes.length;
    }
    if (this.#push(bytes)) return frames.leave(this.#reader);
    this.#full = true;
    this.#fullSince = performance.now();
    this.#unread.push(frames);
    if (!frames.waitFor(this.#reader)) this.#reader.cut();
  }

  /** Returns false if the client has yet to read a part. */
  #push(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; at += this.#piece) {
      const end = Math.min(bytes.length, at + this.#piece);
      if (this.#sink.write(bytes.subarray(at, end))) continue;
      this.#rest = end < bytes.length ? bytes.subarray(end) : null;
      return false;
    }
    return true;
  }

  #goOn(): void {
    const rest = this.#rest;
    this.#rest = null;
    if (rest !== null && !this.#push(rest)) return;
    this.#full = false;
    this.#forgetUnread();
    this.#wake();
    if (!this.#held) this.#flush();
  }

  #forgetUnread(): void {
    const unread = this.#unread;
    this.#unread = [];
    for (const frames of unread) frames.leave(this.#reader);
  }

  #flush(): void {
    let next = 0;
    for (; next < this.#kept.length && !this.#full; next++) this.#put(this.#kept[next] as Frames);
    for (const { messages, bytes } of this.#kept.splice(0, next)) {
      this.#lag.messages -= messages;
      this.#lag.bytes -= bytes.length;
    }
  }

  #wake(): void {
    const drained = [...this.#drained];
    this.#drained.clear();
    for (const each of drained) each();
  }
}
