/**
 * The keys of an issuer, fetched before they are needed: refreshed in the background, kept while the issuer is away,
 * looked for anew when a token names one that is not known, and never more often than the issuer can be asked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Crowded, FairQueue, messageOf, type Obj, type Outage, type OwnerPath } from '../../../kit.ts';
import type { KeySource } from './key-source.ts';
import { KeyTable } from './key-table.ts';
import { IssuerUnavailable } from './token-refused.ts';

export interface RemoteKeysOptions {
  /** Fetches the key set; `again`: its discovered location may be out of date, too. Rejects with IssuerUnavailable. */
  fetch(again: boolean): Promise<Obj>;
  /** `jwks_refresh_seconds`, in milliseconds. */
  readonly refreshMs: number;
  readonly outage: Outage;
}

/** Least time between the beginnings of two fetches that tokens with unknown keys ask for. */
const LOOK_AGAIN_MS = 2_000;
/** Milliseconds after a failure in which requests fail at once. */
const REST_MS = 1_000;
/** Longest time between attempts while the issuer is away. */
const MOST_RETRY_MS = 30_000;
/** Requests that wait for the next look. Past it the client that has most of them goes on with the keys that are known. */
const LOOKING = { atOnce: 500, mostWaiting: 0, mostMs: 0 };

export class RemoteKeys implements KeySource {
  readonly #options: RemoteKeysOptions;
  #current: KeyTable | null = null;
  #text = '';
  #fetching: Promise<void> | null = null;
  #looking: Promise<void> | null = null;
  readonly #lookers = new FairQueue(LOOKING);
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Failure of the last attempt; null if it succeeded, or was the first. */
  #failure: { readonly error: IssuerUnavailable; readonly at: number } | null = null;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
    void this.#refresh(true);
  }

  get current(): KeyTable | null {
    return this.#current;
  }

  async keysFor(kid: string | undefined, owner: OwnerPath): Promise<KeyTable> {
    if (this.#current === null) await this.#first();
    const keys = this.#current ?? this.#fail();
    if (kid === undefined || !keys.named || keys.names(kid)) return keys;
    return this.#lookUntil((found) => found.names(kid), keys, owner);
  }

  async newerThan(known: KeyTable, owner: OwnerPath): Promise<KeyTable | null> {
    // A signature takes long to check on a busy machine: the keys may have been fetched meanwhile, for other tokens.
    if (this.#current !== null && this.#current !== known) return this.#current;
    const keys = await this.#lookUntil((found) => found !== known, known, owner);
    return keys === known ? null : keys;
  }

  /** Fetches no more. */
  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  /**
   * Waits for the first keys; once they could not be had, it only has them asked for again: requests that wait for an
   * issuer which does not answer would hold up others.
   */
  async #first(): Promise<void> {
    if (this.#failure === null) return this.#refresh(true);
    this.#failIfResting();
    void this.#refresh(true);
  }

  /** Returns `known` if too many look already. */
  async #lookUntil(isFound: (keys: KeyTable) => boolean, known: KeyTable, owner: OwnerPath): Promise<KeyTable> {
    try {
      return await this.#lookers.run(owner, (signal) => this.#lookFor(isFound, signal));
    } catch (error) {
      if (error instanceof Crowded) return known;
      throw error;
    }
  }

  /** A fetch that began before the token came may have missed its key: then there is another. */
  async #lookFor(isFound: (keys: KeyTable) => boolean, signal: AbortSignal): Promise<KeyTable> {
    const cameAt = performance.now();
    for (;;) {
      if (!this.#looking && !this.#fetching) this.#failIfResting();
      await this.#look();
      const keys = this.#current ?? this.#fail();
      if (signal.aborted || isFound(keys)) return keys;
      if (this.#failure) throw this.#failure.error;
      if (this.#startedAt >= cameAt) return keys;
    }
  }

  /** The next fetch that may be made for unknown keys; all that wait share it. */
  #look(): Promise<void> {
    this.#looking ??= (async () => {
      await sleep(Math.max(0, this.#startedAt + LOOK_AGAIN_MS - performance.now()));
      await this.#refresh(false);
    })().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** One at a time; never rejects. */
  #refresh(again: boolean): Promise<void> {
    this.#fetching ??= this.#fetch(again).finally(() => {
      this.#fetching = null;
    });
    return this.#fetching;
  }

  async #fetch(again: boolean): Promise<void> {
    const { fetch, outage, refreshMs } = this.#options;
    this.#startedAt = performance.now();
    try {
      this.#use(await fetch(again));
      this.#failure = null;
      this.#failures = 0;
      outage.succeeded();
    } catch (error) {
      const reason = messageOf(error);
      this.#failure = { error: new IssuerUnavailable(reason, { cause: error }), at: performance.now() };
      this.#failures++;
      outage.failed(reason);
    }
    const retryMs = Math.min(REST_MS * 2 ** Math.min(this.#failures - 1, 10), MOST_RETRY_MS);
    // A little early, and not all gateways at once.
    this.#schedule(this.#failure ? Math.min(retryMs, refreshMs) : refreshMs * (0.9 + Math.random() * 0.1));
  }

  /** Equal keys stay the same table, so that tokens verified with them stay valid. Throws KeyError. */
  #use(set: Obj): void {
    const text = JSON.stringify(set);
    if (this.#current !== null && text === this.#text) return;
    this.#current = KeyTable.ofJwks(set);
    this.#text = text;
  }

  #schedule(delayMs: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (!this.#closed) this.#timer = setTimeout(() => void this.#refresh(true), delayMs).unref();
  }

  #failIfResting(): void {
    if (this.#failure && performance.now() - this.#failure.at < REST_MS) throw this.#failure.error;
  }

  #fail(): never {
    throw this.#failure?.error ?? new IssuerUnavailable('there are no keys yet');
  }
}
