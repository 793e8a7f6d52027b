/**
 * The objects of a cluster, read from watches if a watch covers them, so that a reconcile without changes costs the API
 * server nothing. Our own writes are in the store at once: every decision includes our last write. Other objects are
 * read from the API server.
 */

import { type KubeObject, keyOf, keyText, type ObjectKey, type Resource } from '../kube/kube-object.ts';
import { AppliedObjects } from './applied.ts';
import { type ClusterObjects, HANDOVER_MANAGER } from './cluster-objects.ts';
import { ContentCache } from './content-cache.ts';
import { conflictOf, FieldConflicts } from './field-conflicts.ts';
import { duplicateLists } from './list-takeover.ts';
import { ObjectStore } from './object-store.ts';
import type { Change, FieldConflict, ListOptions, Objects, Watch, WatchOptions } from './objects.ts';

export interface CacheEvents {
  /** Called for each read, with its source. */
  onRead(resource: string, from: 'cache' | 'server'): void;
}

export class CachedObjects implements Objects {
  readonly #cluster: ClusterObjects;
  readonly #events: CacheEvents;
  readonly #stores = new Map<string, Set<ObjectStore>>();
  readonly #contents = new ContentCache();
  readonly #applied = new AppliedObjects();
  readonly #conflicts = new FieldConflicts();

  constructor(cluster: ClusterObjects, events: CacheEvents = { onRead: () => undefined }) {
    this.#cluster = cluster;
    this.#events = events;
  }

  /** Objects that are kept, by kind. */
  sizes(): ReadonlyMap<string, number> {
    const sizes = new Map<string, number>();
    for (const [kind, stores] of this.#stores)
      sizes.set(
        kind,
        [...stores].reduce((sum, { size }) => sum + size, 0),
      );
    return sizes;
  }

  async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    for (const store of this.#storesOf(resource, key.namespace)) {
      const found = store.find(key);
      if (found && !store.options.metadataOnly) return this.#cached(resource, resource.parseOnce(found));
      if (found) return this.#content(resource, found);
      if (store.covers({ namespace: key.namespace })) return this.#cached(resource, undefined);
    }
    this.#events.onRead(resource.plural, 'server');
    return this.#cluster.get(resource, key);
  }

  async getMetadata(resource: Resource<KubeObject>, key: ObjectKey): Promise<KubeObject | undefined> {
    for (const store of this.#storesOf(resource, key.namespace)) {
      const found = store.find(key);
      if (found || store.covers({ namespace: key.namespace })) return this.#cached(resource, found);
    }
    this.#events.onRead(resource.plural, 'server');
    return this.#cluster.getMetadata(resource, key);
  }

  serves(resource: Resource<KubeObject>): Promise<boolean> {
    return this.#cluster.serves(resource);
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<readonly T[]> {
    const store = this.#storesOf(resource, options.namespace).find(
      (one) => one.covers(options) && !one.options.metadataOnly,
    );
    if (store)
      return this.#cached(
        resource,
        store.list(options).map((object) => resource.parseOnce(object)),
      );
    this.#events.onRead(resource.plural, 'server');
    return this.#cluster.list(resource, options);
  }

  async listMetadata(resource: Resource<KubeObject>, options: ListOptions): Promise<readonly KubeObject[]> {
    const store = this.#storesOf(resource, options.namespace).find((one) => one.covers(options));
    if (store) return this.#cached(resource, store.list(options));
    this.#events.onRead(resource.plural, 'server');
    return this.#cluster.listMetadata(resource, options);
  }

  /**
   * Writes nothing while the object is as we applied it last. Retakes fields that another manager has set since, first
   * at once, then after growing delays (FieldConflict).
   */
  async apply(resource: Resource<KubeObject>, object: KubeObject): Promise<FieldConflict | undefined> {
    const key = keyOf(object);
    const id = idOf(resource, key);
    const stores = this.#storesOf(resource, key.namespace);
    const live = stores.map((store) => store.find(key)).find((found) => found !== undefined);
    if (live && this.#applied.stands(id, object, live)) return undefined;
    // A new value is applied even against other managers; a repeated one may have to wait.
    const left = live && this.#applied.wants(id, object) ? this.#conflicts.left(id) : undefined;
    if (left) return left;
    const metadataOnly = stores.length > 0 && stores.every((store) => store.options.metadataOnly);
    const { written, from } = await this.#take(resource, object, metadataOnly);
    this.#written(resource, written);
    this.#applied.done(id, object, written);
    const [first] = from;
    return first && this.#conflicts.taken(id, { ...first, fields: from.flatMap(({ fields }) => fields) });
  }

  /** Applies the object, and takes the operator's fields from managers that have set them since. */
  async #take(resource: Resource<KubeObject>, object: KubeObject, metadataOnly: boolean) {
    const from: { readonly manager: string; readonly fields: readonly string[] }[] = [];
    for (;;) {
      try {
        const written = await this.#cluster.apply(resource, object, { metadataOnly, force: from.length > 0 });
        return { written, from };
      } catch (error) {
        // Fields, then lists: a later refusal means an invalid object, or a concurrent write.
        const found =
          from.length < 2
            ? (conflictOf(error) ?? (await this.#cluster.takeOver(resource, keyOf(object), duplicateLists(error))))
            : undefined;
        if (!found) throw error;
        from.push(found);
      }
    }
  }

  async handOver(resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
    this.#written(resource, await this.#cluster.apply(resource, object, { force: true, manager: HANDOVER_MANAGER }));
  }

  async applyStatus(resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
    const written = await this.#cluster.applyStatus(resource, object);
    if (written) this.#written(resource, written);
  }

  async remove(resource: Resource<KubeObject>, key: ObjectKey, uid?: string): Promise<void> {
    await this.#cluster.remove(resource, key, uid);
    for (const store of this.#storesOf(resource, key.namespace)) store.removed(key, uid);
    this.#forget(idOf(resource, key));
  }

  watch(resource: Resource<KubeObject>, options: WatchOptions, onChange: (change: Change) => void): Watch {
    const store = new ObjectStore(options);
    const kind = kindOf(resource);
    const stores = this.#stores.get(kind) ?? new Set();
    this.#stores.set(kind, stores.add(store));
    const watch = this.#cluster.watch(
      resource,
      options,
      (change) => {
        store.take(change);
        if (change.type === 'deleted') this.#forget(idOf(resource, keyOf(change.object)));
        onChange(change);
      },
      store,
    );
    return {
      synced: watch.synced,
      close: async () => {
        stores.delete(store);
        await watch.close();
      },
    };
  }

  /** Returns the content of an object of which only metadata is watched. */
  async #content<T extends KubeObject>(resource: Resource<T>, { metadata }: KubeObject): Promise<T | undefined> {
    const key = { namespace: metadata.namespace ?? '', name: metadata.name };
    const id = idOf(resource, key);
    const known = this.#contents.get(id, metadata);
    if (known) return this.#cached(resource, resource.parseOnce(known));
    this.#events.onRead(resource.plural, 'server');
    const found = await this.#cluster.get(resource, key);
    if (found) this.#contents.put(id, found);
    return found;
  }

  #cached<V>(resource: Resource<KubeObject>, value: V): V {
    this.#events.onRead(resource.plural, 'cache');
    return value;
  }

  #written(resource: Resource<KubeObject>, object: KubeObject): void {
    const { apiVersion, kind, metadata } = object;
    for (const store of this.#storesOf(resource, metadata.namespace)) {
      const { hasLabel } = store.options;
      if (hasLabel !== undefined && metadata.labels?.[hasLabel] === undefined) continue;
      store.put(store.options.metadataOnly ? { apiVersion, kind, metadata } : object);
    }
  }

  #forget(id: string): void {
    this.#applied.forget(id);
    this.#conflicts.forget(id);
    this.#contents.delete(id);
  }

  /** Returns the synced stores that could contain objects of the namespace. */
  #storesOf(resource: Resource<KubeObject>, namespace: string | undefined): readonly ObjectStore[] {
    const stores = [...(this.#stores.get(kindOf(resource)) ?? [])];
    return stores.filter(
      ({ ready, options }) => ready && (options.namespace === undefined || options.namespace === namespace),
    );
  }
}

function kindOf({ apiVersion, kind }: Resource<KubeObject>): string {
  return `${apiVersion}/${kind}`;
}

function idOf(resource: Resource<KubeObject>, key: ObjectKey): string {
  return `${kindOf(resource)} ${keyText(key)}`;
}
