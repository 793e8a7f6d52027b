/** Runs controllers: one watch a kind, shared by all that want it, one queue a controller. */

import { keyOf, keyText, type ObjectKey } from '../kube/kube-object.ts';
import { LABEL_PROJECT } from '../objects/names.ts';
import type { Change, Objects, Watch } from '../runtime/objects.ts';
import type { NamespaceFilter } from '../runtime/selected-namespaces.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import type { Controller, Trigger } from './controllers.ts';

interface RunnerEvents {
  onReconciled(controller: string, seconds: number, ok: boolean): void;
  onError(controller: string, key: string, error: unknown): void;
}

export interface RunnerOptions {
  readonly objects: Objects;
  readonly controllers: readonly Controller[];
  /** Namespaces to watch; empty means all. */
  readonly namespaces: readonly string[];
  /** Filter of namespaces, if all are watched. */
  readonly filter?: NamespaceFilter;
  /** Reconciles at once, a controller. Default 2. */
  readonly workers?: number;
  readonly events: RunnerEvents;
}

interface Watched {
  readonly resource: Trigger['resource'];
  metadataOnly: boolean;
  ownedOnly: boolean;
  optional: boolean;
  readonly triggers: { readonly controller: Controller; readonly trigger: Trigger }[];
}

/** Delays longer than this are spread, so that objects started together do not always requeue together. */
const SPREAD_FROM_MS = 30_000;

export class Runner {
  readonly #options: RunnerOptions;
  readonly #queues = new Map<string, WorkQueue>();
  /** Keys of the objects of each controller's kind by namespace, for changes that call up a whole namespace. */
  readonly #known = new Map<string, Map<string, Set<string>>>();
  readonly #watches: Watch[] = [];
  /** Whether everything has been seen once. Until then each object calls up itself, which is all of them. */
  #seen = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Resolves when every watch has synced; no reconcile runs before. */
  async start(): Promise<void> {
    const { controllers, filter, namespaces, objects } = this.#options;
    for (const controller of controllers) {
      this.#known.set(controller.name, new Map());
      this.#queues.set(controller.name, this.#queue(controller));
      controller.onStart?.((keys) => this.#call(controller, keys));
    }
    await filter?.start((namespace) => {
      if (this.#seen) this.#callNamespace(namespace);
    });
    for (const { triggers, ...watch } of this.#watched()) {
      for (const namespace of namespaces.length > 0 ? namespaces : [undefined]) {
        this.#watches.push(
          objects.watch(
            watch.resource,
            {
              metadataOnly: watch.metadataOnly,
              ...(namespace ? { namespace } : {}),
              ...(watch.ownedOnly ? { hasLabel: LABEL_PROJECT } : {}),
              ...(watch.optional ? { optional: true } : {}),
            },
            (change) => {
              for (const { controller, trigger } of triggers) this.#dispatch(controller, trigger, change);
            },
          ),
        );
      }
    }
    await Promise.all(this.#watches.map(({ synced }) => synced));
    this.#seen = true;
    for (const queue of this.#queues.values()) queue.start();
  }

  /** Keys that wait, by controller. */
  depths(): ReadonlyMap<string, number> {
    return new Map([...this.#queues].map(([name, queue]) => [name, queue.depth]));
  }

  async close(): Promise<void> {
    await this.#options.filter?.close();
    await Promise.all(this.#watches.map((watch) => watch.close()));
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #queue(controller: Controller): WorkQueue {
    const { workers = 2, events, filter } = this.#options;
    return new WorkQueue({
      workers,
      paused: true,
      work: async (text) => {
        const [namespace = '', name = ''] = text.split('/');
        if (filter && !filter.includes(namespace)) return undefined;
        const started = performance.now();
        let ok = false;
        try {
          const requeueAfterMs = await controller.reconcile({ namespace, name });
          ok = true;
          if (requeueAfterMs === undefined || requeueAfterMs < SPREAD_FROM_MS) return requeueAfterMs;
          return requeueAfterMs * (0.9 + Math.random() / 5);
        } finally {
          events.onReconciled(controller.name, (performance.now() - started) / 1000, ok);
        }
      },
      onError: (key, error) => events.onError(controller.name, key, error),
    });
  }

  /** Returns one watch for each requested kind, with whole objects if a controller needs them. */
  #watched() {
    const byKind = new Map<string, Watched>();
    for (const controller of this.#options.controllers) {
      for (const trigger of controller.triggers) {
        const id = `${trigger.resource.apiVersion}/${trigger.resource.kind}`;
        const watch = byKind.get(id) ?? {
          resource: trigger.resource,
          metadataOnly: true,
          ownedOnly: true,
          optional: true,
          triggers: [],
        };
        watch.metadataOnly &&= trigger.metadataOnly ?? false;
        watch.ownedOnly &&= trigger.ownedOnly ?? false;
        watch.optional &&= trigger.optional ?? false;
        watch.triggers.push({ controller, trigger });
        byKind.set(id, watch);
      }
    }
    return byKind.values();
  }

  #dispatch(controller: Controller, trigger: Trigger, change: Change): void {
    const own = isSame(trigger, controller);
    const key = keyOf(change.object);
    if (own) this.#remember(controller, key, change.type !== 'deleted');
    if (!this.#seen) {
      if (own) this.#call(controller, [key]);
      return;
    }
    const { filter } = this.#options;
    if (filter && !filter.includes(key.namespace)) return;
    if (trigger.when && !trigger.when(change)) return;
    const { calls } = trigger;
    if (calls === 'self') this.#call(controller, [key]);
    else if (calls === 'project') {
      const project = change.object.metadata.labels?.[LABEL_PROJECT];
      if (project !== undefined) this.#call(controller, [{ namespace: key.namespace, name: project }]);
    } else if (calls === 'namespace') this.#call(controller, this.#keysIn(controller, key.namespace));
    else {
      calls(change).then(
        (keys) => this.#call(controller, keys),
        (error: unknown) => {
          // If the lookup fails, all objects of the namespace are queued.
          this.#options.events.onError(controller.name, keyText(key), error);
          this.#call(controller, this.#keysIn(controller, key.namespace));
        },
      );
    }
  }

  #call(controller: Controller, keys: readonly ObjectKey[]): void {
    const queue = this.#queues.get(controller.name);
    for (const key of keys) queue?.add(keyText(key));
  }

  #callNamespace(namespace: string): void {
    for (const controller of this.#options.controllers) this.#call(controller, this.#keysIn(controller, namespace));
  }

  #keysIn(controller: Controller, namespace: string): readonly ObjectKey[] {
    return [...(this.#known.get(controller.name)?.get(namespace) ?? [])].map((name) => ({ namespace, name }));
  }

  #remember(controller: Controller, { namespace, name }: ObjectKey, exists: boolean): void {
    const known = this.#known.get(controller.name);
    const names = known?.get(namespace) ?? new Set<string>();
    if (exists) known?.set(namespace, names.add(name));
    else if (names.delete(name) && names.size === 0) known?.delete(namespace);
  }
}

function isSame(trigger: Trigger, controller: Controller): boolean {
  const of = ({ apiVersion, kind }: { apiVersion: string; kind: string }) => `${apiVersion}/${kind}`;
  return of(trigger.resource) === of(controller.resource);
}
