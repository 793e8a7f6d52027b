/** State that several pods share, in Redis or Valkey (`--state redis://…`). */
import { hash } from 'node:crypto';
import { Redis } from 'iovalkey';
import type { StateFigures } from '../telemetry/figures.ts';
import type { BudgetStore } from './budget-store.ts';
import type { CacheStore } from './cache-store.ts';
import type { NonceStore, NonceVerdict, SignedNonce } from './nonce-store.ts';
import { EXACT_QUOTA, type RateLimitResult, type RateLimitStore } from './rate-limit-store.ts';
import { RENEW_BUDGET_SCRIPT, RESERVE_BUDGET_SCRIPT, SETTLE_BUDGET_SCRIPT } from './redis-budgets.ts';
import { BEGIN_SCRIPT, ENTER_SCRIPT } from './redis-nonces.ts';
import { TAKE_SCRIPT } from './redis-rate-limit.ts';
import {
  RECORD_SCRIPT,
  RELEASE_SCRIPT,
  RESERVE_SCRIPT,
  type ReserveReply,
  reservationOf,
} from './redis-reservations.ts';
import type { ReservationStore } from './reservation-store.ts';
import { SESSION_SECONDS, type SessionStore } from './session-store.ts';
import { type State, StateUnavailable } from './state.ts';

export interface RedisStateOptions {
  /** `redis://`, `rediss://`, `valkey://` or `valkeys://`, with user and password where the server wants them. */
  readonly url: string;
  /** What all keys begin with, before a colon. */
  readonly prefix: string;
  /** Milliseconds that a command may take. */
  readonly timeoutMs: number;
  /** Said once when the server goes away, and once when it is back. The reason names no credentials. */
  away(reason: string): void;
  back(): void;
}

/** After a failure nothing is asked for so long, so that a server that hangs costs a request its time-out only now and then. */
const REST_MS = 1_000;
const MOST_RETRY_MS = 2_000;

/** Four keys; id, window, lease, amount, quota. */
type BudgetArguments = [string, string, string, string, string, number, number, number, number];

interface Scripted {
  gwTake(
    key: string,
    counts: string,
    quota: number,
    windowMs: number,
    id: string,
  ): Promise<[number, number, string, string]>;
  gwBegin(began: string): Promise<unknown>;
  gwEnter(
    began: string,
    nonces: string,
    own: string,
    nonce: string,
    created: number,
    keepSeconds: number,
  ): Promise<NonceVerdict>;
  gwReserve(key: string, token: string, mark: string, holdMs: number): Promise<ReserveReply>;
  gwRecord(key: string, token: string, value: string, keepMs: number): Promise<number>;
  gwRelease(key: string, token: string): Promise<unknown>;
  gwReserveBudget(...budget: BudgetArguments): Promise<[number, string, string, string]>;
  gwSettleBudget(...budget: BudgetArguments): Promise<number>;
  gwRenewBudget(...budget: BudgetArguments): Promise<number>;
}

export class RedisState implements State {
  readonly rateLimits: RateLimitStore;
  readonly cache: CacheStore;
  readonly nonces: NonceStore;
  readonly reservations: ReservationStore;
  readonly budgets: BudgetStore;
  readonly sessions: SessionStore;
  readonly #redis: Redis & Scripted;
  readonly #options: RedisStateOptions;
  readonly #prefix: string;
  #isAway = false;
  #failures = 0;
  #restUntil = 0;

  /** Resolves when it is connected, or after the time that connecting may take: then it goes on in the background. */
  static async open(options: RedisStateOptions): Promise<RedisState> {
    if (!/^(redis|valkey)s?:\/\/[^/]/.test(options.url) || !URL.canParse(options.url)) {
      throw new Error(
        '--state is not the URL of a Redis or Valkey: give one such as redis://user:password@redis:6379/0',
      );
    }
    const state = new RedisState(options);
    await state.#redis.connect().catch(() => {});
    return state;
  }

  private constructor(options: RedisStateOptions) {
    this.#options = options;
    this.#prefix = `${options.prefix}:`;
    const redis = new Redis(options.url, {
      connectTimeout: options.timeoutMs * 4,
      commandTimeout: options.timeoutMs,
      // A connection that has gone silent is given up, and made again.
      socketTimeout: options.timeoutMs * 4,
      lazyConnect: true,
      // What waited or is sent again would be counted late or twice.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      enableAutoPipelining: true,
      enableReadyCheck: false,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MOST_RETRY_MS),
      connectionName: 'gw',
    });
    redis.defineCommand('gwTake', { numberOfKeys: 2, lua: TAKE_SCRIPT });
    redis.defineCommand('gwBegin', { numberOfKeys: 1, lua: BEGIN_SCRIPT });
    redis.defineCommand('gwEnter', { numberOfKeys: 3, lua: ENTER_SCRIPT });
    redis.defineCommand('gwReserve', { numberOfKeys: 1, lua: RESERVE_SCRIPT });
    redis.defineCommand('gwRecord', { numberOfKeys: 1, lua: RECORD_SCRIPT });
    redis.defineCommand('gwRelease', { numberOfKeys: 1, lua: RELEASE_SCRIPT });
    redis.defineCommand('gwReserveBudget', { numberOfKeys: 4, lua: RESERVE_BUDGET_SCRIPT });
    redis.defineCommand('gwSettleBudget', { numberOfKeys: 4, lua: SETTLE_BUDGET_SCRIPT });
    redis.defineCommand('gwRenewBudget', { numberOfKeys: 4, lua: RENEW_BUDGET_SCRIPT });
    redis.on('error', (error: Error) => this.#failed(error));
    redis.on('ready', () => {
      this.#succeeded();
      // Before the first nonce comes: what is signed from now on can be told.
      this.#redis.gwBegin(`${this.#prefix}{nonces}:began`).catch((error: unknown) => this.#failed(error));
    });
    this.#redis = redis as Redis & Scripted;
    this.rateLimits = { take: (bucket, quota, windowSeconds) => this.#take(bucket, quota, windowSeconds) };
    this.nonces = { enter: (nonce) => this.#enter(nonce) };
    this.reservations = this.#reservations();
    this.budgets = this.#budgets();
    this.sessions = this.#sessions();
    this.cache = {
      get: (key) => this.#ask(() => this.#redis.getBuffer(this.#prefix + key)),
      set: async (key, value, ttlSeconds) => {
        await this.#ask(() =>
          this.#redis.set(this.#prefix + key, Buffer.from(value), 'PX', Math.ceil(ttlSeconds * 1000)),
        );
      },
      delete: async (key) => {
        await this.#ask(() => this.#redis.del(this.#prefix + key));
      },
    };
  }

  #reservations(): ReservationStore {
    const at = (key: string) => `${this.#prefix}reserved:${key}`;
    const ms = (seconds: number) => Math.max(1, Math.ceil(seconds * 1000));
    return {
      reserve: async ({ key, token, mark, holdSeconds }) =>
        reservationOf(await this.#ask(() => this.#redis.gwReserve(at(key), token, mark, ms(holdSeconds)))),
      record: async ({ key, token, value, keepSeconds }) =>
        (await this.#ask(() => this.#redis.gwRecord(at(key), token, value, ms(keepSeconds)))) === 1,
      release: async (key, token) => {
        await this.#ask(() => this.#redis.gwRelease(at(key), token));
      },
    };
  }

  #budgets(): BudgetStore {
    // The braces keep the keys of one bucket in one slot of a cluster.
    const keys = (bucket: string) => {
      const key = `${this.#prefix}{${bucket}}:budget`;
      return [`${key}:times`, `${key}:amounts`, `${key}:held`, `${key}:leases`] as const;
    };
    return {
      reserve: async ({ bucket, id, amount, quota, windowSeconds, leaseSeconds }) => {
        const [window, lease] = [windowSeconds * 1000, leaseSeconds * 1000];
        const [allowed, remaining, resetAt, retryAfter] = await this.#ask(() =>
          this.#redis.gwReserveBudget(...keys(bucket), id, window, lease, amount, quota),
        );
        return {
          allowed: allowed === 1,
          remaining: Number(remaining),
          resetAt: Number(resetAt) / 1000,
          retryAfter: Number(retryAfter) / 1000,
        };
      },
      settle: async ({ bucket, id, amount, windowSeconds }) =>
        (await this.#ask(() => this.#redis.gwSettleBudget(...keys(bucket), id, windowSeconds * 1000, 0, amount, 0))) ===
        1,
      renew: async ({ bucket, id, windowSeconds, leaseSeconds }) =>
        (await this.#ask(() =>
          this.#redis.gwRenewBudget(...keys(bucket), id, windowSeconds * 1000, leaseSeconds * 1000, 0, 0),
        )) === 1,
    };
  }

  /** The server drops those that have ended; how many there are is bounded by its memory. */
  #sessions(): SessionStore {
    const at = (id: string) => `${this.#prefix}session:${id}`;
    return {
      open: async ({ id, revision }) => {
        await this.#ask(() => this.#redis.set(at(id), revision, 'EX', SESSION_SECONDS));
      },
      use: async (id) => {
        const [revision] = await this.#ask(() =>
          Promise.all([this.#redis.get(at(id)), this.#redis.expire(at(id), SESSION_SECONDS)]),
        );
        return revision;
      },
      end: async (id) => (await this.#ask(() => this.#redis.del(at(id)))) === 1,
    };
  }

  get figures(): StateFigures {
    return { away: this.#isAway, failures: this.#failures };
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  async #take(bucket: string, quota: number, windowSeconds: number): Promise<RateLimitResult> {
    // The braces keep the keys of one bucket in one slot of a cluster.
    const key = `${this.#prefix}{${bucket}}:${quota <= EXACT_QUOTA ? 'exact' : 'grains'}`;
    const [allowed, remaining, resetAt, retryAfter] = await this.#ask(() =>
      this.#redis.gwTake(`${key}:times`, `${key}:counts`, quota, windowSeconds * 1000, crypto.randomUUID()),
    );
    return {
      allowed: allowed === 1,
      remaining,
      resetAt: Number(resetAt) / 1000,
      retryAfter: Number(retryAfter) / 1000,
    };
  }

  #enter({ credential, nonce, created, keepSeconds }: SignedNonce): Promise<NonceVerdict> {
    const keys = `${this.#prefix}{nonces}:`;
    // Lengths of names and nonces are their senders'.
    const [whose, which] = [credential, nonce].map((text) => hash('sha256', text, 'base64url'));
    return this.#ask(() =>
      this.#redis.gwEnter(
        `${keys}began`,
        `${keys}of:${whose}`,
        `${keys}after:${whose}`,
        which ?? '',
        created,
        keepSeconds,
      ),
    );
  }

  /** Rejects with StateUnavailable. */
  async #ask<T>(command: () => Promise<T>): Promise<T> {
    const probes = this.#isAway;
    if (probes) {
      const now = performance.now();
      if (now < this.#restUntil) {
        this.#failures++;
        throw new StateUnavailable('the state server is unavailable');
      }
      // One asks, and the others need not wait for what it hears.
      this.#restUntil = now + REST_MS;
    }
    try {
      const result = await command();
      this.#succeeded();
      return result;
    } catch (error) {
      this.#failures++;
      this.#failed(error);
      if (probes) this.#reconnect();
      throw new StateUnavailable('the state server is unavailable', { cause: error });
    }
  }

  /**
   * Gives up a connection that failed a command while the server was away already. Where answers were lost, each later
   * one is taken for that of an earlier command, every command times out, and what arrives keeps the connection from its
   * own time-out.
   */
  #reconnect(): void {
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
  }

  #failed(error: unknown): void {
    this.#restUntil = performance.now() + REST_MS;
    if (this.#isAway) return;
    this.#isAway = true;
    this.#options.away(reasonOf(error));
  }

  #succeeded(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#options.back();
  }
}

/** Servers repeat in their errors what they were asked, so only the kind of an error is said. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.message === 'Command timed out') return 'it does not answer in time';
  const [, kind] = /^([A-Z]{3,16})\b/.exec(error.message) ?? [];
  return kind ?? error.name;
}
