/** Slow hashes take tens of milliseconds of a CPU and megabytes each: few at once, and no endless queue for them. */

export class QueueFull extends Error {}

export class VerificationQueue {
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** Defaults: 2 at once, 64 waiting. */
  constructor({ atOnce = 2, mostWaiting = 64 } = {}) {
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
  }

  /** Rejects with QueueFull, at once, where too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++;
    else {
      if (this.#waiting.length >= this.#mostWaiting) throw new QueueFull('too many passwords wait to be verified');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
