/** Decides a Deployment's status: which revision it asks for, and how far its GatewayProject has come with it. Pure. */
import type { DeploymentStatus } from '../../api/deployment.ts';
import type { Deployment, GatewayProject } from '../../api/resources.ts';
import { conditionOf, conditions, rfc3339, type Verdict } from '../../runtime/conditions.ts';
import { isWhole } from '../gateway-project/conditions.ts';
import { wasAskedBy } from '../gateway-project/control-plane/decide.ts';
import { activeDeployment, deploymentId, requestedRevision } from '../gateway-project/rollout/target.ts';

export interface ObservedDeployment {
  readonly deployment: Deployment;
  readonly project: GatewayProject | undefined;
  /** All Deployments of that project, this one among them. */
  readonly siblings: readonly Deployment[];
}

type Outcome = NonNullable<DeploymentStatus['outcome']>;

interface Progress {
  readonly outcome: Outcome;
  readonly verdict: Omit<Verdict, 'type'>;
}

export function decideDeployment({ deployment, project, siblings }: ObservedDeployment, now: Date): DeploymentStatus {
  const { generation } = deployment.metadata;
  const before = deployment.status;
  const revision = project
    ? requestedRevision(deployment, project.status?.revisions ?? [], project.status?.latestRevision)
    : undefined;
  const accepted = acceptedVerdict(deployment, project, revision !== undefined);
  const newest = activeDeployment(siblings);
  const { outcome, verdict } = progress(deployment, project, revision?.revision, accepted, newest);
  const done =
    outcome === 'Succeeded'
      ? before?.completedAt && before.revision === revision?.revision
        ? before.completedAt
        : rfc3339(now)
      : before?.completedAt;
  return {
    observedGeneration: generation ?? 0,
    conditions: conditions([accepted, { type: 'Ready', ...verdict }], before?.conditions, generation, now),
    ...(revision ? { artifactHash: revision.artifactHash, revision: revision.revision } : {}),
    outcome,
    ...(project && outcome !== 'Superseded'
      ? {
          pods: {
            updated: project.status?.pods?.programmed ?? 0,
            total: project.status?.pods?.wanted ?? project.spec.pods.replicas,
          },
        }
      : {}),
    ...(done ? { completedAt: done } : {}),
  };
}

function acceptedVerdict(deployment: Deployment, project: GatewayProject | undefined, found: boolean): Verdict {
  const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict => ({
    type: 'Accepted',
    status,
    reason,
    message,
  });
  const { hash, revision, latest } = deployment.spec.artifact;
  if ([hash, revision, latest || undefined].filter((field) => field !== undefined).length !== 1) {
    return verdict('False', 'InvalidSpec', 'spec.artifact: exactly one of hash, revision and latest must be set');
  }
  if (!project)
    return verdict(
      'False',
      'ProjectNotFound',
      `GatewayProject "${deployment.spec.project}" does not exist in this namespace`,
    );
  if (found) return verdict('True', 'Accepted', 'the artifact is kept');
  const kept = (project.status?.revisions ?? []).map((known) => known.revision).join(', ');
  return verdict(
    'False',
    'NoSuchRevision',
    kept ? `the kept revisions are ${kept}` : 'no artifact has been compiled yet',
  );
}

function progress(
  deployment: Deployment,
  project: GatewayProject | undefined,
  revision: number | undefined,
  accepted: Verdict,
  newest: Deployment | undefined,
): Progress {
  if (newest && newest.metadata.name !== deployment.metadata.name) {
    const message = `Deployment "${newest.metadata.name}" is newer`;
    return { outcome: 'Superseded', verdict: { status: 'False', reason: 'Superseded', message } };
  }
  const ready = project && conditionOf(project, 'Ready');
  if (ready?.reason === 'DeployedElsewhere' && wasAskedBy(project?.status?.controlPlane, deployment)) {
    return { outcome: 'Superseded', verdict: { status: 'False', reason: 'DeployedElsewhere', message: ready.message } };
  }
  if (accepted.status !== 'True' || !project) {
    return { outcome: 'Pending', verdict: { status: 'False', reason: accepted.reason, message: accepted.message } };
  }
  const failed = project.status?.failed;
  // A revision that failed before this Deployment is tried again, and is not its outcome.
  if (failed?.deployment === deploymentId(deployment) && failed.revision === revision) {
    const message = `revision ${revision} failed to roll out, the last good one is served: ${failed.message}`;
    return { outcome: 'Failed', verdict: { status: 'False', reason: 'RolledBack', message } };
  }
  const programmed = conditionOf(project, 'Programmed');
  // Until the project has observed this revision, its status is about another one.
  const { status } = project;
  const ended = deployment.status?.outcome === 'Succeeded' && deployment.status.revision === revision;
  if (status?.revision === revision && programmed?.status === 'True' && (isWhole(status?.pods) || ended)) {
    return { outcome: 'Succeeded', verdict: { status: 'True', reason: 'Succeeded', message: programmed.message } };
  }
  if (
    project.status?.revision === revision &&
    (programmed?.reason === 'RolloutFailed' || programmed?.reason === 'Conflict')
  ) {
    return {
      outcome: 'Failed',
      verdict: {
        status: 'False',
        reason: programmed.reason === 'Conflict' ? 'Conflict' : 'RolloutFailed',
        message: programmed.message,
      },
    };
  }
  const current = project.status?.revision === revision ? programmed?.message : undefined;
  return {
    outcome: 'Progressing',
    verdict: { status: 'False', reason: 'RollingOut', message: current ?? `revision ${revision} is to be rolled out` },
  };
}
