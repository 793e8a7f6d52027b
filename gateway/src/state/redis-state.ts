/** State that several pods share, in Redis or Valkey (`--state redis://…`). */
import { hash } from 'node:crypto';
import { Redis } from 'iovalkey';
import { NOBODY, type OwnerPath } from '../shares/owner-path.ts';
import type { StateFigures } from '../telemetry/figures.ts';
import type { BudgetStore } from './budget-store.ts';
import type { CacheStore } from './cache-store.ts';
import { MemoryRateLimitStore } from './memory-rate-limit-store.ts';
import type { NonceStore, NonceVerdict, SignedNonce } from './nonce-store.ts';
import { EXACT_QUOTA, type RateLimitResult, type RateLimitStore } from './rate-limit-store.ts';
import { CACHED_ENTRY_BYTES, ownedValue, withoutOwner } from './redis-cache.ts';
import { RedisLink } from './redis-link.ts';
import { reservationOf } from './redis-reservations.ts';
import { defineScripts, type Scripted } from './redis-scripts.ts';
import { ownerKey, type RedisRoom, ROOM, roomIn } from './redis-shares.ts';
import type { ReservationStore } from './reservation-store.ts';
import { SESSION_SECONDS, type SessionStore } from './session-store.ts';
import { type State, StateUnavailable } from './state.ts';

export interface RedisStateOptions {
  /** `redis://`, `rediss://`, `valkey://` or `valkeys://`, with user and password if the server requires them. */
  readonly url: string;
  /** Prefix of all keys, before a colon. */
  readonly prefix: string;
  /** Milliseconds that a command may take. */
  readonly timeoutMs: number;
  /** Said once when the server goes away, and once when it is back. The reason names no credentials. */
  away(reason: string): void;
  back(): void;
  /** Reports a property of the server that limits its use, with the remedy. */
  warn?(message: string): void;
  /** Limit of stored data. Default: the server's memory. */
  readonly room?: RedisRoom;
}

const MOST_RETRY_MS = 2_000;
/** Milliseconds that a command with a value, which may be large, may take, as a multiple of others. */
const VALUE_TIMES = 4;

export class RedisState implements State {
  readonly rateLimits: RateLimitStore;
  readonly cache: CacheStore;
  readonly nonces: NonceStore;
  readonly reservations: ReservationStore;
  readonly budgets: BudgetStore;
  readonly sessions: SessionStore;
  /** Counts for this process alone, while the server is away or full. */
  readonly localRateLimits = new MemoryRateLimitStore();
  /** Counters, which are small: only the server delays them. */
  readonly #redis: Redis & Scripted;
  readonly #link: RedisLink;
  /** Cached values, which may be large, and sessions. */
  readonly #values: Redis & Scripted;
  readonly #valueLink: RedisLink;
  readonly #options: RedisStateOptions;
  readonly #prefix: string;
  #room: RedisRoom;

  /** Resolves when it is connected, or after the time that connecting may take: then it goes on in the background. */
  static async open(options: RedisStateOptions): Promise<RedisState> {
    if (!/^(redis|valkey)s?:\/\/[^/]/.test(options.url) || !URL.canParse(options.url)) {
      throw new Error(
        '--state is not the URL of a Redis or Valkey: give one such as redis://user:password@redis:6379/0',
      );
    }
    const state = new RedisState(options);
    await Promise.all([state.#redis.connect(), state.#values.connect()].map((each) => each.catch(() => {})));
    return state;
  }

  private constructor(options: RedisStateOptions) {
    this.#options = options;
    this.#room = options.room ?? ROOM;
    this.#prefix = `${options.prefix}:`;
    const warn = (message: string) => options.warn?.(message);
    this.#redis = this.#connection(options.timeoutMs);
    this.#values = this.#connection(options.timeoutMs * VALUE_TIMES);
    const refuses = (reason: string) =>
      warn(`the state server refuses commands (${reason}): rate limits count in each process meanwhile`);
    this.#link = new RedisLink(this.#redis, { away: options.away, back: options.back, refuses });
    const losesValues = (reason: string) => warn(`the state server keeps no cached values and sessions (${reason})`);
    this.#valueLink = new RedisLink(this.#values, { away: losesValues, back: () => {}, refuses: losesValues });
    this.#redis.on('ready', () => {
      // Before the first nonce comes, so that later signatures can be judged.
      this.#redis.gwBegin(`${this.#prefix}{nonces}:began`).catch((error: unknown) => this.#link.failed(error));
      void this.#measure();
    });
    this.rateLimits = {
      take: (bucket, quota, windowSeconds, owner = NOBODY) => this.#take(bucket, quota, windowSeconds, owner),
    };
    this.nonces = { enter: (nonce) => this.#enter(nonce) };
    this.reservations = this.#reservations();
    this.budgets = this.#budgets();
    this.sessions = this.#sessions();
    this.cache = this.#cache();
  }

  #connection(timeoutMs: number): Redis & Scripted {
    return defineScripts(
      new Redis(this.#options.url, {
        connectTimeout: timeoutMs * 4,
        commandTimeout: timeoutMs,
        // A silent connection is given up, and made again.
        socketTimeout: timeoutMs * 4,
        lazyConnect: true,
        // Queued or resent commands would be counted late or twice.
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        autoResendUnfulfilledCommands: false,
        enableAutoPipelining: true,
        enableReadyCheck: false,
        retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MOST_RETRY_MS),
        connectionName: 'gw',
      }),
    );
  }

  /** Reads the server's memory for each use, and whether it evicts entries that must be kept. */
  async #measure(): Promise<void> {
    let info: string;
    try {
      info = await this.#redis.info('memory');
    } catch {
      // Some servers do not report it, or not to every client.
      return;
    }
    const most = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
    const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(info) ?? [];
    this.#room = this.#options.room ?? roomIn(most);
    if (most === 0) this.#options.warn?.('the state server has no limit of memory: set its maxmemory');
    if (policy === 'noeviction') return;
    this.#options.warn?.(
      `the state server drops counters when it is full (${policy}): set its maxmemory-policy to noeviction`,
    );
  }

  #cache(): CacheStore {
    const base = `${this.#prefix}{cache}:`;
    const at = (key: string) => `${base}is:${key}`;
    return {
      get: async (key) => withoutOwner(await this.#valueLink.ask(() => this.#values.getBuffer(at(key)))),
      set: async (key, value, ttlSeconds, owner = NOBODY) => {
        const whose = ownerKey(owner);
        const weight = key.length + value.length + CACHED_ENTRY_BYTES;
        const lasts = Math.max(1, Math.ceil(ttlSeconds * 1000));
        const owned = ownedValue(whose, value);
        const { cacheBytes } = this.#room;
        await this.#valueLink.ask(() =>
          this.#values.gwSetCached(at(key), base, key, whose, owned, lasts, weight, cacheBytes),
        );
      },
      delete: async (key) => {
        await this.#valueLink.ask(() => this.#values.gwDeleteCached(at(key), base, key));
      },
    };
  }

  #reservations(): ReservationStore {
    const base = `${this.#prefix}{reserved}:`;
    const at = (key: string, owner: OwnerPath = NOBODY) => [`${base}is:${key}`, base, ownerKey(owner), key] as const;
    const ms = (seconds: number) => Math.max(1, Math.ceil(seconds * 1000));
    return {
      reserve: async ({ key, token, mark, holdSeconds, owner }) => {
        const most = this.#room.reservations;
        return reservationOf(
          await this.#link.ask(() => this.#redis.gwReserve(...at(key, owner), token, mark, ms(holdSeconds), most)),
        );
      },
      record: async ({ key, token, value, keepSeconds }) =>
        (await this.#link.ask(() => this.#redis.gwRecord(...at(key), token, value, ms(keepSeconds)))) === 1,
      release: async (key, token) => {
        await this.#link.ask(() => this.#redis.gwRelease(...at(key), token));
      },
    };
  }

  #budgets(): BudgetStore {
    const base = `${this.#prefix}{budgets}:`;
    const keys = (bucket: string) => {
      const key = base + bucket;
      return [`${key}:times`, `${key}:amounts`, `${key}:held`, `${key}:leases`] as const;
    };
    const shares = (bucket: string, owner: OwnerPath = NOBODY) =>
      [base, ownerKey(owner), bucket, this.#room.buckets] as const;
    return {
      reserve: async ({ bucket, id, amount, quota, windowSeconds, leaseSeconds, owner }) => {
        const [window, lease] = [windowSeconds * 1000, leaseSeconds * 1000];
        const [allowed, remaining, resetAt, retryAfter] = await this.#link.ask(() =>
          this.#redis.gwReserveBudget(...keys(bucket), id, window, lease, amount, quota, ...shares(bucket, owner)),
        );
        return {
          allowed: allowed === 1,
          remaining: Number(remaining),
          resetAt: Number(resetAt) / 1000,
          retryAfter: Number(retryAfter) / 1000,
        };
      },
      settle: async ({ bucket, id, amount, windowSeconds }) => {
        const window = windowSeconds * 1000;
        const settle = () => this.#redis.gwSettleBudget(...keys(bucket), id, window, 0, amount, 0, ...shares(bucket));
        return (await this.#link.ask(settle)) === 1;
      },
      renew: async ({ bucket, id, windowSeconds, leaseSeconds }) => {
        const [window, lease] = [windowSeconds * 1000, leaseSeconds * 1000];
        const renew = () => this.#redis.gwRenewBudget(...keys(bucket), id, window, lease, 0, 0, ...shares(bucket));
        return (await this.#link.ask(renew)) === 1;
      },
    };
  }

  #sessions(): SessionStore {
    const base = `${this.#prefix}{sessions}:`;
    const lasts = SESSION_SECONDS * 1000;
    return {
      open: async ({ id, owner, revision }) => {
        const most = this.#room.sessions;
        const kept = await this.#valueLink.ask(() =>
          this.#values.gwOpenSession(base, id, lasts, ownerKey(owner), revision, most),
        );
        if (kept !== 1) throw new StateUnavailable('the state server has no room for a session');
      },
      use: (id) => this.#valueLink.ask(() => this.#values.gwUseSession(base, id, lasts)),
      end: async (id) => (await this.#valueLink.ask(() => this.#values.gwEndSession(base, id, lasts))) === 1,
    };
  }

  get figures(): StateFigures {
    return { away: this.#link.isAway, failures: this.#link.failures + this.#valueLink.failures };
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
    this.#values.disconnect();
  }

  async #take(name: string, quota: number, windowSeconds: number, owner: OwnerPath): Promise<RateLimitResult> {
    const base = `${this.#prefix}{limits}:`;
    const bucket = `${name}:${quota <= EXACT_QUOTA ? 'exact' : 'grains'}`;
    const [times, counts] = [`${base}${bucket}:times`, `${base}${bucket}:counts`];
    const { buckets } = this.#room;
    const [id, whose] = [crypto.randomUUID(), ownerKey(owner)];
    const [allowed, remaining, resetAt, retryAfter] = await this.#link.ask(() =>
      this.#redis.gwTake(times, counts, quota, windowSeconds * 1000, id, base, whose, bucket, buckets),
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
    return this.#link.ask(() =>
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
}
