/** Runs controllers: one watch a kind, shared by all that want it, one queue a controller. */
import type { Controller, Trigger } from '../controllers/controllers.ts';
import { LABEL_PROJECT } from '../objects/names.ts';
import { keyOf, keyText, type ObjectKey } from './kube-object.ts';
import type { Change, Objects, Watch } from './objects.ts';
import { WorkQueue } from './work-queue.ts';

export interface RunnerEvents {
  onReconciled(controller: string, seconds: number, ok: boolean): void;
  onError(controller: string, key: string, error: unknown): void;
}

export interface RunnerOptions {
  readonly objects: Objects;
  readonly controllers: readonly Controller[];
  /** Namespaces to look at; none means all. */
  readonly namespaces: readonly string[];
  /** Reconciles at once, a controller. Default 2. */
  readonly workers?: number;
  readonly events: RunnerEvents;
}

interface Watched {
  readonly resource: Trigger['resource'];
  metadataOnly: boolean;
  ownedOnly: boolean;
  readonly triggers: { readonly controller: Controller; readonly trigger: Trigger }[];
}

export class Runner {
  readonly #options: RunnerOptions;
  readonly #queues = new Map<string, WorkQueue>();
  /** Keys of the objects of each controller's kind, for changes that call up a whole namespace. */
  readonly #known = new Map<string, Map<string, ObjectKey>>();
  readonly #watches: Watch[] = [];

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Resolves when every watch has seen what there is. */
  async start(): Promise<void> {
    const { controllers, workers = 2, events } = this.#options;
    for (const controller of controllers) {
      this.#known.set(controller.name, new Map());
      this.#queues.set(
        controller.name,
        new WorkQueue({
          workers,
          work: async (text) => {
            const [namespace = '', name = ''] = text.split('/');
            const started = performance.now();
            let ok = false;
            try {
              const again = await controller.reconcile({ namespace, name });
              ok = true;
              return again;
            } finally {
              events.onReconciled(controller.name, (performance.now() - started) / 1000, ok);
            }
          },
          onError: (key, error) => events.onError(controller.name, key, error),
        }),
      );
    }
    for (const { triggers, ...watch } of this.#watched()) {
      for (const namespace of this.#options.namespaces.length > 0 ? this.#options.namespaces : [undefined]) {
        this.#watches.push(
          this.#options.objects.watch(
            watch.resource,
            {
              metadataOnly: watch.metadataOnly,
              ...(namespace ? { namespace } : {}),
              ...(watch.ownedOnly ? { hasLabel: LABEL_PROJECT } : {}),
            },
            (change) => {
              for (const { controller, trigger } of triggers) this.#dispatch(controller, trigger, change);
            },
          ),
        );
      }
    }
    await Promise.all(this.#watches.map(({ synced }) => synced));
  }

  /** Keys that wait, by controller. */
  depths(): ReadonlyMap<string, number> {
    return new Map([...this.#queues].map(([name, queue]) => [name, queue.depth]));
  }

  async close(): Promise<void> {
    await Promise.all(this.#watches.map((watch) => watch.close()));
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  /** One watch for each kind that is asked for, whole where anyone wants it whole. */
  #watched() {
    const byKind = new Map<string, Watched>();
    for (const controller of this.#options.controllers) {
      for (const trigger of controller.triggers) {
        const id = `${trigger.resource.apiVersion}/${trigger.resource.kind}`;
        const watch = byKind.get(id) ?? {
          resource: trigger.resource,
          metadataOnly: true,
          ownedOnly: true,
          triggers: [],
        };
        watch.metadataOnly &&= trigger.metadataOnly ?? false;
        watch.ownedOnly &&= trigger.ownedOnly ?? false;
        watch.triggers.push({ controller, trigger });
        byKind.set(id, watch);
      }
    }
    return byKind.values();
  }

  #dispatch(controller: Controller, trigger: Trigger, change: Change): void {
    const { object } = change;
    const queue = this.#queues.get(controller.name);
    const known = this.#known.get(controller.name);
    if (!queue || !known) return;
    if (isSame(trigger, controller)) {
      if (change.type === 'deleted') known.delete(keyText(keyOf(object)));
      else known.set(keyText(keyOf(object)), keyOf(object));
    }
    if (trigger.when && !trigger.when(change)) return;
    const namespace = object.metadata.namespace ?? '';
    if (trigger.calls === 'self') queue.add(keyText(keyOf(object)));
    else if (trigger.calls === 'project') {
      const project = object.metadata.labels?.[LABEL_PROJECT];
      if (project !== undefined) queue.add(keyText({ namespace, name: project }));
    } else {
      for (const key of known.values()) if (key.namespace === namespace) queue.add(keyText(key));
    }
  }
}

function isSame(trigger: Trigger, controller: Controller): boolean {
  const of = ({ apiVersion, kind }: { apiVersion: string; kind: string }) => `${apiVersion}/${kind}`;
  return of(trigger.resource) === of(controller.resource);
}
