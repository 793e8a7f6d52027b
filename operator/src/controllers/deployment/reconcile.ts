import { eventTypeOf } from '../../api/reasons.ts';
import { deployments, gatewayProjects } from '../../api/resources.ts';
import type { ObjectKey } from '../../kube/kube-object.ts';
import { conditionOf } from '../../runtime/conditions.ts';
import type { EventSink, Objects } from '../../runtime/objects.ts';
import { writeStatus } from '../status/write-status.ts';
import { decideDeployment } from './decide.ts';

const RESYNC_MS = 600_000;

/** Reconciles a Deployment: writes only its status; the GatewayProject performs the rollout. */
export async function reconcileDeployment(
  objects: Objects,
  events: EventSink,
  key: ObjectKey,
): Promise<number | undefined> {
  const deployment = await objects.get(deployments, key);
  if (!deployment || deployment.metadata.deletionTimestamp) return undefined;
  const { project: name } = deployment.spec;
  const project = await objects.get(gatewayProjects, { namespace: key.namespace, name });
  const all = await objects.list(deployments, { namespace: key.namespace });
  const siblings = all.filter((sibling) => sibling.spec.project === name);
  const status = decideDeployment({ deployment, project, siblings }, new Date());
  const stalled = await writeStatus(objects, deployments, deployment, status);
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready && conditionOf(deployment, 'Ready')?.reason !== ready.reason) {
    const isFault = status.outcome === 'Failed' || status.outcome === 'Pending';
    // A revision that was deleted, or never existed, does not appear by waiting.
    const isGone = ready.reason === 'NoSuchRevision' && project?.status?.revisions?.length;
    events.record(deployment, {
      type: isGone ? 'Warning' : isFault ? eventTypeOf(ready.reason) : 'Normal',
      reason: ready.reason,
      action: 'Rollout',
      note: ready.message,
    });
  }
  for (const event of stalled) events.record(deployment, event);
  return RESYNC_MS;
}
