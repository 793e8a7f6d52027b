/** Finds request bodies that clients send too slowly: one look at all of them now and then, instead of a timer each. */

export interface WatchedBody {
  /** On the monotonic clock, when the last bytes came. */
  readonly progressAt: number;
  /** Whether it is the client that is waited for, not whoever reads the body. */
  readonly waitsForClient: boolean;
  timeOut(): void;
}

export class SlowBodies {
  readonly #timeoutMs: number;
  readonly #bodies = new Set<WatchedBody>();

  /** Milliseconds without a byte; 0: no limit. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(body: WatchedBody): void {
    if (this.#timeoutMs > 0) this.#bodies.add(body);
  }

  delete(body: WatchedBody): void {
    this.#bodies.delete(body);
  }

  sweep(now: number): void {
    for (const body of this.#bodies) {
      if (!body.waitsForClient || now - body.progressAt < this.#timeoutMs) continue;
      this.#bodies.delete(body);
      body.timeOut();
    }
  }
}
