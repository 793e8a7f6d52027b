/**
 * Bodies that are on their way into memory: how fast they come, and for how long (docs/decisions.md#bodies-in-memory).
 */

import type { BodyStream } from '../exchange.ts';
import type { Evictable } from '../memory/buffer-budget.ts';
import { NO_SLOT, Slots } from '../memory/slots.ts';
import { type Problem, problem } from '../problems.ts';

/** Seconds over which a body's rate is taken. */
const WINDOW = 10;
const SECOND_MS = 1000;

/** The reason for which a body is not read further. */
export class BodyRefused extends Error {
  readonly problem: Problem;
  constructor(detail: string) {
    super(detail);
    this.problem = problem('request-timeout', detail);
  }
}

export interface ArrivalLimits {
  /** Bytes a second; 0: no limit. */
  readonly minBodyRate: number;
  /** Milliseconds until a body must be there; 0: no limit. */
  readonly bodyDeadlineMs: number;
}

export class ArrivingBodies {
  readonly #limits: ArrivalLimits;
  readonly #bodies = new Slots<ArrivingBody>();

  constructor(limits: ArrivalLimits) {
    this.#limits = limits;
  }

  /** `now`: as for `sweep`. */
  add(stream: BodyStream, now = performance.now()): ArrivingBody {
    const body = new ArrivingBody(stream, now);
    body.slot = this.#bodies.add(body);
    return body;
  }

  /** The body has arrived, or has stopped. */
  delete(body: ArrivingBody): void {
    this.#bodies.remove(body.slot, body);
  }

  /** Call it every second at least; `now` is on the monotonic clock. */
  sweep(now: number): void {
    for (const body of this.#bodies) {
      const refusal = body.judge(now, this.#limits);
      if (refusal === null) continue;
      this.delete(body);
      body.refuse(refusal);
    }
  }
}

export class ArrivingBody implements Evictable {
  /** Its slot among those that arrive. */
  slot = NO_SLOT;
  readonly #stream: BodyStream;
  readonly #startedAt: number;
  /** Bytes that came in each of the last seconds in which the client was waited for, oldest first. */
  readonly #seconds: number[] = [];
  /** Start of the current second, and the bytes received by then. */
  #secondAt: number;
  #before = 0;

  constructor(stream: BodyStream, now: number) {
    this.#stream = stream;
    this.#startedAt = now;
    this.#secondAt = now;
  }

  rate(now: number): number {
    const elapsed = this.#seconds.length * SECOND_MS + Math.max(1, now - this.#secondAt);
    return (this.#stream.received - this.#before + this.#recent()) / elapsed;
  }

  evict(): void {
    this.refuse(
      'The gateway has reached its limit of request bodies in memory, and this one arrives most slowly. Try again.',
    );
  }

  refuse(detail: string): void {
    this.#stream.destroy(new BodyRefused(detail));
  }

  /** Returns why reading ends; null if it goes on. */
  judge(now: number, { minBodyRate, bodyDeadlineMs }: ArrivalLimits): string | null {
    if (bodyDeadlineMs > 0 && now - this.#startedAt >= bodyDeadlineMs) {
      return `The request body did not arrive within ${bodyDeadlineMs / 1000} seconds.`;
    }
    if (now - this.#secondAt < SECOND_MS) return null;
    const { received, waitsForClient } = this.#stream;
    if (waitsForClient) this.#seconds.push(received - this.#before);
    this.#before = received;
    this.#secondAt = now;
    if (this.#seconds.length > WINDOW) this.#seconds.shift();
    if (this.#seconds.length < WINDOW || this.#recent() >= minBodyRate * WINDOW) return null;
    return `The request body arrived more slowly than ${minBodyRate} bytes a second.`;
  }

  #recent(): number {
    let bytes = 0;
    for (const each of this.#seconds) bytes += each;
    return bytes;
  }
}
