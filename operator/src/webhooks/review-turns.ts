/** Limits concurrent reviews: the namespace with the fewest running reviews goes first. */

export interface ReviewTurnsOptions {
  /** Maximum number of concurrent reviews. */
  readonly maxRunning: number;
  /** Maximum number of concurrent reviews of one namespace. */
  readonly maxRunningOfNamespace: number;
  /** Default: Date.now. */
  readonly now?: () => number;
}

/** Maximum waiting reviews of one namespace: each keeps its object in memory. */
const MAX_WAITING_OF_NAMESPACE = 32;

interface Waiting {
  readonly namespace: string;
  readonly start: (release: () => void) => void;
}

export class ReviewTurns {
  readonly #options: ReviewTurnsOptions;
  readonly #running = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #runningTotal = 0;

  constructor(options: ReviewTurnsOptions) {
    this.#options = options;
  }

  /**
   * Waits for a turn; resolves with the function that releases it. Resolves with undefined if no turn is free before
   * `until` (milliseconds since the epoch), or at once if too many reviews of the namespace wait: the caller then
   * admits the object without a review.
   */
  take(namespace: string, until: number): Promise<(() => void) | undefined> {
    const { now = Date.now } = this.#options;
    if (this.#isFree(namespace)) return Promise.resolve(this.#start(namespace));
    const waitingOfNamespace = this.#waiting.filter((each) => each.namespace === namespace).length;
    if (waitingOfNamespace >= MAX_WAITING_OF_NAMESPACE) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(undefined);
      }, until - now());
      const waiting: Waiting = {
        namespace,
        start: (release) => {
          clearTimeout(timer);
          resolve(release);
        },
      };
      this.#waiting.push(waiting);
    });
  }

  #isFree(namespace: string): boolean {
    const { maxRunning, maxRunningOfNamespace } = this.#options;
    return this.#runningTotal < maxRunning && (this.#running.get(namespace) ?? 0) < maxRunningOfNamespace;
  }

  #start(namespace: string): () => void {
    this.#runningTotal++;
    this.#running.set(namespace, (this.#running.get(namespace) ?? 0) + 1);
    return () => {
      this.#runningTotal--;
      const left = (this.#running.get(namespace) ?? 1) - 1;
      if (left > 0) this.#running.set(namespace, left);
      else this.#running.delete(namespace);
      this.#next();
    };
  }

  /** Starts the next review: of the namespace with the fewest running reviews, the oldest. */
  #next(): void {
    const runningOf = ({ namespace }: Waiting) => this.#running.get(namespace) ?? 0;
    const startable = this.#waiting.filter(({ namespace }) => this.#isFree(namespace));
    const [first] = startable.toSorted((a, b) => runningOf(a) - runningOf(b));
    if (!first) return;
    this.#waiting.splice(this.#waiting.indexOf(first), 1);
    first.start(this.#start(first.namespace));
  }
}
