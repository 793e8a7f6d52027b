/**
 * Checks of credentials that cost time: by the client's network, then by the credential's name, and those that held
 * before have turns of their own. The same credentials are checked once at a time.
 */
import { Crowded, type FairQueue } from './fair-queue.ts';
import type { OwnerPath } from './owner-path.ts';
import { SharedMap } from './shared-map.ts';

/** Credentials that held, as far as they are remembered. */
const MOST_PROVEN = 10_000;

export interface Check<T> {
  /** Identifies the credentials, without revealing them. */
  readonly key: string;
  /** Claimed owner of the credentials. */
  readonly name: string;
  readonly owner: OwnerPath;
  run(signal: AbortSignal): Promise<T>;
}

export class Checks<T> {
  readonly #queue: FairQueue;
  readonly #holds: (verdict: T) => boolean;
  readonly #underWay = new Map<string, Promise<T>>();
  readonly #proven = new SharedMap<true>({ most: MOST_PROVEN });

  /** `holds`: whether the credentials are right. */
  constructor(queue: FairQueue, holds: (verdict: T) => boolean) {
    this.#queue = queue;
    this.#holds = holds;
  }

  /** Rejects as `run` does, and with Crowded. */
  async run(check: Check<T>): Promise<T> {
    const before = this.#underWay.get(check.key);
    if (before === undefined) return this.#begin(check);
    try {
      return await before;
    } catch (error) {
      // Another client's holding was the cause of the refusal.
      if (error instanceof Crowded) return this.#underWay.has(check.key) ? this.run(check) : this.#begin(check);
      throw error;
    }
  }

  #begin({ key, name, owner, run }: Check<T>): Promise<T> {
    const lane = this.#proven.use(key) ? 'proven' : 'unproven';
    const checked = this.#queue
      .run([...owner, lane, name], run)
      .then((verdict) => {
        if (this.#holds(verdict)) this.#proven.set(key, true, owner);
        return verdict;
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, checked);
    return checked;
  }
}
