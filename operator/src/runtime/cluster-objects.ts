/** The objects of a cluster, read and written through its API server. */
import { ApiError, type ApiServer } from './api-server.ts';
import { isRecord, type KubeObject, keyOf, type ObjectKey, type Resource } from './kube-object.ts';
import type { Change, ListOptions, Objects, Watch, WatchOptions } from './objects.ts';
import { collectionPath, objectPath } from './paths.ts';
import { selectorText } from './selector.ts';
import { type WatchEvents, Watcher } from './watcher.ts';

/** Owner of the fields that we apply. */
export const FIELD_MANAGER = 'gw-operator';
const PAGE = '250';

export class ClusterObjects implements Objects {
  readonly #api: ApiServer;
  readonly #events: WatchEvents;

  constructor(api: ApiServer, events: WatchEvents) {
    this.#api = api;
    this.#events = events;
  }

  async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    try {
      return resource.parse(await this.#api.json({ method: 'GET', path: objectPath(resource, key) }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<readonly T[]> {
    const { apiVersion, kind } = resource;
    const items = await this.#items(resource, options, 'application/json');
    // Items of lists carry neither apiVersion nor kind.
    return items.map((item) => resource.parse(isRecord(item) ? { ...item, apiVersion, kind } : item));
  }

  async listMetadata(resource: Resource<KubeObject>, options: ListOptions): Promise<readonly KubeObject[]> {
    const { apiVersion, kind } = resource;
    const items = await this.#items(
      resource,
      options,
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    );
    return items.map((item) => {
      const { metadata } = resource.parse(item);
      return { apiVersion, kind, metadata };
    });
  }

  async #items(resource: Resource<KubeObject>, options: ListOptions, accept: string): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    let token: string | undefined;
    do {
      const page = await this.#api.json({
        method: 'GET',
        path: collectionPath(resource, options.namespace),
        query: { limit: PAGE, continue: token, labelSelector: selectorText(options) },
        accept,
      });
      // An empty list of metadata has `items: null`.
      const items = isRecord(page) ? (page['items'] ?? []) : undefined;
      if (!isRecord(page) || !Array.isArray(items))
        throw new Error(`the API server's answer is no list of ${resource.plural}`);
      found.push(...items);
      const next = isRecord(page['metadata']) ? page['metadata']['continue'] : undefined;
      token = typeof next === 'string' && next !== '' ? next : undefined;
    } while (token !== undefined);
    return found;
  }

  async apply(resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
    await this.#patch(objectPath(resource, keyOf(object)), object);
  }

  async applyStatus(resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
    try {
      await this.#patch(`${objectPath(resource, keyOf(object))}/status`, object);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async remove(resource: Resource<KubeObject>, key: ObjectKey, uid?: string): Promise<void> {
    try {
      await this.#api.json({
        method: 'DELETE',
        path: objectPath(resource, key),
        body: {
          kind: 'DeleteOptions',
          apiVersion: 'v1',
          propagationPolicy: 'Background',
          ...(uid ? { preconditions: { uid } } : {}),
        },
      });
    } catch (error) {
      const another = error instanceof ApiError && error.status === 409 && uid !== undefined;
      if (!another && !isNotFound(error)) throw error;
    }
  }

  watch(resource: Resource<KubeObject>, options: WatchOptions, onChange: (change: Change) => void): Watch {
    return new Watcher(this.#api, resource, options, onChange, this.#events);
  }

  /** Plain JSON, so that fields which no type of ours knows survive; forced, since the fields are ours by design. */
  async #patch(path: string, object: KubeObject): Promise<void> {
    await this.#api.json({
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: object,
    });
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
