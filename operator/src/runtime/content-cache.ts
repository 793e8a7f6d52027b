/** Content of objects of which only metadata is watched, by version: read once, dropped when the cache is full. */
import type { KubeObject } from '../kube/kube-object.ts';
import { isOlder } from '../kube/resource-version.ts';

/** Characters of JSON that are kept, which is about as many bytes. */
const MAX_SIZE = 32 * 1024 * 1024;

interface Content {
  readonly object: KubeObject;
  readonly size: number;
}

export class ContentCache {
  readonly #max: number;
  /** Contents in the order of use. */
  readonly #contents = new Map<string, Content>();
  #size = 0;

  constructor(max = MAX_SIZE) {
    this.#max = max;
  }

  /** Returns the object in the version of `metadata`, or in a newer one. */
  get(id: string, { uid, resourceVersion }: KubeObject['metadata']): KubeObject | undefined {
    const found = this.#contents.get(id);
    if (!found) return undefined;
    const { metadata } = found.object;
    if (
      metadata.uid !== uid ||
      (metadata.resourceVersion !== resourceVersion && !isOlder(resourceVersion, metadata.resourceVersion))
    ) {
      this.delete(id);
      return undefined;
    }
    this.#contents.delete(id);
    this.#contents.set(id, found);
    return found.object;
  }

  put(id: string, object: KubeObject): void {
    this.delete(id);
    const size = JSON.stringify(object).length;
    if (size > this.#max) return;
    this.#contents.set(id, { object, size });
    this.#size += size;
    for (const oldest of this.#contents.keys()) {
      if (this.#size <= this.#max) return;
      this.delete(oldest);
    }
  }

  delete(id: string): void {
    this.#size -= this.#contents.get(id)?.size ?? 0;
    this.#contents.delete(id);
  }
}
