/** The verdicts on a GatewayProject. Pure. */

import type { ReasonName } from '../../api/reasons.ts';
import type { Refusal } from '../../api/refusal.ts';
import type { GatewayProject, Workload } from '../../api/resources.ts';
import type { FailedRevision, RolloutStatus } from '../../api/rollout.ts';
import { wantedReplicas } from '../../objects/replicas.ts';
import type { Verdict } from '../../runtime/conditions.ts';
import type { SidecarPods } from '../../sidecar/census.ts';
import { diagnosticText } from '../status/diagnostic-text.ts';
import type { ExternalDeployment, Served } from './control-plane/decide.ts';
import type { PodState } from './pods/pod-state.ts';
import type { PendingTemplate } from './pods/template-state.ts';
import type { Compilation } from './sources/compilation.ts';

/** Maximum number of problems in a message. */
const MAX_PROBLEMS = 8;
const ZERO = 'spec.pods.replicas is 0: there are no pods, and nothing is served';
/** Objects around the pods are missing: the pods serve the newest artifact all the same. */
const AROUND: ReadonlySet<string> = new Set<ReasonName>(['ApiNotInstalled', 'ApiNotAllowed', 'Conflict']);

export function acceptedVerdict(problems: readonly Refusal[]): Verdict {
  // Problems that need a person come before work in progress.
  const first = problems.find(({ reason }) => reason !== 'Fetching') ?? problems[0];
  if (!first)
    return { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'all ApiSpecs and plugins were found' };
  const others = problems.filter(({ message }) => message !== first.message);
  const told = [...new Set([first, ...others].map(({ message }) => message))].slice(0, MAX_PROBLEMS);
  const more = problems.length > MAX_PROBLEMS ? ` (and ${problems.length - MAX_PROBLEMS} more)` : '';
  const status = problems.every(({ reason }) => reason === 'Fetching') ? 'Unknown' : 'False';
  return { type: 'Accepted', status, reason: first.reason, message: told.join('; ') + more };
}

export function compiledVerdict(compilation: Compilation | undefined): Verdict {
  if (!compilation)
    return {
      type: 'Compiled',
      status: 'False',
      reason: 'NotCompiled',
      message: 'ApiSpecs or plugins to compile are missing',
    };
  if (compilation.ok)
    return { type: 'Compiled', status: 'True', reason: 'Compiled', message: `compiled to ${compilation.artifactHash}` };
  const errors = compilation.diagnostics.filter(({ severity }) => severity === 'error');
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more errors)` : '';
  const message = errors[0] ? diagnosticText(errors[0]) + more : 'compilation failed';
  return { type: 'Compiled', status: 'False', reason: 'CompileFailed', message };
}

/** Reports whether all wanted pods serve the desired artifact. */
export function isWhole(pods: Partial<PodsSummary> | undefined): boolean {
  return (pods?.programmed ?? 0) >= (pods?.wanted ?? 0);
}

export interface PodsSummary {
  readonly wanted: number;
  readonly ready: number;
  readonly programmed: number;
}

export function podsSummary(
  project: GatewayProject,
  pods: readonly PodState[],
  target: Served | undefined,
  workload: Workload | undefined,
): PodsSummary {
  const ready = pods.filter((pod) => pod.ready && !pod.terminating);
  return {
    wanted: wantedReplicas(project, workload),
    ready: ready.length,
    programmed: target ? ready.filter((pod) => pod.serves === target.artifactHash).length : 0,
  };
}

interface ProgrammedBasis {
  /** The artifact to serve. */
  readonly target: Served | undefined;
  readonly pods: readonly PodState[];
  readonly summary: PodsSummary;
  /** Objects with the project's names that are not its own. */
  readonly foreign: readonly string[];
  readonly autoDeploy: boolean;
  /** Undefined after a failure, too. */
  readonly rollout: RolloutStatus | undefined;
  /** Number of pods with a sidecar, counted separately. Default 0. */
  readonly sidecars?: number | undefined;
  readonly pending?: PendingTemplate | undefined;
}

/** Returns True only if every ready pod reports the artifact (docs/decisions.md#programmed-by-provenance). */
export function programmedVerdict(basis: ProgrammedBasis): Verdict {
  const { target, pods, summary, foreign, autoDeploy, rollout, sidecars = 0, pending } = basis;
  const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict => ({
    type: 'Programmed',
    status,
    reason,
    message,
  });
  if (foreign.length > 0)
    return verdict('False', 'Conflict', `${foreign.join(', ')} exists and does not belong to this GatewayProject`);
  if (!target) {
    return autoDeploy
      ? verdict('False', 'NotStored', 'there is no artifact to serve')
      : verdict('False', 'AwaitingDeployment', 'autoDeploy is off and no Deployment asks for an artifact');
  }
  if (summary.wanted === 0 && sidecars > 0)
    return verdict('True', 'ServedBySidecars', `no gateway pods are wanted; ${sidecars} pod(s) have sidecars`);
  if (summary.wanted === 0) return verdict('True', 'ScaledToZero', ZERO);
  const { ready, programmed } = summary;
  const waiting = pods
    .filter((pod) => !pod.ready && !pod.terminating && pod.waiting !== undefined)
    .map((pod) => `pod ${pod.name}: ${pod.waiting}`);
  const why = waiting[0] ? `; ${waiting[0]}` : '';
  const its = rollout?.artifactHash === target.artifactHash ? rollout : undefined;
  if (programmed < ready || ready === 0) {
    if (its?.phase === 'Failed') return verdict('False', 'RolloutFailed', its.message ?? 'the rollout failed');
    const silent = pods.find((pod) => pod.unreachable !== undefined);
    if (silent)
      return verdict('Unknown', 'PodsUnreachable', `pod ${silent.name} does not answer: ${silent.unreachable}`);
    // A running rollout reports its own failure, unless pods failed before it.
    const isKept = ready > 0 && rollout?.phase === 'Progressing' && rollout.blamelessAt === undefined;
    if (pending?.stuck !== undefined && !isKept) return verdict('False', 'PodsNotStarting', pending.message);
    if (ready === 0) return verdict('False', 'NoReadyPods', `no pod is ready${why}`);
    if (its?.needsEvidence)
      return verdict('False', 'NeedsEvidence', its.message ?? 'requests must show that it is good');
    const counted = `${programmed} of ${ready} ready pods serve ${named(target)}`;
    return verdict('False', 'RollingOut', `${its?.strategy === 'Canary' ? `canary, ${its.message}` : counted}${why}`);
  }
  if (pending) {
    const stuck = pending.stuck !== undefined && (its?.phase !== 'Progressing' || its.blamelessAt !== undefined);
    return verdict('False', stuck ? 'PodsNotStarting' : 'RollingOut', pending.message);
  }
  // Pods of a canary may still be beside the others.
  const count = `${Math.min(programmed, summary.wanted)} of ${summary.wanted}`;
  return verdict('True', 'Programmed', `${count} pods serve ${named(target)}`);
}

/** Returns the revision as text, or its hash if the cluster does not keep it. */
function named({ revision, artifactHash }: Served): string {
  return revision === undefined ? artifactHash : `revision ${revision}`;
}

interface ReadyBasis {
  readonly summary: PodsSummary;
  readonly pinned: boolean;
  /** The revision that failed, unless it is served all the same. */
  readonly failed: FailedRevision | undefined;
  readonly externalDeployment: ExternalDeployment | undefined;
  readonly rollout: RolloutStatus | undefined;
}

/** `verdicts`: those that it depends on, by importance. */
export function readyVerdict(
  verdicts: readonly Verdict[],
  { summary, pinned, failed, externalDeployment, rollout }: ReadyBasis,
): Verdict {
  const failing = verdicts.find(({ status }) => status !== 'True');
  if (failing) {
    const older = failing.type !== 'Programmed' && failing.type !== 'CertificateValid' && !AROUND.has(failing.reason);
    const serving = older && summary.programmed > 0;
    const message = `${failing.type}: ${failing.message}`;
    if (serving)
      return {
        type: 'Ready',
        status: 'False',
        reason: 'LastGoodServing',
        message: `the last good artifact is served. ${message}`,
      };
    return { type: 'Ready', status: failing.status === 'Unknown' ? 'Unknown' : 'False', reason: 'NotReady', message };
  }
  if (summary.programmed < summary.wanted) {
    return {
      type: 'Ready',
      status: 'False',
      reason: 'RollingOut',
      message: `${summary.programmed} of ${summary.wanted} pods are ready`,
    };
  }
  if (rollout?.needsEvidence) {
    return { type: 'Ready', status: 'False', reason: 'NeedsEvidence', message: rollout.message ?? '' };
  }
  if (externalDeployment) {
    const { message, wentBack } = externalDeployment;
    if (wentBack) return { type: 'Ready', status: 'False', reason: 'RolledBack', message };
    return { type: 'Ready', status: 'True', reason: 'DeployedElsewhere', message };
  }
  if (failed) {
    const message = `revision ${failed.revision} failed to roll out, the last good one is served. ${failed.message}`;
    return { type: 'Ready', status: 'False', reason: 'RolledBack', message };
  }
  if (pinned)
    return {
      type: 'Ready',
      status: 'True',
      reason: 'Pinned',
      message: 'a Deployment pins another artifact than the newest',
    };
  // As requested: nothing waits, and nothing is wrong.
  if (verdicts.some(({ reason }) => reason === 'ScaledToZero'))
    return { type: 'Ready', status: 'True', reason: 'ScaledToZero', message: ZERO };
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: `${Math.min(summary.programmed, summary.wanted)} pod(s) serve the newest artifact`,
  };
}

/** Maximum number of pods in a message. */
const MAX_NAMED = 5;

/** Reports whether the pods that request a sidecar of the project have one. Does not affect what is served. */
export function injectedVerdict({ pods, missing }: SidecarPods): Verdict {
  if (missing.length === 0)
    return { type: 'Injected', status: 'True', reason: 'Injected', message: `${pods} pod(s) have a sidecar` };
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  return {
    type: 'Injected',
    status: 'False',
    reason: 'SidecarMissing',
    message: `${missing.slice(0, MAX_NAMED).join(', ')}${more} request a sidecar but have none: delete the pods, or restart their workloads`,
  };
}
