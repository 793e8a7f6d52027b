/** The verdicts on a GatewayProject. Pure. */
import type { Revision } from '../../api/gateway-project.ts';
import type { GatewayProject, Workload } from '../../api/resources.ts';
import type { StatusDiagnostic } from '../../api/shared.ts';
import type { Verdict } from '../../runtime/conditions.ts';
import type { Refusal } from '../source.ts';
import type { Compilation } from './compilation.ts';
import type { PodState } from './pod-state.ts';

/** `E1020 books.yaml#/paths/~1books/get: message (hint)`, as one line. */
export function diagnosticText({ code, message, hint, file, pointer, line }: StatusDiagnostic): string {
  const place =
    file === undefined ? '' : ` ${file}${line === undefined ? '' : `:${line}`}${pointer ? `#${pointer}` : ''}`;
  return `${code}${place}: ${message}${hint ? ` (${hint})` : ''}`;
}

export function acceptedVerdict(problems: readonly Refusal[]): Verdict {
  const [first] = problems;
  if (!first)
    return { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'every ApiSpec and plugin is there' };
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return { type: 'Accepted', status: 'False', reason: first.reason, message: first.message + more };
}

export function compiledVerdict(compilation: Compilation | undefined): Verdict {
  if (!compilation)
    return { type: 'Compiled', status: 'False', reason: 'NotCompiled', message: 'not everything to compile is there' };
  if (compilation.ok)
    return { type: 'Compiled', status: 'True', reason: 'Compiled', message: `compiled to ${compilation.artifactHash}` };
  const errors = compilation.diagnostics.filter(({ severity }) => severity === 'error');
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more errors)` : '';
  const message = errors[0] ? diagnosticText(errors[0]) + more : 'compilation failed';
  return { type: 'Compiled', status: 'False', reason: 'CompileFailed', message };
}

export function storedVerdict(latest: Revision | undefined, tooLarge: number | undefined): Verdict {
  if (tooLarge !== undefined) {
    const message = `the artifact needs ${tooLarge} ConfigMaps; 8 are the most, an OCI registry is the place for more`;
    return { type: 'Stored', status: 'False', reason: 'ArtifactTooLarge', message };
  }
  if (!latest) return { type: 'Stored', status: 'False', reason: 'NotStored', message: 'there is no artifact yet' };
  return {
    type: 'Stored',
    status: 'True',
    reason: 'Stored',
    message: `revision ${latest.revision} is in ${latest.parts} ConfigMap(s)`,
  };
}

export interface PodsSummary {
  readonly wanted: number;
  readonly ready: number;
  readonly programmed: number;
}

export function podsSummary(
  project: GatewayProject,
  pods: readonly PodState[],
  target: Revision | undefined,
): PodsSummary {
  const ready = pods.filter((pod) => pod.ready && !pod.terminating);
  return {
    wanted: project.spec.pods.replicas,
    ready: ready.length,
    programmed: target ? ready.filter((pod) => pod.serves === target.artifactHash).length : 0,
  };
}

/** True only when every ready pod reports the artifact (D38). */
export function programmedVerdict(
  target: Revision | undefined,
  pods: readonly PodState[],
  summary: PodsSummary,
  workload: Workload | undefined,
  foreign: readonly string[],
  autoDeploy: boolean,
): Verdict {
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
  if (summary.wanted === 0) return verdict('False', 'NoReplicas', 'spec.pods.replicas is 0');
  const { ready, programmed } = summary;
  const waiting = pods
    .filter((pod) => !pod.ready && !pod.terminating && pod.waiting !== undefined)
    .map((pod) => `pod ${pod.name}: ${pod.waiting}`);
  const why = waiting[0] ? `; ${waiting[0]}` : '';
  const progressing = workload?.status?.conditions?.find(({ type }) => type === 'Progressing');
  if (programmed < ready || ready === 0) {
    if (progressing?.reason === 'ProgressDeadlineExceeded') {
      return verdict(
        'False',
        'RolloutFailed',
        `${programmed} of ${ready} ready pods serve revision ${target.revision}${why}`,
      );
    }
    const silent = pods.find((pod) => pod.unreachable !== undefined);
    if (silent)
      return verdict('Unknown', 'PodsUnreachable', `pod ${silent.name} does not answer: ${silent.unreachable}`);
    if (ready === 0) return verdict('False', 'NoReadyPods', `no pod is ready${why}`);
    return verdict(
      'False',
      'RollingOut',
      `${programmed} of ${ready} ready pods serve revision ${target.revision}${why}`,
    );
  }
  return verdict('True', 'Programmed', `${programmed} of ${summary.wanted} pods serve revision ${target.revision}`);
}

export function readyVerdict(verdicts: readonly Verdict[], summary: PodsSummary, pinned: boolean): Verdict {
  const failing = verdicts.find(({ status }) => status !== 'True');
  if (failing) {
    const serving = failing.type !== 'Programmed' && summary.programmed > 0;
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
  if (pinned)
    return {
      type: 'Ready',
      status: 'True',
      reason: 'Pinned',
      message: 'a Deployment pins another artifact than the newest',
    };
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: `${summary.programmed} pod(s) serve the newest artifact`,
  };
}
