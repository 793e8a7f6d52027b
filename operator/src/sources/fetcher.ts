/**
 * Fetches sources beside the reconciles, which read the current state and are queued when it changes. Fetches again
 * each interval, retries failures with back-off, and keeps the content while a source is unavailable.
 */
import { messageOf } from '@gw/gateway/message-of';
import { backoff } from '../runtime/backoff.ts';
import { ContentStore } from './content-store.ts';
import {
  type FetchedSource,
  ownerText,
  type Problem,
  SourceError,
  type SourceOwner,
  type SourceRequest,
  type SourceState,
} from './source.ts';

export type FetchSource = (
  owner: SourceOwner,
  request: SourceRequest,
  before: FetchedSource | undefined,
) => Promise<FetchedSource>;

export interface FetcherOptions {
  /** Rejects with SourceError if the source is at fault. */
  readonly fetch: FetchSource;
  /** Maximum bytes of all content; one namespace gets at most three times the free rest. */
  readonly maxBytes: number;
  /** Milliseconds of the first back-off; default 2,000. */
  readonly retryMs?: number;
  readonly onFetched?: (type: SourceRequest['type'], ok: boolean) => void;
}

interface Entry {
  readonly owner: SourceOwner;
  readonly request: SourceRequest;
  readonly fingerprint: string;
  source?: FetchedSource;
  problem?: Problem;
  failures: number;
  askedAt: number;
  timer?: NodeJS.Timeout;
}

/** Fetches at once, and of one namespace, so that a slow server of one tenant holds up no other. */
const AT_ONCE = 8;
const AT_ONCE_OF_NAMESPACE = 2;
const MAX_RETRY_MS = 300_000;
/** Milliseconds after which an unused source is dropped: reconciles are more frequent. */
const FORGET_MS = 6 * 3_600_000;
/** Times of many sources must not fall together. */
const JITTER = 0.1;

export class SourceFetcher {
  readonly #options: FetcherOptions;
  readonly #store: ContentStore;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting: Entry[] = [];
  readonly #active = new Map<string, number>();
  readonly #listeners: ((owner: SourceOwner) => unknown)[] = [];
  #closed = false;

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#store = new ContentStore(options.maxBytes);
  }

  /** Bytes kept. */
  get used(): number {
    return this.#store.used;
  }

  /** Calls the listener when the state of an owner's source changes. */
  onChange(listener: (owner: SourceOwner) => unknown): void {
    this.#listeners.push(listener);
  }

  /** Returns the state of a source; the first call, and one about another source than before, start a fetch. */
  look(owner: SourceOwner, request: SourceRequest): SourceState {
    const id = ownerText(owner);
    const fingerprint = JSON.stringify(request);
    let entry = this.#entries.get(id);
    if (entry?.fingerprint !== fingerprint) {
      this.forget(owner);
      entry = { owner, request, fingerprint, failures: 0, askedAt: 0 };
      this.#entries.set(id, entry);
      this.#enqueue(entry);
    }
    entry.askedAt = Date.now();
    const { source, problem } = entry;
    if (source) return { state: 'fetched', source, ...(problem ? { problem } : {}) };
    return problem ? { state: 'failed', problem } : { state: 'fetching' };
  }

  /** The owner was deleted, or its content comes from elsewhere now. */
  forget(owner: SourceOwner): void {
    const id = ownerText(owner);
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    clearTimeout(entry.timer);
    if (entry.source) this.#store.release(owner.namespace, entry.source.content);
  }

  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
    for (const { owner } of [...this.#entries.values()]) this.forget(owner);
  }

  #enqueue(entry: Entry): void {
    this.#waiting.push(entry);
    this.#next();
  }

  #next(): void {
    for (let i = 0; i < this.#waiting.length && !this.#closed; ) {
      if ([...this.#active.values()].reduce((sum, count) => sum + count, 0) >= AT_ONCE) return;
      const entry = this.#waiting[i];
      const { namespace } = entry?.owner ?? { namespace: '' };
      const active = this.#active.get(namespace) ?? 0;
      if (!entry || active >= AT_ONCE_OF_NAMESPACE) {
        i++;
        continue;
      }
      this.#waiting.splice(i, 1);
      if (!this.#isCurrent(entry)) continue;
      this.#active.set(namespace, active + 1);
      void this.#fetch(entry).finally(() => {
        const left = (this.#active.get(namespace) ?? 1) - 1;
        if (left > 0) this.#active.set(namespace, left);
        else this.#active.delete(namespace);
        this.#next();
      });
    }
  }

  #isCurrent(entry: Entry): boolean {
    return this.#entries.get(ownerText(entry.owner)) === entry;
  }

  /** Fetches a source. Never rejects. */
  async #fetch(entry: Entry): Promise<void> {
    const { owner, request, source: before } = entry;
    let fetched: FetchedSource | undefined;
    let problem: Problem | undefined;
    try {
      fetched = await this.#options.fetch(owner, request, before);
    } catch (error) {
      const reason = error instanceof SourceError ? error.reason : 'SourceUnavailable';
      problem = { reason, message: messageOf(error) };
    }
    this.#options.onFetched?.(request.type, problem === undefined);
    // Meanwhile the owner may have been deleted, or changed its request.
    if (this.#closed || !this.#isCurrent(entry)) return;
    if (fetched) problem = this.#keep(entry, fetched);
    const news =
      problem?.message !== entry.problem?.message ||
      before?.content !== entry.source?.content ||
      before?.signature !== entry.source?.signature ||
      before?.unsigned !== entry.source?.unsigned ||
      JSON.stringify(before?.signatures) !== JSON.stringify(entry.source?.signatures);
    if (problem) entry.problem = problem;
    else delete entry.problem;
    entry.failures = problem ? entry.failures + 1 : 0;
    this.#schedule(entry);
    if (news) for (const listener of this.#listeners) listener(owner);
  }

  /** Keeps the fetched source; returns a problem if there is no room for it. */
  #keep(entry: Entry, fetched: FetchedSource): Problem | undefined {
    const before = entry.source;
    if (before && fetched.content === before.content) {
      entry.source = fetched;
      return undefined;
    }
    const content = this.#store.hold(entry.owner.namespace, fetched.content);
    if (!content) {
      const message =
        'the memory of the operator for sources is full, for this namespace or for all: raise its --source-cache';
      return { reason: 'SourceUnavailable', message };
    }
    entry.source = { ...fetched, content };
    if (before) this.#store.release(entry.owner.namespace, before.content);
    return undefined;
  }

  #schedule(entry: Entry): void {
    const { retryMs = 2_000 } = this.#options;
    const delay = entry.problem
      ? backoff(entry.failures - 1, retryMs, MAX_RETRY_MS)
      : entry.source?.final
        ? undefined
        : entry.request.intervalSeconds * 1000 * (1 + JITTER * (Math.random() - 0.5));
    if (delay === undefined) return;
    entry.timer = setTimeout(() => {
      if (Date.now() - entry.askedAt > FORGET_MS) this.forget(entry.owner);
      else this.#enqueue(entry);
    }, delay);
    // A scheduled fetch does not keep the process alive.
    entry.timer.unref();
  }
}
