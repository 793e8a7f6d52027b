/**
 * Keys to be reconciled. A key that is added again while it waits waits once; one that is added while it is worked on
 * is worked on again afterwards, never twice at a time. Failures are retried with back-off.
 */
import { backoff } from './backoff.ts';

export interface WorkQueueOptions {
  /** Keys worked on at once. */
  readonly workers: number;
  /** Returns the milliseconds after which to run again, undefined for never. Throwing means back-off. */
  readonly work: (key: string) => Promise<number | undefined>;
  readonly onError: (key: string, error: unknown) => void;
  /** Only collects keys until `start`. Default: false. */
  readonly paused?: boolean;
}

const BASE_MS = 250;
const MAX_MS = 60_000;

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #ready: string[] = [];
  readonly #waiting = new Set<string>();
  readonly #active = new Set<string>();
  readonly #changedMeanwhile = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  #closed = false;
  #paused: boolean;
  #idle: (() => void)[] = [];

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#paused = options.paused ?? false;
  }

  /** Starts with the collected keys. */
  start(): void {
    this.#paused = false;
    this.#next();
  }

  /** Keys that wait to be worked on. */
  get depth(): number {
    return this.#ready.length;
  }

  add(key: string): void {
    if (this.#closed) return;
    this.#cancel(key);
    if (this.#active.has(key)) {
      this.#changedMeanwhile.add(key);
      return;
    }
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    this.#ready.push(key);
    this.#next();
  }

  /** Adds the key after a delay; the earliest of several wins. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    const at = Date.now() + ms;
    const pending = this.#timers.get(key);
    if (pending && pending.at <= at) return;
    this.#cancel(key);
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      this.add(key);
    }, ms);
    this.#timers.set(key, { at, timer });
  }

  /** Takes no more keys, and resolves when those being worked on are done. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const key of [...this.#timers.keys()]) this.#cancel(key);
    this.#ready.length = 0;
    if (this.#active.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #cancel(key: string): void {
    const pending = this.#timers.get(key);
    if (pending) clearTimeout(pending.timer);
    this.#timers.delete(key);
  }

  #next(): void {
    while (!this.#closed && !this.#paused && this.#active.size < this.#options.workers) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      this.#waiting.delete(key);
      this.#active.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    let delay: number | undefined;
    try {
      delay = await this.#options.work(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#options.onError(key, error);
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      delay = backoff(failures, BASE_MS, MAX_MS);
    }
    this.#active.delete(key);
    if (this.#changedMeanwhile.delete(key)) this.add(key);
    else if (delay !== undefined) this.addAfter(key, delay);
    this.#next();
    if (this.#active.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
