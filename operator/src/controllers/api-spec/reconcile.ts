import { apiSpecs, gatewayProjects } from '../../api/resources.ts';
import type { ObjectKey } from '../../runtime/kube-object.ts';
import type { EventSink, Objects } from '../../runtime/objects.ts';
import { writeStatus } from '../status.ts';
import { decideApiSpec } from './decide.ts';
import { readDocument } from './document.ts';

const RESYNC_MS = 300_000;

/** An ApiSpec's reconcile: it writes nothing but the ApiSpec's status. */
export async function reconcileApiSpec(
  objects: Objects,
  events: EventSink,
  key: ObjectKey,
): Promise<number | undefined> {
  const apiSpec = await objects.get(apiSpecs, key);
  if (!apiSpec || apiSpec.metadata.deletionTimestamp) return undefined;
  const read = await readDocument(objects, apiSpec);
  const projects = await objects.list(gatewayProjects, { namespace: key.namespace });
  const { status, events: told } = decideApiSpec({ apiSpec, read, projects }, new Date());
  await writeStatus(objects, apiSpecs, apiSpec, status);
  for (const event of told) events.record(apiSpec, event);
  return RESYNC_MS;
}
