/**
 * Bytes of responses that wait for their clients, in the budget of held responses
 * (docs/decisions.md#responses-that-wait).
 */
import type { Writable } from 'node:stream';
import type { Exchange } from '../exchange.ts';
import type { BufferBudget, Evictable, Holding } from '../memory/buffer-budget.ts';

/** Bytes of a body up to which it is copied behind the head, so that both are one write. */
export const ONE_PIECE = 4096;
/** Bytes that a full response takes beside those in its sink: of its source, which has to pause. */
const PAUSED_SOURCE = 128 << 10;
/** Bytes of a response that has been sent and that its client does not take: its stream, and the request. */
const SENT = 12 << 10;

/** The response to a request. */
export interface SlowlyRead {
  readonly exchange: Exchange | null;
  /** Ends it: its client does not read. */
  cutOff(): void;
}

export class UnreadResponses {
  readonly #budget: BufferBudget;
  /** How many open responses send the memory behind a body: it is held once. */
  readonly #senders = new WeakMap<ArrayBufferLike, number>();

  constructor(budget: BufferBudget) {
    this.#budget = budget;
  }

  of(response: SlowlyRead): UnreadResponse {
    return new UnreadResponse(response, this.#budget, this.#senders);
  }
}

/** One response that its client has not taken whole. */
export class UnreadResponse implements Evictable {
  readonly #response: SlowlyRead;
  readonly #budget: BufferBudget;
  readonly #senders: WeakMap<ArrayBufferLike, number>;
  readonly #since = performance.now();
  #held: Holding | null = null;
  #body: ArrayBufferLike | null = null;
  /** A look at the sink is due. */
  #looks = false;
  #awaitsDrain = false;
  #ended = false;

  constructor(response: SlowlyRead, budget: BufferBudget, senders: WeakMap<ArrayBufferLike, number>) {
    this.#response = response;
    this.#budget = budget;
    this.#senders = senders;
  }

  /** Counts a whole body until `release`, whatever pieces it leaves in. Returns false if there is no room for it. */
  sends(body: Uint8Array): boolean {
    if (this.#body !== null) return true;
    const others = this.#senders.get(body.buffer) ?? 0;
    if (!this.#holding().take(SENT + (others > 0 ? 0 : body.length))) return false;
    this.#body = body.buffer;
    this.#senders.set(body.buffer, others + 1);
    return true;
  }

  /** Counts a response that has been sent, and is not taken. Returns false if there is no room for it. */
  stalls(): boolean {
    return this.#holdsAtLeast(SENT);
  }

  /**
   * Counts a full sink, with its source, from the next turn until it has drained: a client that reads has emptied it by
   * then. Cuts the response off if there is no room.
   */
  isFull(sink: Writable): void {
    if (this.#body !== null || this.#looks) return;
    this.#looks = true;
    setImmediate(() => {
      this.#looks = false;
      if (this.#ended || !sink.writableNeedDrain || this.#body !== null) return;
      if (!this.#awaitsDrain) sink.once('drain', () => this.#drained());
      this.#awaitsDrain = true;
      if (!this.#holdsAtLeast(PAUSED_SOURCE + sink.writableLength)) this.#response.cutOff();
    });
  }

  /** The response has ended. */
  end(): void {
    this.#ended = true;
    this.release();
  }

  /** Nothing waits at present. */
  release(): void {
    this.#held?.release();
    this.#held = null;
    if (this.#body === null) return;
    this.#senders.set(this.#body, (this.#senders.get(this.#body) ?? 1) - 1);
    this.#body = null;
  }

  #drained(): void {
    this.#awaitsDrain = false;
    if (this.#body === null) this.release();
  }

  #holdsAtLeast(bytes: number): boolean {
    const held = this.#holding();
    return bytes <= held.bytes || held.take(bytes - held.bytes);
  }

  #holding(): Holding {
    if (this.#held !== null) return this.#held;
    const held = this.#budget.hold(this.#response.exchange?.clientIp ?? '');
    held.evictable = this;
    this.#held = held;
    return held;
  }

  /** The one that is read most slowly ends first. */
  rate(now: number): number {
    return (this.#held?.bytes ?? 0) / Math.max(1, now - this.#since);
  }

  evict(): void {
    this.release();
    this.#response.cutOff();
  }
}

/** Returns a body that is long, as bytes; null if it is short, or none. */
export function longBody(body: unknown): Uint8Array | null {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return null;
  if (body.length <= ONE_PIECE) return null;
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** Calls `full` after each write that leaves the sink full, and `ends` before a long body ends it. */
export function watchWrites(sink: Writable, full: () => void, ends: (body: Uint8Array) => void): void {
  const { write, end } = sink;
  sink.write = (...args: unknown[]) => {
    const goesOn: boolean = Reflect.apply(write, sink, args);
    if (!goesOn && !sink.destroyed) full();
    return goesOn;
  };
  sink.end = (...args: unknown[]) => {
    const long = longBody(args[0]);
    if (long === null) return Reflect.apply(end, sink, args);
    ends(long);
    return sink.destroyed ? sink : Reflect.apply(end, sink, [long]);
  };
}
