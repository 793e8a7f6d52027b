/** Slow hashes take tens of milliseconds of a CPU and megabytes each: few at once, and no endless queue for them. */

export class QueueFull extends Error {}

interface Waiting {
  start(): void;
}

export class VerificationQueue {
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #mostMs: number;
  readonly #waiting = new Set<Waiting>();
  #running = 0;

  /** Defaults: 2 at once, 64 waiting, each for 5 s at most. */
  constructor({ atOnce = 2, mostWaiting = 64, mostMs = 5_000 } = {}) {
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
    this.#mostMs = mostMs;
  }

  /** Rejects with QueueFull where too many wait, or it has waited too long. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next) next.start();
      else this.#running--;
    }
  }

  /** Resolves when the place of one that has ended is free for this one. */
  #turn(): Promise<void> {
    if (this.#waiting.size >= this.#mostWaiting) return Promise.reject(new QueueFull('too many verifications wait'));
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        start: () => {
          clearTimeout(late);
          this.#waiting.delete(entry);
          resolve();
        },
      };
      const late = setTimeout(() => {
        this.#waiting.delete(entry);
        reject(new QueueFull(`a verification has waited for ${this.#mostMs} ms`));
      }, this.#mostMs);
      this.#waiting.add(entry);
    });
  }
}
