/** Decides a project's rollout from its observed state: which pods serve which revision. Pure. */
import type { Revision } from '../../../api/gateway-project.ts';
import type { Deployment, GatewayProject, Workload } from '../../../api/resources.ts';
import type { PodSettings } from '../../../objects/gateway-container.ts';
import { ANNOTATION_ASKED, ANNOTATION_REVISION, ANNOTATION_TEMPLATE } from '../../../objects/names.ts';
import { wantedReplicas } from '../../../objects/replicas.ts';
import { askedDigest, templateDigest } from '../../../objects/template-digest.ts';
import { updateOf } from '../../../objects/update.ts';
import {
  type DesiredDeployment,
  describeDesired,
  type ExternalDeployment,
  externalDeployment,
  type ObservedControlPlane,
  type Served,
} from '../control-plane/decide.ts';
import type { PodState } from '../pods/pod-state.ts';
import { type PendingTemplate, pendingTemplate, refusalOf } from '../pods/template-state.ts';
import type { PodSecrets } from '../secrets/observe-pod-secrets.ts';
import { readCommand } from './command.ts';
import { decideRollout, type RolloutDecision } from './decide-rollout.ts';
import type { Fingerprints } from './fingerprints.ts';
import type { ObservedRollout } from './observe.ts';
import { activeDeployment, deploymentId, requestedRevision, target } from './target.ts';

export interface Rollout extends RolloutDecision {
  /** The artifact that pods serve at the end: the goal, or a later deployment at the control plane. */
  readonly served?: Served;
  /** The deployment that the cluster requests from its control plane. */
  readonly desiredDeployment?: DesiredDeployment;
  readonly externalDeployment?: ExternalDeployment;
  /** The revision in the template of the stable pods, which a pod starts with. */
  readonly template?: Revision;
  /** A Deployment pins it to another artifact than the newest. */
  readonly pinned: boolean;
  /** Desired number of stable pods. */
  readonly wanted: number;
  /** Pods that are declared are still to come. */
  readonly pending?: PendingTemplate;
  /** Its pods differ from this operator's for reasons outside the project: they can wait. */
  readonly outdated: boolean;
}

/** Input of a rollout's decision. */
export interface RolloutBasis extends ObservedRollout {
  readonly project: GatewayProject;
  readonly deployments: readonly Deployment[];
  readonly workload?: Workload;
  readonly canary?: Workload;
  readonly pods: readonly PodState[];
  readonly secrets: Pick<PodSecrets, 'seen'>;
  readonly controlPlane?: ObservedControlPlane;
  /** Fingerprints of the artifacts that can be rolled out, by `artifact_hash`; unreadable artifacts are missing. */
  readonly fingerprints?: ReadonlyMap<string, Fingerprints>;
}

export function rolloutOf(
  observed: RolloutBasis,
  { revisions, latest }: { readonly revisions: readonly Revision[]; readonly latest: number | undefined },
  settings: PodSettings,
  now: Date,
): Rollout {
  const { project, deployments, workload, canary, pods, refusals, analysis, secrets, fingerprints } = observed;
  const { spec, status, metadata } = project;
  const templated = revisionOf(workload);
  const command = readCommand(metadata.annotations);
  const wanted = wantedReplicas(project, workload);
  const served = status?.rollout ? status.revision : templated;
  const asked = target(project, deployments, revisions, latest, served);
  const active = activeDeployment(deployments);
  const requested = active && requestedRevision(active, revisions, latest);
  const inPlace = isInPlace(project, settings);
  const refused = refusalOf(workload) ?? refusalOf(canary);
  const decision = decideRollout({
    // A control plane that the pods are linked to has its own deadlines, and rolls back itself.
    spec: inPlace && spec.controlPlane ? { ...spec.rollout, strategy: 'InPlace', ...UNHURRIED } : spec.rollout,
    linked: settings.link !== undefined,
    revisions,
    desired: asked.revision,
    latest,
    generation: metadata.generation ?? 0,
    ...(active && requested ? { asking: { revision: requested.revision, id: deploymentId(active) } } : {}),
    before: status?.rollout,
    failed: status?.failed,
    ...(secrets.seen === undefined ? {} : { secrets: secrets.seen }),
    templated,
    wanted,
    stalled: {
      stable: hasStalled(workload, asked.revision),
      canary: hasStalled(canary, asked.revision),
    },
    ...(refused === undefined ? {} : { uncreatable: refused }),
    blameless: blamelessOf(project),
    pods,
    refusals,
    programmedBefore: status?.pods?.programmed ?? 0,
    ...(analysis ? { analysis } : {}),
    faults: status?.measuredFaults ?? [],
    fingerprintOf: (artifactHash, operation) => {
      const known = fingerprints?.get(artifactHash);
      // A missing operation differs from every measured one.
      return known && (known.get(operation) ?? 'absent');
    },
    ...(command ? { command } : {}),
    now,
  });
  const { stable } = decision;
  const started = revisions.find(({ revision }) => revision === templated);
  const kept = inPlace && started && hasTemplate(workload, project, settings);
  const template = kept ? started : stable;
  const outdated =
    SETTLED.has(decision.status?.phase ?? '') &&
    (inPlace || templated === template?.revision) &&
    isOutdated(workload, project, settings);
  const pending = outdated ? undefined : pendingOf(observed, settings, wanted);
  return {
    ...decision,
    ...(pending ? { pending } : {}),
    ...servedBy(observed, decision, revisions, active, inPlace),
    ...(stable && template ? { template } : {}),
    pinned: asked.pinned,
    wanted,
    outdated,
  };
}

/** Reports whether pods of the present generation failed to start before, so that a new revision is not the reason. */
function blamelessOf({ metadata, status }: GatewayProject): boolean {
  const programmed = status?.conditions?.find(({ type }) => type === 'Programmed');
  return programmed?.reason === 'PodsNotStarting' && programmed.observedGeneration === metadata.generation;
}

/** Ignores differences that the condition `Updated` reports: the project does not declare them. */
function pendingOf(
  { workload, project, pods }: RolloutBasis,
  settings: PodSettings,
  wanted: number,
): PendingTemplate | undefined {
  const update = updateOf(workload);
  const declared =
    workload?.metadata.annotations?.[ANNOTATION_TEMPLATE] === undefined || hasTemplate(workload, project, settings);
  if (declared && update && update.state !== 'done') return undefined;
  return pendingTemplate(workload, pods, wanted, declared);
}

/** Phases in which the pods are as desired, except for the operator's additions. */
const SETTLED: ReadonlySet<string> = new Set(['Succeeded', 'Aborted']);

function isOutdated(workload: Workload | undefined, project: GatewayProject, settings: PodSettings): boolean {
  if (!workload || hasTemplate(workload, project, settings)) return false;
  const asked = workload.metadata.annotations?.[ANNOTATION_ASKED];
  // Operators before this one did not write it down: they had seen this generation, or had not.
  if (asked === undefined) return project.status?.observedGeneration === project.metadata.generation;
  return asked === askedDigest(project, settings);
}

/** Returns the served artifact. With a control plane, the last deployment decides it. */
function servedBy(
  { controlPlane, project }: RolloutBasis,
  { goal }: RolloutDecision,
  revisions: readonly Revision[],
  active: Deployment | undefined,
  inPlace: boolean,
): Pick<Rollout, 'served' | 'desiredDeployment' | 'externalDeployment'> {
  if (!goal) return {};
  if (!controlPlane) return { served: goal };
  const desiredDeployment = { revision: goal, by: describeDesired(goal, active) };
  const before = project.status?.controlPlane;
  const other = inPlace ? externalDeployment(desiredDeployment.by, controlPlane, before, goal.artifactHash) : undefined;
  if (!other) return { served: goal, desiredDeployment };
  const { artifactHash } = other;
  const kept = revisions.find((revision) => revision.artifactHash === artifactHash);
  return { served: kept ?? { artifactHash }, desiredDeployment, externalDeployment: other };
}

const UNHURRIED = { progressDeadlineSeconds: Number.MAX_SAFE_INTEGER };

/** Reports whether pods take artifacts in place. */
function isInPlace({ spec }: GatewayProject, { link }: PodSettings): boolean {
  return link !== undefined && (spec.rollout.strategy === 'InPlace' || spec.controlPlane !== undefined);
}

/** Reports whether its pods differ from the desired ones only in their first revision. */
function hasTemplate(workload: Workload | undefined, project: GatewayProject, settings: PodSettings): boolean {
  return workload?.metadata.annotations?.[ANNOTATION_TEMPLATE] === templateDigest(project, settings);
}

function revisionOf(workload: Workload | undefined): number | undefined {
  return Number(workload?.metadata.annotations?.[ANNOTATION_REVISION]) || undefined;
}

/** Reports whether its pods of that revision have made no progress for `progressDeadlineSeconds`. */
function hasStalled(workload: Workload | undefined, revision: Revision | undefined): boolean {
  if (revision === undefined || revisionOf(workload) !== revision.revision) return false;
  // The status still describes the previous template.
  if ((workload?.status?.observedGeneration ?? 0) < (workload?.metadata.generation ?? 0)) return false;
  const progressing = workload?.status?.conditions?.find(({ type }) => type === 'Progressing');
  return progressing?.reason === 'ProgressDeadlineExceeded';
}
