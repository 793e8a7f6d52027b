/** Objects with the reasons to reconcile again: reads that no watch covers, and deferred writes. */
import type { KubeObject, ObjectKey, Resource } from '../kube/kube-object.ts';
import type { Change, FieldConflict, ListOptions, Objects, Watch, WatchOptions } from './objects.ts';

export class TrackedObjects implements Objects {
  readonly #objects: Objects;
  readonly #unwatched: Resource<KubeObject>;
  #read = false;
  #retryMs = Number.POSITIVE_INFINITY;

  constructor(objects: Objects, unwatched: Resource<KubeObject>) {
    this.#objects = objects;
    this.#unwatched = unwatched;
  }

  /** Reports whether an object of the unwatched kind was read, also a missing one. */
  get readUnwatched(): boolean {
    return this.#read;
  }

  /**
   * Milliseconds until fields that were left to another manager can be retaken; infinite if there are no such fields.
   */
  get retryMs(): number {
    return this.#retryMs;
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    this.#note(resource);
    return this.#objects.get(resource, key);
  }

  getMetadata(resource: Resource<KubeObject>, key: ObjectKey): Promise<KubeObject | undefined> {
    this.#note(resource);
    return this.#objects.getMetadata(resource, key);
  }

  serves(resource: Resource<KubeObject>): Promise<boolean> {
    return this.#objects.serves(resource);
  }

  list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<readonly T[]> {
    this.#note(resource);
    return this.#objects.list(resource, options);
  }

  listMetadata(resource: Resource<KubeObject>, options: ListOptions): Promise<readonly KubeObject[]> {
    this.#note(resource);
    return this.#objects.listMetadata(resource, options);
  }

  async apply(resource: Resource<KubeObject>, object: KubeObject): Promise<FieldConflict | undefined> {
    const conflict = await this.#objects.apply(resource, object);
    this.#retryMs = Math.min(this.#retryMs, conflict?.retryMs ?? Number.POSITIVE_INFINITY);
    return conflict;
  }

  handOver(resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
    return this.#objects.handOver(resource, object);
  }

  applyStatus(resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
    return this.#objects.applyStatus(resource, object);
  }

  remove(resource: Resource<KubeObject>, key: ObjectKey, uid?: string): Promise<void> {
    return this.#objects.remove(resource, key, uid);
  }

  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions, onChange: (change: Change) => void): Watch {
    return this.#objects.watch(resource, options, onChange);
  }

  #note({ apiVersion, kind }: Resource<KubeObject>): void {
    if (apiVersion === this.#unwatched.apiVersion && kind === this.#unwatched.kind) this.#read = true;
  }
}
