/** The objects of a cluster, read and written through its API server. */
import { workloads } from '../api/resources.ts';
import { isRecord, type KubeObject, keyOf, type ObjectKey, type Resource } from '../kube/kube-object.ts';
import { collectionPath, objectPath } from '../kube/paths.ts';
import { ApiError, type ApiServer } from './api-server.ts';
import { Discovery } from './discovery.ts';
import { type Takeover, takeOver } from './list-takeover.ts';
import type { Change, ListOptions, Watch, WatchOptions } from './objects.ts';
import { selectorText } from './selector.ts';
import { isMeta, type WatchEvents, Watcher, type WatchKeeper, withoutBallast } from './watcher.ts';

/** Owner of the fields that we apply. */
export const FIELD_MANAGER = 'gw-operator';
/** Owner of fields that the operator has given up, until another manager sets them. */
export const HANDOVER_MANAGER = 'gw-operator-handover';
const PAGE = '250';
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

export interface WriteOptions {
  /** Takes fields from other managers, else a conflict is an ApiError of status 409. */
  readonly force?: boolean;
  /** Answers with metadata only. */
  readonly metadataOnly?: boolean;
  /** Default: FIELD_MANAGER. */
  readonly manager?: string;
}

/** Reads and writes on the API server itself; CachedObjects puts the watches' stores before it. */
export class ClusterObjects {
  readonly #api: ApiServer;
  readonly #events: WatchEvents;
  readonly #fence: () => void;
  readonly #discovery: Discovery;

  /** `fence` throws when this replica may no longer write, since another one may lead. */
  constructor(api: ApiServer, events: WatchEvents, fence: () => void = () => undefined) {
    this.#api = api;
    this.#events = events;
    this.#fence = fence;
    this.#discovery = new Discovery(api);
  }

  async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    try {
      return resource.parse(await this.#api.json({ method: 'GET', path: objectPath(resource, key) }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async getMetadata(resource: Resource<KubeObject>, key: ObjectKey): Promise<KubeObject | undefined> {
    const { apiVersion, kind } = resource;
    try {
      const found = await this.#api.json({
        method: 'GET',
        path: objectPath(resource, key),
        accept: METADATA,
      });
      return { apiVersion, kind, metadata: resource.parse(found).metadata };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  serves(resource: Resource<KubeObject>): Promise<boolean> {
    return this.#discovery.serves(resource);
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
        throw new Error(`the API server's answer is not a list of ${resource.plural}`);
      found.push(...items);
      const next = isRecord(page['metadata']) ? page['metadata']['continue'] : undefined;
      token = typeof next === 'string' && next !== '' ? next : undefined;
    } while (token !== undefined);
    return found;
  }

  /** Applies and returns the current object, without ballast. */
  async apply(resource: Resource<KubeObject>, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    return this.#patch(objectPath(resource, keyOf(object)), object, options);
  }

  /**
   * Takes over lists of an object, with the items that others have put there: see list-takeover.ts. Returns undefined
   * if there are no such items; throws an ApiError of status 409 if the object changes at the same time.
   */
  async takeOver(
    resource: Resource<KubeObject>,
    key: ObjectKey,
    lists: readonly string[],
  ): Promise<Takeover | undefined> {
    if (lists.length === 0) return undefined;
    const path = objectPath(resource, key);
    const found = await this.#api.json({ method: 'GET', path, accept: METADATA });
    const { managedFields, resourceVersion }: { readonly [name: string]: unknown } =
      isRecord(found) && isRecord(found['metadata']) ? found['metadata'] : {};
    const taken = takeOver(managedFields, FIELD_MANAGER, lists);
    if (!taken) return undefined;
    this.#fence();
    await this.#api.json({
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER },
      contentType: 'application/merge-patch+json',
      accept: METADATA,
      body: { metadata: { resourceVersion, managedFields: taken.managedFields } },
    });
    return taken;
  }

  /** Returns undefined if the object was deleted. */
  async applyStatus(resource: Resource<KubeObject>, object: KubeObject): Promise<KubeObject | undefined> {
    try {
      return await this.#patch(`${objectPath(resource, keyOf(object))}/status`, object, { force: true });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  }

  async remove(resource: Resource<KubeObject>, key: ObjectKey, uid?: string): Promise<void> {
    this.#fence();
    try {
      await this.#api.json({
        method: 'DELETE',
        path: objectPath(resource, key),
        body: {
          kind: 'DeleteOptions',
          apiVersion: 'v1',
          // The workload is deleted after its pods: a disruption budget stops counting if it finds pods without one.
          propagationPolicy: resource === workloads ? 'Foreground' : 'Background',
          ...(uid ? { preconditions: { uid } } : {}),
        },
      });
    } catch (error) {
      const another = error instanceof ApiError && error.status === 409 && uid !== undefined;
      if (!another && !isNotFound(error)) throw error;
    }
  }

  watch(
    resource: Resource<KubeObject>,
    options: WatchOptions,
    onChange: (change: Change) => void,
    keeper?: WatchKeeper,
  ): Watch {
    return new Watcher(this.#api, resource, options, onChange, this.#events, keeper);
  }

  /** Sends plain JSON, so that fields without a type here survive. */
  async #patch(
    path: string,
    object: KubeObject,
    { force, metadataOnly, manager = FIELD_MANAGER }: WriteOptions,
  ): Promise<KubeObject> {
    this.#fence();
    const answer = await this.#api.json({
      method: 'PATCH',
      path,
      query: { fieldManager: manager, force: force ? 'true' : undefined },
      contentType: 'application/apply-patch+yaml',
      ...(metadataOnly ? { accept: METADATA } : {}),
      body: object,
    });
    const { apiVersion, kind } = object;
    if (!isRecord(answer) || !isMeta(answer['metadata'])) throw new Error(`the API server answered no ${kind}`);
    const metadata = withoutBallast(answer['metadata']);
    return metadataOnly ? { apiVersion, kind, metadata } : { ...answer, apiVersion, kind, metadata };
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
