/** Further input of a rollout: refusals of pods over the link, and a canary's measurements. */
import type { GatewayProject, Pod } from '../../../api/resources.ts';
import type { ObjectKey } from '../../../kube/kube-object.ts';
import { ADMIN_PORT, CANARY, LABEL_ROLE } from '../../../objects/names.ts';
import { readAdmin } from '../pods/pod-state.ts';
import type { Compilation } from '../sources/compilation.ts';
import type { AnalysisResult } from './analysis.ts';
import { stepName } from './canary.ts';
import type { Measurements } from './measurements.ts';

/** A pod that did not take an artifact. */
export interface PodRefusal {
  readonly pod: string;
  /** The rollout that it refused: see `attemptOf`. */
  readonly attempt: string;
  readonly detail: string;
}

export interface ObservedRollout {
  /** Pods that have refused artifacts over the link. */
  readonly refusals: readonly PodRefusal[];
  /** Measurements of the canary's step. */
  readonly analysis?: AnalysisResult;
  /** State of the sidecars that are linked. */
  readonly sidecars?: NonNullable<GatewayProject['status']>['sidecars'];
}

/** State of a project's linked data planes, by the project's uid. */
export interface ProjectLink {
  refusals(uid: string): readonly PodRefusal[];
  /** Returns the state of sidecars; undefined if there has never been one. */
  sidecars(uid: string): ObservedRollout['sidecars'];
  /** Called after the project's status, which names the revision for its data planes, is written. */
  decided(project: GatewayProject, compilation: Compilation | undefined): void;
  /** Called when the project was deleted. */
  gone(key: ObjectKey): void;
  /** Takes a function that queues projects with news. */
  onStart(call: (keys: readonly ObjectKey[]) => void): void;
}

/** Reads a pod's metrics; `host` is its address. Rejects without an answer. */
export type MetricsProbe = (pod: Pod, host: string) => Promise<string>;

/** Bytes of them. */
export const MAX_METRICS = 8 << 20;

export const probeMetrics: MetricsProbe = (_, host) => readAdmin(host, ADMIN_PORT, '/metrics', MAX_METRICS);

export interface ObserveRolloutWith {
  readonly measurements: Measurements;
  readonly readMetrics: MetricsProbe;
  readonly link?: ProjectLink;
}

export async function observeRollout(
  { measurements, readMetrics, link }: ObserveRolloutWith,
  { metadata, spec, status }: GatewayProject,
  pods: readonly Pod[],
): Promise<ObservedRollout> {
  const uid = metadata.uid ?? '';
  const sidecars = link?.sidecars(uid);
  const linked = { refusals: link?.refusals(uid) ?? [], ...(sidecars ? { sidecars } : {}) };
  const rollout = status?.rollout;
  if (rollout?.strategy !== 'Canary' || rollout.phase !== 'Progressing' || rollout.steppedAt === undefined) {
    return linked;
  }
  const analysis = await measurements.analyse(
    uid,
    stepName(rollout),
    pods.flatMap((pod) => {
      const host = pod.status?.podIP;
      const going = pod.metadata.deletionTimestamp !== undefined;
      if (!host || going) return [];
      // After the promotion, pods beside the others have the previous revision.
      const canary = (pod.metadata.labels?.[LABEL_ROLE] === CANARY) !== (rollout.watching === true);
      return [{ id: pod.metadata.uid ?? '', canary, read: () => readMetrics(pod, host) }];
    }),
    spec.rollout,
    Date.now(),
  );
  return { ...linked, analysis };
}
