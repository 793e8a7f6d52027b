/** A connection to a state server, and whether the server is away as far as this connection knows. */
import type { Redis } from 'iovalkey';
import { errorCode } from '../text/error-code.ts';
import { StateUnavailable } from './state.ts';

export interface RedisLinkOptions {
  /** Said once when the server goes away, and once when it is back. The reason names no credentials. */
  away(reason: string): void;
  back(): void;
  /** The server answers, but refuses commands, such as for lack of memory: reported once a minute at most. */
  refuses(reason: string): void;
}

/**
 * Milliseconds after a failure without commands, so that a server that hangs costs a request its time-out only now and
 * then.
 */
const REST_MS = 1_000;
const REFUSAL_MS = 60_000;

export class RedisLink {
  readonly #redis: Redis;
  readonly #options: RedisLinkOptions;
  #isAway = false;
  #failures = 0;
  #restUntil = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(redis: Redis, options: RedisLinkOptions) {
    this.#redis = redis;
    this.#options = options;
    redis.on('error', (error: Error) => this.failed(error));
    redis.on('ready', () => this.#succeeded());
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Rejects with StateUnavailable. */
  async ask<T>(command: () => Promise<T>): Promise<T> {
    const probes = this.#isAway;
    if (probes) {
      const now = performance.now();
      if (now < this.#restUntil) {
        this.#failures++;
        throw new StateUnavailable('the state server is unavailable');
      }
      // One request probes, and the others need not wait for its result.
      this.#restUntil = now + REST_MS;
    }
    try {
      const result = await command();
      this.#succeeded();
      return result;
    } catch (error) {
      this.#failures++;
      if (isRefusal(error)) this.#refused(error);
      else {
        this.failed(error);
        if (probes) this.#reconnect();
      }
      throw new StateUnavailable('the state server is unavailable', { cause: error });
    }
  }

  failed(error: unknown): void {
    this.#restUntil = performance.now() + REST_MS;
    if (this.#isAway) return;
    this.#isAway = true;
    this.#options.away(reasonOf(error));
  }

  /** The server is there, and others' commands may be answered. */
  #refused(error: unknown): void {
    this.#succeeded();
    if (performance.now() < this.#refusedAt + REFUSAL_MS) return;
    this.#refusedAt = performance.now();
    this.#options.refuses(reasonOf(error));
  }

  /**
   * Gives up a connection that failed a command while the server was unavailable already. If answers were lost, each
   * later one is taken for that of an earlier command, every command times out, and incoming data keeps the connection
   * from its own time-out.
   */
  #reconnect(): void {
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
  }

  #succeeded(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#options.back();
  }
}

/** Servers that start, or may not write, count as unavailable. */
const AWAY = /^(LOADING|MASTERDOWN|READONLY|NOAUTH|WRONGPASS|CLUSTERDOWN|MISCONF|NOREPLICAS)\b/;

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError' && !AWAY.test(error.message);
}

/** Returns only the kind of an error: servers repeat commands in their errors. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const code = errorCode(error);
  if (code !== undefined) return code;
  if (error.message === 'Command timed out') return 'it does not answer in time';
  const [, kind] = /^([A-Z]{3,16})\b/.exec(error.message) ?? [];
  return kind ?? error.name;
}
