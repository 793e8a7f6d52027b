/**
 * The time that an upstream has to answer, and between pieces of its answer, as exact as the event loop is
 * (docs/decisions.md#timeouts-exact). All that have the same time-out share one timer of Node's: a timer for each
 * request costs several per cent of proxying.
 */

/** The upstream let its time pass; becomes 504. */
export class UpstreamStalled extends Error {
  readonly code = 'GW_UPSTREAM_TIMEOUT';
}

export interface Stallable {
  /** No progress for the time. `progressed` restarts it. */
  stalled(timeoutMs: number): void;
}

/** The time of one exchange with an upstream. */
export class StallTimer {
  readonly #queue: Queue;
  readonly of: Stallable;
  /** Milliseconds on the monotonic clock. */
  progressAt = 0;
  before: StallTimer | null = null;
  after: StallTimer | null = null;
  queued = false;

  /** Runs from now. */
  constructor(timeoutMs: number, of: Stallable) {
    this.of = of;
    this.#queue = queueOf(timeoutMs);
    this.progressed();
  }

  /** Starts the time again. */
  progressed(): void {
    this.progressAt = performance.now();
    if (this.queued) this.#queue.remove(this);
    this.#queue.append(this);
  }

  stop(): void {
    if (this.queued) this.#queue.remove(this);
  }
}

/** Timers of one time-out, in the order of their ends. */
class Queue {
  readonly #timeoutMs: number;
  #first: StallTimer | null = null;
  #last: StallTimer | null = null;
  #looks = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  append(timer: StallTimer): void {
    timer.queued = true;
    timer.before = this.#last;
    if (this.#last === null) this.#first = timer;
    else this.#last.after = timer;
    this.#last = timer;
    if (!this.#looks) this.#lookIn(this.#timeoutMs);
  }

  remove(timer: StallTimer): void {
    const { before, after } = timer;
    if (before === null) this.#first = after;
    else before.after = after;
    if (after === null) this.#last = before;
    else after.before = before;
    timer.before = null;
    timer.after = null;
    timer.queued = false;
  }

  #lookIn(ms: number): void {
    this.#looks = true;
    queues.set(this.#timeoutMs, this);
    // The connections hold the process, not this.
    setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    const now = performance.now();
    for (let first = this.#first; first !== null; first = this.#first) {
      const leftMs = first.progressAt + this.#timeoutMs - now;
      if (leftMs > 0) return this.#lookIn(Math.ceil(leftMs));
      this.remove(first);
      first.of.stalled(this.#timeoutMs);
    }
    this.#looks = false;
    queues.delete(this.#timeoutMs);
  }
}

/** Queues with waiting timers, now or lately. */
const queues = new Map<number, Queue>();

function queueOf(timeoutMs: number): Queue {
  return queues.get(timeoutMs) ?? new Queue(timeoutMs);
}
