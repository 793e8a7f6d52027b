/** Turns of reviews: a namespace with many requests comes after the others. */

export interface ReviewTurnsOptions {
  /** Maximum number of concurrent reviews. */
  readonly atOnce: number;
  /** Maximum number of concurrent reviews of one namespace. */
  readonly ofNamespace: number;
  /** Default: Date.now. */
  readonly now?: () => number;
}

/** Maximum waiting reviews of one namespace: each takes the memory of its object. */
const MAX_WAITING_OF_NAMESPACE = 32;

interface Waiting {
  readonly namespace: string;
  readonly start: (turn: (() => void) | undefined) => void;
}

export class ReviewTurns {
  readonly #options: ReviewTurnsOptions;
  readonly #running = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #total = 0;

  constructor(options: ReviewTurnsOptions) {
    this.#options = options;
  }

  /**
   * Waits for a turn; resolves with the function that ends it, or undefined after `until` (milliseconds since the
   * epoch).
   */
  take(namespace: string, until: number): Promise<(() => void) | undefined> {
    const { now = Date.now } = this.#options;
    if (this.#isFree(namespace)) return Promise.resolve(this.#start(namespace));
    const ofNamespace = this.#waiting.filter((each) => each.namespace === namespace).length;
    if (ofNamespace >= MAX_WAITING_OF_NAMESPACE) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(undefined);
      }, until - now());
      const waiting: Waiting = {
        namespace,
        start: (turn) => {
          clearTimeout(timer);
          resolve(turn);
        },
      };
      this.#waiting.push(waiting);
    });
  }

  #isFree(namespace: string): boolean {
    const { atOnce, ofNamespace } = this.#options;
    return this.#total < atOnce && (this.#running.get(namespace) ?? 0) < ofNamespace;
  }

  #start(namespace: string): () => void {
    this.#total++;
    this.#running.set(namespace, (this.#running.get(namespace) ?? 0) + 1);
    return () => {
      this.#total--;
      const left = (this.#running.get(namespace) ?? 1) - 1;
      if (left > 0) this.#running.set(namespace, left);
      else this.#running.delete(namespace);
      this.#next();
    };
  }

  /** Starts the next review: of the namespace with the fewest turns, the oldest. */
  #next(): void {
    const running = ({ namespace }: Waiting) => this.#running.get(namespace) ?? 0;
    const free = this.#waiting.filter(({ namespace }) => this.#isFree(namespace));
    const [first] = free.toSorted((a, b) => running(a) - running(b));
    if (!first) return;
    this.#waiting.splice(this.#waiting.indexOf(first), 1);
    first.start(this.#start(first.namespace));
  }
}
