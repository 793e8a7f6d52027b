/**
 * One list and watch loop: lists in pages, then follows changes from the end of the list. Connections that break, time
 * out or stay silent are resumed at the last version seen (bookmarks advance it). When the server has forgotten that
 * version (410), the list is read again and missing objects are reported as deleted.
 */

import { isRecord, type KubeObject, type ObjectKey, type Resource } from '../kube/kube-object.ts';
import { collectionPath } from '../kube/paths.ts';
import { ApiError, type ApiServer } from './api-server.ts';
import { backoff, pause } from './backoff.ts';
import type { Change, Watch, WatchOptions } from './objects.ts';
import { selectorText } from './selector.ts';

export interface WatchEvents {
  /** Called when a connection is being resumed; `error` is what ended it. */
  onRestart(resource: string, error: unknown): void;
}

/** Store of the objects that a watch has seen. */
export interface WatchKeeper {
  /** Called when a list of that version is complete; unreported objects were deleted. */
  listed(version: string, reported: (key: ObjectKey) => boolean): void;
}

/** Nobody here reads this annotation, which would double the size of the store. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const PAGE = '250';
const SERVER_TIMEOUT_S = 290;
const BASE_MS = 200;
const MAX_MS = 30_000;
/** Longest interval in milliseconds at which a forbidden or missing kind is requested again. */
const MAX_REFUSED_MS = 60_000;
const MAX_ABSENT_MS = 300_000;

export class Watcher implements Watch {
  readonly synced: Promise<void>;
  readonly #api: ApiServer;
  readonly #resource: Resource<KubeObject>;
  readonly #options: WatchOptions;
  readonly #onChange: (change: Change) => void;
  readonly #events: WatchEvents;
  readonly #keeper: WatchKeeper | undefined;
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;
  /** Objects that were reported and not deleted since: needed to see deletions across a new list. */
  readonly #known = new Map<string, KubeObject>();
  #resolveSynced: () => void = () => undefined;

  constructor(
    api: ApiServer,
    resource: Resource<KubeObject>,
    options: WatchOptions,
    onChange: (change: Change) => void,
    events: WatchEvents,
    keeper?: WatchKeeper,
  ) {
    this.#api = api;
    this.#resource = resource;
    this.#options = options;
    this.#onChange = onChange;
    this.#events = events;
    this.#keeper = keeper;
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#resolveSynced();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    let version: string | undefined;
    let failures = 0;
    while (!signal.aborted) {
      const started = Date.now();
      try {
        if (version === undefined) {
          version = await this.#list();
          this.#resolveSynced();
        }
        for await (const seen of this.#follow(version)) {
          version = seen;
          failures = 0;
        }
        // The server ends every watch after its timeout, which is normal unless it does so at once.
        if (Date.now() - started > 1000) continue;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && error.status === 410) version = undefined;
        const expected = this.#options.optional && error instanceof ApiError && error.status === 404;
        if (!expected) this.#events.onRestart(this.#resource.plural, error);
        if (error instanceof ApiError && (error.status === 404 || error.status === 403)) {
          this.#absent(error.status === 404);
          version = undefined;
          const longest = this.#options.optional ? MAX_ABSENT_MS : MAX_REFUSED_MS;
          await pause(backoff(failures++, 1000, longest), signal);
          continue;
        }
        if (error instanceof ApiError && error.retryAfter) await pause(error.retryAfter * 1000, signal);
      }
      await pause(backoff(failures++, BASE_MS, MAX_MS), signal);
    }
  }

  async #list(): Promise<string> {
    const gone = new Set(this.#known.keys());
    let token: string | undefined;
    let version = '';
    do {
      const page = await this.#api.json({
        method: 'GET',
        path: collectionPath(this.#resource, this.#options.namespace),
        query: { limit: PAGE, continue: token, labelSelector: selectorText(this.#options) },
        accept: this.#accept('PartialObjectMetadataList'),
        signal: this.#abort.signal,
      });
      // An empty list of metadata has `items: null`.
      const items = isRecord(page) ? (page['items'] ?? []) : undefined;
      if (!isRecord(page) || !isRecord(page['metadata']) || !Array.isArray(items)) {
        throw new Error(`the API server's answer is not a list of ${this.#resource.plural}`);
      }
      for (const item of items) {
        const object = this.#object(item);
        gone.delete(id(object));
        this.#report(object);
      }
      const { continue: next, resourceVersion } = page['metadata'];
      token = typeof next === 'string' && next !== '' ? next : undefined;
      if (typeof resourceVersion === 'string') version = resourceVersion;
    } while (token !== undefined);
    for (const key of gone) this.#forget(key, this.#goneBy(key, version));
    this.#keeper?.listed(version, ({ namespace, name }) => this.#known.has(`${namespace}/${name}`));
    return version;
  }

  /**
   * Handles a kind that cannot be listed. A kind that is not installed has no objects; a forbidden one remains unknown.
   */
  #absent(answered: boolean): void {
    if (answered) {
      for (const key of [...this.#known.keys()]) this.#forget(key);
      this.#keeper?.listed('', () => false);
    }
    this.#resolveSynced();
  }

  /** Returns an object that a list no longer contains, with the version of the list: when it was deleted is unknown. */
  #goneBy(key: string, resourceVersion: string): KubeObject | undefined {
    const known = this.#known.get(key);
    return known && { ...known, metadata: { ...known.metadata, resourceVersion } };
  }

  async *#follow(from: string): AsyncGenerator<string> {
    const lines = this.#api.lines({
      method: 'GET',
      path: collectionPath(this.#resource, this.#options.namespace),
      query: {
        watch: '1',
        allowWatchBookmarks: 'true',
        resourceVersion: from,
        timeoutSeconds: String(Math.round(SERVER_TIMEOUT_S * (0.9 + Math.random() * 0.2))),
        labelSelector: selectorText(this.#options),
      },
      accept: this.#accept('PartialObjectMetadata'),
      signal: this.#abort.signal,
    });
    for await (const line of lines) {
      const event: unknown = JSON.parse(line);
      if (!isRecord(event)) throw new Error('the API server sent no watch event');
      const { type, object: value } = event;
      if (type === 'ERROR') throw watchError(value);
      if (type !== 'BOOKMARK') {
        const object = this.#object(value);
        if (type === 'DELETED') this.#forget(id(object), object);
        else this.#report(object);
      }
      const version = isRecord(value) && isRecord(value['metadata']) ? value['metadata']['resourceVersion'] : undefined;
      if (typeof version === 'string') yield version;
    }
  }

  #report(object: KubeObject): void {
    const key = id(object);
    const before = this.#known.get(key);
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion && before !== undefined) return;
    // Keeps metadata only: the watcher is not a cache, and Pods and ConfigMaps would need much memory.
    this.#known.set(key, { apiVersion: object.apiVersion, kind: object.kind, metadata: object.metadata });
    this.#onChange({ type: before ? 'modified' : 'added', object, ...(before ? { before: before.metadata } : {}) });
  }

  #forget(key: string, last?: KubeObject): void {
    const object = last ?? this.#known.get(key);
    this.#known.delete(key);
    if (object) this.#onChange({ type: 'deleted', object });
  }

  #object(value: unknown): KubeObject {
    const { apiVersion, kind } = this.#resource;
    if (isRecord(value) && isMeta(value['metadata'])) {
      const metadata = withoutBallast(value['metadata']);
      if (this.#options.metadataOnly) return { apiVersion, kind, metadata };
      // Items of lists carry neither apiVersion nor kind.
      return { ...value, apiVersion, kind, metadata };
    }
    throw new Error(`the API server sent an object of ${this.#resource.plural} without metadata`);
  }

  #accept(as: string): string {
    return this.#options.metadataOnly ? `application/json;as=${as};v=v1;g=meta.k8s.io` : 'application/json';
  }
}

/** Returns metadata without managed fields and the copy that `kubectl apply` adds. */
export function withoutBallast(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  const { managedFields: _, ...kept }: KubeObject['metadata'] & { managedFields?: unknown } = metadata;
  if (kept.annotations?.[LAST_APPLIED] === undefined) return kept;
  const { [LAST_APPLIED]: _l, ...annotations } = kept.annotations;
  return { ...kept, annotations };
}

export function isMeta(value: unknown): value is KubeObject['metadata'] {
  return isRecord(value) && typeof value['name'] === 'string';
}

function id(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

function watchError(value: unknown): ApiError {
  if (!isRecord(value)) return new ApiError(500, '', 'the watch ended with an error');
  return new ApiError(Number(value['code'] ?? 500), String(value['reason'] ?? ''), String(value['message'] ?? ''));
}
