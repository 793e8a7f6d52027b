/**
 * A connection that is made on first use, kept, and replaced after it was lost: callers wait for a few attempts with
 * growing pauses, so that a broker that restarts costs no request.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { EgressRefused } from '../../../kit.ts';
import { PublishError } from './publish-error.ts';

export interface Connection {
  /** Resolves when the connection becomes unusable; never rejects. */
  readonly closed: Promise<unknown>;
  close(): void;
}

/** The attempt failed, and the next would fail in the same way: credentials that were refused, for one. */
export class ConnectionRefused extends Error {}

/** Milliseconds since the first attempt in which there may be another. */
const RIDE_OUT_MS = 5_000;
const FIRST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 1_000;
/** Margin before the time-out, so that callers get the failure and not the time-out. */
const MARGIN_MS = 20;

export class KeptConnection<C extends Connection> {
  readonly #open: () => Promise<C>;
  readonly #ended = new AbortController();
  #current: Promise<C> | null = null;
  /** Error of the last attempt; null if it succeeded. */
  #failure: unknown = null;

  constructor(open: () => Promise<C>) {
    this.#open = open;
  }

  /** Rejects with the error of the last failed attempt, at the latest after `withinMs`. */
  get(withinMs: number): Promise<C> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        if (this.#failure !== null) reject(this.#failure);
      }, withinMs - MARGIN_MS);
      this.#shared()
        .then(resolve, reject)
        .finally(() => clearTimeout(late));
    });
  }

  #shared(): Promise<C> {
    if (this.#ended.signal.aborted) return Promise.reject(new PublishError('failed', 'the gateway is stopping'));
    if (this.#current) return this.#current;
    const current = this.#connect();
    this.#current = current;
    const gone = () => this.#forget(current);
    current.then((connection) => connection.closed.then(gone), gone);
    return current;
  }

  /** Later callers get another connection; calls under way on this one may go on. */
  replace(connection: C): void {
    const current = this.#current;
    current?.then((each) => {
      if (each === connection) this.#forget(current);
    });
  }

  close(): void {
    this.#ended.abort();
    this.#current?.then((connection) => connection.close()).catch(() => {});
  }

  #forget(connection: Promise<C>): void {
    if (this.#current === connection) this.#current = null;
  }

  async #connect(): Promise<C> {
    const { signal } = this.#ended;
    const until = performance.now() + RIDE_OUT_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)) {
      try {
        const connection = await this.#open();
        this.#failure = null;
        return connection;
      } catch (error) {
        this.#failure = error;
        const again = !(error instanceof ConnectionRefused || error instanceof EgressRefused);
        if (!again || signal.aborted || performance.now() + pauseMs > until) throw error;
      }
      await pause(pauseMs, undefined, { signal });
    }
  }
}
