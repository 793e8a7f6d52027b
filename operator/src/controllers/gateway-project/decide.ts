/** Decides the desired objects and status of a GatewayProject from the observed state and its compilation. Pure. */
import type { GatewayProjectStatus } from '../../api/gateway-project.ts';
import type { Refusal } from '../../api/refusal.ts';
import type { GatewayProject } from '../../api/resources.ts';
import type { RolloutStatus } from '../../api/rollout.ts';
import { MAX_DIAGNOSTICS, type StatusDiagnostic } from '../../api/shared.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import type { Link } from '../../objects/link.ts';
import { ANNOTATION_REVISION } from '../../objects/names.ts';
import type { OwnedContext } from '../../objects/owned.ts';
import type { PodPolicy } from '../../objects/pod-policy.ts';
import { serviceAddress } from '../../objects/service.ts';
import { conditions, type Verdict } from '../../runtime/conditions.ts';
import { eventOf } from '../../runtime/event-of.ts';
import type { EventRecord } from '../../runtime/objects.ts';
import {
  acceptedVerdict,
  compiledVerdict,
  injectedVerdict,
  isWhole,
  podsSummary,
  programmedVerdict,
  readyVerdict,
} from './conditions.ts';
import { controlPlaneStatus, type DesiredDeployment, linkAt, syncedVerdict } from './control-plane/decide.ts';
import { decideObjects, ownedContext } from './decide-objects.ts';
import type { Observed } from './observe.ts';
import { routedVerdict } from './pods/routed.ts';
import { type Rollout, rolloutOf } from './rollout/decide.ts';
import { servedBefore, withHistory } from './rollout/revision-history.ts';
import { obsolete } from './rollout/target.ts';
import { updatedVerdict } from './rollout/update-pace.ts';
import type { Compilation } from './sources/compilation.ts';
import { statusWhileFetching, verdictIn } from './sources/while-fetching.ts';
import { decideStorage, obsoleteArtifacts, type StorageDecision } from './storage/decide.ts';

export interface Settings {
  /** Image of gateway pods if the project names none. */
  readonly image: string;
  /** How far projects may go with their pods. Default: not beyond the usual. */
  readonly policy?: PodPolicy;
  /** Namespace of the operator, for the NetworkPolicy. */
  readonly operatorNamespace: string;
  /** Seconds in place of the project's `serve.drainDelay`, if endpoints are withdrawn at once. */
  readonly drainDelay?: number;
  /** Addresses beside public ones that the operator may connect to, for pods that fetch in its place. */
  readonly egressAllow?: readonly string[];
  /** Whether something acts on HorizontalPodAutoscalers. Default: true; else the least number of pods runs. */
  readonly autoscales?: boolean;
  /** Returns the link over which pods of a project get artifacts; absent: there is no link. */
  readonly linkOf?: (project: GatewayProject) => Link;
}

export interface Decision {
  /** New ConfigMaps with the artifact, before everything else. */
  readonly parts: readonly KubeObject[];
  /** Fields that the operator ceases to set, to be applied under another manager. */
  readonly handOver?: KubeObject;
  /** Objects to apply, in this order. */
  readonly apply: readonly KubeObject[];
  /** Owned objects to delete. */
  readonly remove: readonly KubeObject[];
  /** Records of images to be deleted from their registry, and then themselves. */
  readonly forget: readonly KubeObject[];
  readonly status: GatewayProjectStatus;
  /** The deployment to request from the control plane, if the project names one. */
  readonly desiredDeployment?: DesiredDeployment;
  readonly events: readonly EventRecord[];
  /** Milliseconds after which to reconcile again without a change. */
  readonly requeueAfterMs: number;
}

/** Which revisions are kept and rolled out: what is decided before a project asks for its turn to replace pods. */
export interface Plan {
  readonly storage: StorageDecision;
  readonly rollout: Rollout;
  /** Objects are built from it, and from the rollout. */
  readonly context: OwnedContext;
}

const RESYNC_MS = 600_000;
/** Pods that become ready trigger a reconcile; only their artifact must be queried. */
const ROLLOUT_MS = 500;
const MAX_ROLLOUT_MS = 25_000;
/** Interval in milliseconds at which a project that waits for a turn checks it, in case it misses the call. */
const TURN_MS = 60_000;

export function planRollout(
  observed: Observed,
  compilation: Compilation | undefined,
  settings: Settings,
  now: Date,
): Plan {
  const storage = decideStorage(observed, compilation, now);
  const context = ownedContext(observed, podSettings(observed, settings));
  return { storage, context, rollout: rolloutOf(observed, storage, context, now) };
}

/** `problems`: why sources cannot be compiled; empty if they can. */
export function decide(
  observed: Observed,
  { storage, rollout, context }: Plan,
  compilation: Compilation | undefined,
  problems: readonly Refusal[],
  now: Date,
): Decision {
  const { project, pods, foreign } = observed;
  const { spec, status: before, metadata } = project;
  const { revisions: stored, latest } = storage;
  const served = Number(observed.workload?.metadata.annotations?.[ANNOTATION_REVISION]) || undefined;
  const { served: target, pinned, failed, externalDeployment } = rollout;
  const summary = podsSummary(project, pods, target, observed.workload);
  const objects = decideObjects(observed, rollout, context, now);

  const held = statusWhileFetching(project, problems);
  const accepted = verdictIn(held, 'Accepted') ?? acceptedVerdict([...problems, ...objects.problems]);
  const compiled = verdictIn(held, 'Compiled') ?? compiledVerdict(compilation);
  const programmed = routedVerdict(
    programmedVerdict({
      target,
      pods,
      summary,
      foreign,
      autoDeploy: spec.autoDeploy,
      rollout: failed ? undefined : rollout.status,
      sidecars: observed.injection?.pods,
      pending: rollout.pending,
    }),
    observed,
    target?.artifactHash,
  );
  const verdicts = [accepted, compiled, storage.verdict, programmed, ...objects.verdicts];
  // A project without pods of its own has nothing to wait for.
  const settled = programmed.status === 'True' || (summary.wanted === 0 && target !== undefined);
  const ready = readyVerdict(verdicts, {
    summary,
    pinned,
    failed: target?.revision === failed?.revision ? undefined : failed,
    externalDeployment,
    rollout: rollout.status,
  });
  const servedNow = isServedByAll(programmed, rollout.status) ? target?.revision : undefined;
  const outcome = { rollout: rollout.status, served: servedNow, pinned };
  const revisions = withHistory(stored, before, outcome, now);
  const previous = servedBefore({ revisions, revision: target?.revision, rollout: rollout.status }, pinned);
  // Pods of the revision before may still be needed while the next is being rolled out, and people may go back to it.
  const forgotten = settled
    ? obsolete(revisions, spec.revisionHistoryLimit, [
        ...[target?.revision, latest, served, rollout.goal?.revision, rollout.stable?.revision],
        ...[rollout.status?.revision, rollout.status?.from, previous?.revision],
      ])
    : [];
  const garbage = settled
    ? obsoleteArtifacts(
        observed,
        revisions.filter((revision) => !forgotten.includes(revision)),
        compilation,
      )
    : { parts: [], records: [] };
  // Does not affect what is served: Ready depends on the other conditions.
  const newest = revisions.find(({ revision }) => revision === latest);
  const synced = observed.controlPlane ? [syncedVerdict(project, observed.controlPlane, newest?.artifactHash)] : [];
  const injected = observed.injection ? [injectedVerdict(observed.injection)] : [];
  const updated = updatedVerdict(observed, rollout.outdated);
  const around = [...synced, ...injected, ...updated, ...reviewedVerdict(observed)];
  const diagnostics = sorted(held?.diagnostics ?? compilation?.diagnostics ?? []);
  const status: GatewayProjectStatus = {
    observedGeneration: metadata.generation ?? 0,
    conditions: conditions([...verdicts, ...around, ready], before?.conditions, metadata.generation, now),
    ...(target ? { artifactHash: target.artifactHash } : {}),
    ...(target?.revision === undefined ? {} : { revision: target.revision }),
    ...(latest === undefined ? {} : { latestRevision: latest }),
    revisions: revisions.filter((revision) => !forgotten.includes(revision)),
    specs: held?.specs ?? compiledSpecs(observed),
    ...(observed.seenSources ? { sources: [...observed.seenSources] } : {}),
    diagnostics: diagnostics.slice(0, MAX_DIAGNOSTICS),
    diagnosticsCount: held?.diagnosticsCount ?? diagnostics.length,
    pods: summary,
    ...(rollout.status ? { rollout: rollout.status } : {}),
    ...(failed ? { failed } : {}),
    ...(rollout.faults.length > 0 ? { measuredFaults: [...rollout.faults] } : {}),
    ...(observed.sidecars || observed.injection ? { sidecars: { ...observed.sidecars, ...counts(observed) } } : {}),
    ...(observed.controlPlane ? { controlPlane: controlPlaneStatus(project, observed.controlPlane) } : {}),
    address: serviceAddress(project),
  };
  return {
    parts: storage.write,
    ...(objects.handOver ? { handOver: objects.handOver } : {}),
    apply: objects.apply,
    remove: [...objects.remove, ...garbage.parts],
    forget: garbage.records,
    status,
    ...(rollout.desiredDeployment ? { desiredDeployment: rollout.desiredDeployment } : {}),
    events: [...rollout.events, ...events(before, status, [...verdicts, ...around, ready])],
    requeueAfterMs: Math.min(
      settled || !target ? RESYNC_MS : rolloutPause(before, now),
      rollout.requeueAfterMs ?? RESYNC_MS,
      observed.registry?.requeueAfterMs ?? RESYNC_MS,
      objects.requeueAfterMs ?? RESYNC_MS,
      rollout.outdated ? TURN_MS : RESYNC_MS,
    ),
  };
}

/** Reports whether all pods serve the desired revision, and no rollout still has to show that it is good. */
function isServedByAll(programmed: Verdict, rollout: RolloutStatus | undefined): boolean {
  return programmed.status === 'True' && programmed.reason !== 'ScaledToZero' && rollout?.phase !== 'Progressing';
}

/** Grows with time: changes of pods trigger reconciles, and a pod that fails for an hour needs no check each second. */
function rolloutPause(before: GatewayProjectStatus | undefined, now: Date): number {
  const programmed = before?.conditions?.find(({ type }) => type === 'Programmed');
  const since = programmed && programmed.status !== 'True' ? Date.parse(programmed.lastTransitionTime) : now.getTime();
  return Math.min(MAX_ROLLOUT_MS, Math.max(ROLLOUT_MS, (now.getTime() - since) / 20));
}

/** Links gateway pods that take artifacts in place: to the control plane, or else to the operator. */
function podSettings({ project, controlPlane }: Observed, { linkOf, ...settings }: Settings) {
  const own = project.spec.rollout.strategy === 'InPlace' ? linkOf?.(project) : undefined;
  const link = controlPlane ? linkAt(project, controlPlane) : own;
  return link ? { ...settings, link } : settings;
}

/** Returns a verdict only if webhooks drifted; it does not affect what is served. */
function reviewedVerdict({ webhookDrift: message }: Observed): readonly Verdict[] {
  return message === undefined ? [] : [{ type: 'Reviewed', status: 'False', reason: 'WebhookDrift', message }];
}

function counts({ injection }: Observed): { readonly pods?: number; readonly missing?: number } {
  return injection ? { pods: injection.pods, missing: injection.missing.length } : {};
}

function compiledSpecs({ sources }: Observed): NonNullable<GatewayProjectStatus['specs']> {
  return sources.specs.flatMap(({ apiSpec: { metadata }, read }) =>
    read.ok ? [{ name: metadata.name, generation: metadata.generation ?? 0, sha256: read.document.sha256 }] : [],
  );
}

function sorted(diagnostics: readonly StatusDiagnostic[]): readonly StatusDiagnostic[] {
  const rank = ({ severity }: StatusDiagnostic) => (severity === 'error' ? 0 : 1);
  return diagnostics.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns an Event for every condition that changes, so that `kubectl describe` shows the history. */
function events(
  before: GatewayProjectStatus | undefined,
  after: GatewayProjectStatus,
  verdicts: readonly Verdict[],
): readonly EventRecord[] {
  const changed = verdicts.filter(({ type, reason, message }) => {
    const previous = before?.conditions?.find((condition) => condition.type === type);
    // The last Event reports the end state.
    if (reason === 'Programmed') return isWhole(after.pods) && !(previous?.reason === reason && isWhole(before?.pods));
    if (previous?.reason !== reason) return true;
    // A document that fails in another way is worth an Event; counts of pods are not.
    return type === 'Compiled' && previous.message !== message;
  });
  const told = changed.map(({ type, reason, message }) => eventOf(reason, type, message));
  // Ready repeats the others, except when all is well, and for actions of others.
  return told.filter(
    ({ action, reason }) =>
      action !== 'Ready' ||
      reason === 'Ready' ||
      reason === 'DeployedElsewhere' ||
      (reason === 'LastGoodServing' && after.artifactHash !== undefined),
  );
}
