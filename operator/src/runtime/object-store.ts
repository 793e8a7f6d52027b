/**
 * Objects that one watch has seen, by namespace and name, with our own writes added at once: a reader never gets an
 * object older than our last write. Events of the watch that are older than such a write change nothing.
 */
import { type KubeObject, keyOf, type ObjectKey } from '../kube/kube-object.ts';
import { isOlder } from '../kube/resource-version.ts';
import type { Change, ListOptions, WatchOptions } from './objects.ts';

export class ObjectStore {
  readonly options: WatchOptions;
  readonly #namespaces = new Map<string, Map<string, KubeObject>>();
  /** Uids of objects that we deleted and whose deletion the watch has not reported yet. */
  readonly #deleted = new Set<string>();
  #ready = false;

  constructor(options: WatchOptions) {
    this.options = options;
  }

  /** Reports whether the watch has synced; before, an object may be missing although it exists. */
  get ready(): boolean {
    return this.#ready;
  }

  get size(): number {
    let size = 0;
    for (const names of this.#namespaces.values()) size += names.size;
    return size;
  }

  /** Reports whether the store has everything that a read with these options could find. */
  covers({ namespace, labels, hasLabel }: ListOptions): boolean {
    const { options } = this;
    if (!this.#ready || (options.namespace !== undefined && options.namespace !== namespace)) return false;
    if (options.selector !== undefined) return false;
    for (const [name, value] of Object.entries(options.labels ?? {})) if (labels?.[name] !== value) return false;
    if (options.hasLabel === undefined) return true;
    return hasLabel === options.hasLabel || labels?.[options.hasLabel] !== undefined;
  }

  find({ namespace, name }: ObjectKey): KubeObject | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  /** Returns metadata, or whole objects if the watch has them, in the order of namespaces and names. */
  list({ namespace, labels = {}, hasLabel }: ListOptions): readonly KubeObject[] {
    const wanted = Object.entries(labels);
    const matches = ({ metadata }: KubeObject) =>
      (hasLabel === undefined || metadata.labels?.[hasLabel] !== undefined) &&
      wanted.every(([name, value]) => metadata.labels?.[name] === value);
    const spaces = namespace === undefined ? [...this.#namespaces.keys()].sort() : [namespace];
    return spaces.flatMap((space) =>
      [...(this.#namespaces.get(space)?.values() ?? [])]
        .filter(matches)
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    );
  }

  /** Takes a change that the watch reports. */
  take({ type, object }: Change): void {
    const { uid, resourceVersion } = object.metadata;
    if (type === 'deleted') {
      if (uid !== undefined) this.#deleted.delete(uid);
      const known = this.find(keyOf(object));
      if (known && !isOlder(resourceVersion, known.metadata.resourceVersion)) this.#drop(keyOf(object));
    } else if (uid === undefined || !this.#deleted.has(uid)) this.put(object);
  }

  /** Ends a complete list of this version: objects that it did not report, and that are not newer, were deleted. */
  listed(version: string, reported: (key: ObjectKey) => boolean): void {
    for (const [namespace, names] of this.#namespaces) {
      for (const [name, object] of names) {
        const key = { namespace, name };
        if (!reported(key) && !isOlder(version, object.metadata.resourceVersion)) this.#drop(key);
      }
    }
    this.#deleted.clear();
    this.#ready = true;
  }

  /** Stores an object from a write's answer or the watch, unless the store has a newer version. */
  put(object: KubeObject): void {
    const { namespace, name } = keyOf(object);
    const names = this.#namespaces.get(namespace) ?? new Map<string, KubeObject>();
    const known = names.get(name)?.metadata.resourceVersion;
    if (
      known !== undefined &&
      (known === object.metadata.resourceVersion || isOlder(object.metadata.resourceVersion, known))
    )
      return;
    this.#namespaces.set(namespace, names);
    names.set(name, object);
  }

  /** Records our deletion: pending events about the object do not bring it back. */
  removed(key: ObjectKey, uid: string | undefined): void {
    const known = this.find(key)?.metadata.uid;
    if (known === undefined || (uid !== undefined && uid !== known)) return;
    this.#drop(key);
    this.#deleted.add(known);
  }

  #drop({ namespace, name }: ObjectKey): void {
    const names = this.#namespaces.get(namespace);
    names?.delete(name);
    if (names?.size === 0) this.#namespaces.delete(namespace);
  }
}
