/**
 * Limits how many projects replace their pods at a time because the operator changed, as by an upgrade of its chart. A
 * project whose new pods do not become ready keeps its place, so that a bad upgrade stops after the first few. All
 * failures of a namespace keep one place, so that a tenant whose pods cannot start does not stop the others. Changes
 * that a project itself requests never wait.
 */
import { type GatewayProject, type Workload, workloads } from '../../../api/resources.ts';
import { keyOf, keyText, type ObjectKey } from '../../../kube/kube-object.ts';
import { LABEL_PROJECT } from '../../../objects/names.ts';
import { updateOf } from '../../../objects/update.ts';
import { conditionOf, type Verdict } from '../../../runtime/conditions.ts';
import type { Objects } from '../../../runtime/objects.ts';

export type Turn =
  | { readonly taken: true }
  /** `failed`: projects whose new pods did not become ready; `stopped`: they have all the places. */
  | { readonly taken: false; readonly updating: number; readonly failed: number; readonly stopped: boolean };

export interface UpdateCounts {
  readonly waiting: number;
  readonly updating: number;
  readonly failed: number;
}

export interface UpdatePaceOptions {
  /** Projects at once; 0: all. */
  readonly atOnce: number;
  readonly objects: Pick<Objects, 'list'>;
  /** Watched namespaces; empty means all. */
  readonly namespaces: readonly string[];
  /** Called once each time that failures take all places, so that no other project continues. */
  readonly onStop?: (failed: readonly string[]) => void;
}

export class UpdatePace {
  readonly #options: UpdatePaceOptions;
  /** In the order of their requests. */
  readonly #waiting = new Map<string, ObjectKey>();
  /** Projects that have a turn, but whose workload does not show it yet. */
  readonly #taken = new Set<string>();
  #call: (keys: readonly ObjectKey[]) => void = () => undefined;
  #stopped = false;

  constructor(options: UpdatePaceOptions) {
    this.#options = options;
  }

  /** Takes the function that queues waiting projects. */
  onStart(call: (keys: readonly ObjectKey[]) => void): void {
    this.#call = call;
  }

  /** Reports whether the pods of this project may be replaced now; if so, call `reconciled` after the write. */
  async turn(key: ObjectKey): Promise<Turn> {
    const id = keyText(key);
    const seen = await this.#workloads();
    // Synchronous from here on: two concurrent calls must not both get the last place.
    const { updating, failed, free } = this.#places(seen, id);
    if (free > 0) {
      this.#waiting.delete(id);
      this.#taken.add(id);
      return { taken: true };
    }
    this.#waiting.set(id, key);
    const stopped = updating.size === 0;
    if (stopped && !this.#stopped) this.#options.onStop?.(failed);
    this.#stopped = stopped;
    return { taken: false, updating: updating.size, failed: failed.length, stopped };
  }

  /**
   * `outdated`: the project still waits. Else the next projects in line are queued, or all that wait once failures take
   * all places, so that they say so.
   */
  async reconciled(key: ObjectKey, outdated: boolean): Promise<void> {
    const id = keyText(key);
    this.#taken.delete(id);
    if (outdated) return;
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) return;
    const { free, updating } = this.#places(await this.#workloads());
    const stops = free <= 0 && updating.size === 0 && !this.#stopped;
    const next = [...this.#waiting.values()];
    this.#call(stops ? next : next.slice(0, Math.max(0, free)));
  }

  /** Counts at the time of a scrape. */
  async counts(): Promise<UpdateCounts> {
    const { updating, failed } = this.#places(await this.#workloads());
    return { waiting: this.#waiting.size, updating: updating.size, failed: failed.length };
  }

  /** Projects with running and failed updates, and free places, as if `but` had none. */
  #places(running: readonly Workload[], but?: string) {
    const { atOnce } = this.#options;
    const seen = running
      .map((workload) => ({ ...projectOf(workload), state: updateOf(workload)?.state }))
      .filter(({ id }) => id !== but);
    const updating = new Set(seen.filter(({ state }) => state === 'updating').map(({ id }) => id));
    for (const id of this.#taken) if (id !== but) updating.add(id);
    const failed = seen.filter(({ state }) => state === 'failed');
    const places = updating.size + new Set(failed.map(({ namespace }) => namespace)).size;
    const free = atOnce === 0 ? Number.POSITIVE_INFINITY : atOnce - places;
    return { updating, failed: failed.map(({ id }) => id), free };
  }

  async #workloads(): Promise<readonly Workload[]> {
    const { objects, namespaces } = this.#options;
    const of = namespaces.length > 0 ? namespaces.map((namespace) => ({ namespace })) : [{}];
    const lists = await Promise.all(of.map((where) => objects.list(workloads, { ...where, hasLabel: LABEL_PROJECT })));
    return lists.flat();
  }
}

function projectOf(workload: Workload): { readonly id: string; readonly namespace: string } {
  const { namespace } = keyOf(workload);
  return { id: keyText({ namespace, name: workload.metadata.labels?.[LABEL_PROJECT] ?? '' }), namespace };
}

/** Returns a verdict if an update waits or runs, and once it is over. */
export function updatedVerdict(
  { project, workload, turn }: { readonly project: GatewayProject; readonly workload?: Workload; readonly turn?: Turn },
  outdated: boolean,
): readonly Verdict[] {
  const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): readonly Verdict[] => [
    { type: 'Updated', status, reason, message },
  ];
  if (outdated && turn?.taken !== true) {
    const [stopped, others] = [turn?.stopped ?? false, turn ? othersText(turn) : ''];
    return verdict('False', stopped ? 'UpdateStopped' : 'AwaitingUpdate', `${AS_BEFORE}${others}`);
  }
  const update = outdated ? undefined : updateOf(workload);
  const count = update ? `${update.updated} of ${update.wanted} pods are replaced` : 'the pods are being replaced';
  if (outdated || update?.state === 'updating') return verdict('False', 'Updating', count);
  if (update?.state === 'failed')
    return verdict(
      'False',
      'UpdateFailed',
      `${count}, and the next did not become ready in time; the previous ones keep serving`,
    );
  const told = conditionOf(project, 'Updated') !== undefined;
  return told ? verdict('True', 'Updated', 'the pods match what this operator generates') : [];
}

const AS_BEFORE = 'the pods are still those of an earlier operator, and keep serving';

/** Names no projects: they are of other namespaces. */
function othersText({ updating, failed }: Exclude<Turn, { readonly taken: true }>): string {
  const failures = failed > 0 ? `, ${failed} failed` : '';
  return `; ${updating} GatewayProject(s) are being updated${failures}`;
}
