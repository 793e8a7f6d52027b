/** Writes what was decided: first what others need, then the status. */
import {
  configMaps,
  type GatewayProject,
  gatewayProjects,
  networkPolicies,
  podDisruptionBudgets,
  serviceAccounts,
  services,
  workloads,
} from '../../api/resources.ts';
import { type KubeObject, keyOf, type Resource } from '../../runtime/kube-object.ts';
import type { EventSink, Objects } from '../../runtime/objects.ts';
import { writeStatus } from '../status.ts';
import type { Decision } from './decide.ts';

const RESOURCES: readonly Resource<KubeObject>[] = [
  configMaps,
  serviceAccounts,
  services,
  networkPolicies,
  podDisruptionBudgets,
  workloads,
];

function resourceOf(object: KubeObject): Resource<KubeObject> {
  const found = RESOURCES.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind);
  if (!found) throw new Error(`no resource for ${object.apiVersion} ${object.kind}`);
  return found;
}

export async function act(
  objects: Objects,
  events: EventSink,
  project: GatewayProject,
  decision: Decision,
): Promise<void> {
  for (const part of decision.parts) await objects.apply(resourceOf(part), part);
  for (const object of decision.apply) await objects.apply(resourceOf(object), object);
  for (const object of decision.remove) await objects.remove(resourceOf(object), keyOf(object), object.metadata.uid);
  await writeStatus(objects, gatewayProjects, project, decision.status);
  for (const event of decision.events) events.record(project, event);
}
