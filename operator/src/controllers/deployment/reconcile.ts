import { deployments, gatewayProjects } from '../../api/resources.ts';
import { conditionOf } from '../../runtime/conditions.ts';
import type { ObjectKey } from '../../runtime/kube-object.ts';
import type { EventSink, Objects } from '../../runtime/objects.ts';
import { writeStatus } from '../status.ts';
import { decideDeployment } from './decide.ts';

const RESYNC_MS = 600_000;

/** A Deployment's reconcile: it writes its status only, the rollout itself is the GatewayProject's. */
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
  await writeStatus(objects, deployments, deployment, status);
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready && conditionOf(deployment, 'Ready')?.reason !== ready.reason) {
    // Nothing compiled yet is no fault of the Deployment.
    const waiting = ready.reason === 'NoSuchRevision' && !project?.status?.revisions?.length;
    const failed = status.outcome === 'Failed' || (status.outcome === 'Pending' && !waiting);
    events.record(deployment, {
      type: failed ? 'Warning' : 'Normal',
      reason: ready.reason,
      action: 'Rollout',
      note: ready.message,
    });
  }
  return RESYNC_MS;
}
