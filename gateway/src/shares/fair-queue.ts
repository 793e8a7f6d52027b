/**
 * Work that is expensive for the gateway or for a server that it asks: so much at once, and owners take turns
 * (docs/decisions.md#shared-limits).
 */
import type { OwnerPath } from './owner-path.ts';
import { type Entry, ShareTree } from './share-tree.ts';

/** There is no room for this owner, which holds its share: answered with 503 `overloaded`. */
export class Crowded extends Error {}

export interface FairQueueLimits {
  readonly atOnce: number;
  /**
   * Past it, the newest job of the owner with most waiting is refused. 0: jobs do not wait; work under way is ended
   * instead.
   */
  readonly mostWaiting: number;
  /** Milliseconds that it may wait; Infinity: as long as it takes. */
  readonly mostMs: number;
}

interface Job {
  /** Begins the job in its turn. */
  start(): void;
  refuse(error: Crowded): void;
}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Waiting jobs; else those under way. */
  readonly #jobs = new ShareTree<Job>();
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Under way. */
  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#limits.mostWaiting === 0 ? 0 : this.#jobs.weight;
  }

  /** Rejects as `work` does, and with Crowded. `work` ends early if the signal says so. */
  run<T>(owner: OwnerPath, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#limits.mostWaiting === 0 ? this.#runOrEnd(owner, work) : this.#runInTurn(owner, work);
  }

  async #runInTurn<T>(owner: OwnerPath, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.atOnce) this.#running++;
    else await this.#turn(owner);
    try {
      return await work(NEVER);
    } finally {
      const next = this.#jobs.inTurn();
      if (next) next.value.start();
      else this.#running--;
    }
  }

  /** Resolves when the place of one that has ended is free for this one. */
  #turn(owner: OwnerPath): Promise<void> {
    const { mostWaiting, mostMs } = this.#limits;
    if (this.#jobs.weight >= mostWaiting) {
      const other = this.#jobs.yielding(owner);
      if (other === null) return Promise.reject(new Crowded('too many wait already'));
      latestOf(other).value.refuse(new Crowded('others that hold less came'));
    }
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        clearTimeout(late);
        this.#jobs.remove(entry);
        then();
      };
      const refuse = (error: Crowded) => settle(() => reject(error));
      const tooLate = () => refuse(new Crowded(`it has waited for ${mostMs} ms`));
      const late = mostMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(tooLate, mostMs);
      const entry = this.#jobs.add(owner, { start: () => settle(resolve), refuse });
    });
  }

  #runOrEnd<T>(owner: OwnerPath, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.atOnce) {
      const other = this.#jobs.yielding(owner);
      if (other === null) return Promise.reject(new Crowded('too many are under way'));
      other.value.refuse(new Crowded('others that hold less came'));
    }
    this.#running++;
    return new Promise((resolve, reject) => {
      const ended = new AbortController();
      let isOver = false;
      const settle = (then: () => void) => {
        if (isOver) return;
        isOver = true;
        this.#running--;
        this.#jobs.remove(entry);
        then();
      };
      const refuse = (error: Crowded) =>
        settle(() => {
          reject(error);
          ended.abort(error);
        });
      const entry = this.#jobs.add(owner, { start: () => {}, refuse });
      work(ended.signal).then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }
}

const NEVER = new AbortController().signal;

/** Returns the newest entry of the same owner: earlier ones are nearer to their turn. */
function latestOf<T>(entry: Entry<T>): Entry<T> {
  return entry.owner.entries.newest ?? entry;
}
