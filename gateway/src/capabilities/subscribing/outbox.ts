/** Output to a client: written while it reads, queued in order up to a limit while it does not. */
import type { Writable } from 'node:stream';
import type { DirectionFigures } from '../../web-socket-figures.ts';
import type { Frames } from './live-batch.ts';
import type { Lag } from './subscription-settings.ts';

export class Outbox {
  readonly #sink: Writable;
  readonly #maxLag: Lag;
  readonly #figures: DirectionFigures | null;
  #kept: Frames[] = [];
  #lag = { messages: 0, bytes: 0 };
  /** The client has yet to read earlier output. */
  #full = false;
  /** New output waits until something else has been written. */
  #held = false;
  #closed = false;
  readonly #drained = new Set<() => void>();
  messages = 0;
  bytes = 0;

  /** `figures`: counts the output, too. */
  constructor(sink: Writable, maxLag: Lag, figures: DirectionFigures | null = null) {
    this.#sink = sink;
    this.#maxLag = maxLag;
    this.#figures = figures;
    sink.on('drain', () => this.#goOn());
  }

  /** True if no output waits for the client. */
  get isEmpty(): boolean {
    return !this.#full && !this.#held && this.#kept.length === 0;
  }

  /** Returns false if more waits than may. */
  offer(frames: Frames): boolean {
    if (this.#closed) return true;
    if (!this.#full && !this.#held) {
      this.#put(frames);
      return true;
    }
    this.#kept.push(frames);
    this.#lag.messages += frames.messages;
    this.#lag.bytes += frames.bytes.length;
    return this.#lag.messages <= this.#maxLag.messages && this.#lag.bytes <= this.#maxLag.bytes;
  }

  /** Writes before all queued output; resolves when the client wants more, or the outbox is closed. */
  async write(frames: Frames): Promise<void> {
    if (this.#closed) return;
    this.#put(frames);
    if (this.#full) await new Promise<void>((resolve) => this.#drained.add(resolve));
  }

  /** Keeps new output until it is released, or dropped. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#flush();
  }

  forget(): void {
    this.#held = false;
    this.#kept = [];
    this.#lag = { messages: 0, bytes: 0 };
  }

  /** Stops writing. */
  close(): void {
    this.#closed = true;
    this.forget();
    this.#wake();
  }

  #put({ bytes, messages }: Frames): void {
    this.messages += messages;
    this.bytes += bytes.length;
    if (this.#figures !== null) {
      this.#figures.messages += messages;
      this.#figures.bytes += bytes.length;
    }
    if (!this.#sink.write(bytes)) this.#full = true;
  }

  #goOn(): void {
    this.#full = false;
    this.#wake();
    if (!this.#held) this.#flush();
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
