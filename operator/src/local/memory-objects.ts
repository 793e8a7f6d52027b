/**
 * The objects of local mode: an API server for controllers, in memory. Applying gives an object its uid, version and
 * generation, keeps its status, and notifies watchers; deleting also deletes the objects that it owns.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, keyOf, type ObjectKey, type ObjectMeta, type Resource } from '../kube/kube-object.ts';
import { rfc3339 } from '../runtime/conditions.ts';
import type { Change, ChangeType, ListOptions, Objects, Watch, WatchOptions } from '../runtime/objects.ts';

type Kind = Pick<Resource<KubeObject>, 'apiVersion' | 'kind'>;
type Stored = KubeObject & { readonly status?: unknown };

interface Watcher {
  readonly kind: string;
  readonly options: WatchOptions;
  readonly onChange: (change: Change) => void;
}

const idOf = ({ apiVersion, kind }: Kind) => `${apiVersion}/${kind}`;
const nameOf = ({ namespace, name }: ObjectKey) => `${namespace}/${name}`;

export class MemoryObjects implements Objects {
  readonly #kinds = new Map<string, Map<string, Stored>>();
  readonly #watchers = new Set<Watcher>();
  #version = 0;

  async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    const found = this.#kind(resource).get(nameOf(key));
    return found && resource.parse(structuredClone(found));
  }

  async getMetadata(resource: Resource<KubeObject>, key: ObjectKey): Promise<KubeObject | undefined> {
    const found = await this.get(resource, key);
    return found && { apiVersion: found.apiVersion, kind: found.kind, metadata: found.metadata };
  }

  /** Returns true: every kind is supported here. */
  async serves(): Promise<boolean> {
    return true;
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<readonly T[]> {
    const found = [...this.#kind(resource).values()].filter((object) => matches(object, options));
    const sorted = found.toSorted((a, b) => nameOf(keyOf(a)).localeCompare(nameOf(keyOf(b)), 'en'));
    return sorted.map((object) => resource.parse(structuredClone(object)));
  }

  async listMetadata(resource: Resource<KubeObject>, options: ListOptions): Promise<readonly KubeObject[]> {
    return (await this.list(resource, options)).map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      metadata,
    }));
  }

  /** Throws if the object is not of its kind, as an API server refuses it. */
  async apply(resource: Resource<KubeObject>, object: KubeObject): Promise<undefined> {
    const next: Stored = resource.parse(structuredClone(object));
    const kind = this.#kind(resource);
    const before = kind.get(nameOf(keyOf(next)));
    const { metadata: meta, status: _, ...body } = next;
    const { metadata: _m, status, ...bodyBefore } = before ?? next;
    const changed = before === undefined || !isDeepStrictEqual(body, bodyBefore);
    const metadata: ObjectMeta = {
      ...meta,
      uid: before?.metadata.uid ?? randomUUID(),
      creationTimestamp: before?.metadata.creationTimestamp ?? rfc3339(new Date()),
      generation: (before?.metadata.generation ?? 0) + (changed ? 1 : 0),
      resourceVersion: before?.metadata.resourceVersion ?? '0',
    };
    if (before && !changed && isDeepStrictEqual(metadata, before.metadata)) return undefined;
    this.#store(before ? 'modified' : 'added', {
      ...body,
      ...(before && status !== undefined ? { status } : {}),
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      metadata,
    });
    return undefined;
  }

  /** Does nothing: there are no other managers here. */
  async handOver(): Promise<void> {}

  async applyStatus(resource: Resource<KubeObject>, object: KubeObject & { readonly status?: unknown }): Promise<void> {
    const before = this.#kind(resource).get(nameOf(keyOf(object)));
    const { uid } = object.metadata;
    if (
      !before ||
      (uid !== undefined && uid !== before.metadata.uid) ||
      isDeepStrictEqual(before.status, object.status)
    )
      return;
    this.#store('modified', { ...before, status: structuredClone(object.status) });
  }

  async remove(resource: Kind, key: ObjectKey, uid?: string): Promise<void> {
    const kind = this.#kind(resource);
    const object = kind.get(nameOf(key));
    if (!object || (uid !== undefined && object.metadata.uid !== uid)) return;
    kind.delete(nameOf(key));
    this.#tell('deleted', object);
    for (const owned of [...this.#kinds.values()].flatMap((objects) => [...objects.values()])) {
      if (owned.metadata.ownerReferences?.some((ref) => ref.uid === object.metadata.uid))
        await this.remove(owned, keyOf(owned));
    }
  }

  watch(resource: Resource<KubeObject>, options: WatchOptions, onChange: (change: Change) => void): Watch {
    const watcher: Watcher = { kind: idOf(resource), options, onChange };
    const existing = [...this.#kind(resource).values()].filter((object) => matches(object, options));
    this.#watchers.add(watcher);
    // Asynchronous, as from a server: no callback runs before `watch` has returned.
    const synced = Promise.resolve().then(() => {
      for (const object of existing) if (this.#watchers.has(watcher)) deliver(watcher, 'added', object);
    });
    return {
      synced,
      close: async () => {
        this.#watchers.delete(watcher);
      },
    };
  }

  #kind(kind: Kind): Map<string, Stored> {
    const id = idOf(kind);
    const found = this.#kinds.get(id) ?? new Map<string, Stored>();
    this.#kinds.set(id, found);
    return found;
  }

  #store(type: ChangeType, object: Stored): void {
    this.#version++;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    const before = this.#kind(object).get(nameOf(keyOf(object)))?.metadata;
    this.#kind(object).set(nameOf(keyOf(object)), stored);
    this.#tell(type, stored, before);
  }

  #tell(type: ChangeType, object: Stored, before?: ObjectMeta): void {
    for (const watcher of this.#watchers) {
      if (watcher.kind === idOf(object) && matches(object, watcher.options)) deliver(watcher, type, object, before);
    }
  }
}

function deliver({ options, onChange }: Watcher, type: ChangeType, object: Stored, before?: ObjectMeta): void {
  const { apiVersion, kind, metadata } = object;
  const told = structuredClone(options.metadataOnly ? { apiVersion, kind, metadata } : object);
  onChange({ type, object: told, ...(before ? { before } : {}) });
}

function matches({ metadata }: KubeObject, { namespace, labels = {}, hasLabel }: ListOptions): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  if (hasLabel !== undefined && metadata.labels?.[hasLabel] === undefined) return false;
  return Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);
}
