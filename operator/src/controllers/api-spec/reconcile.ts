import { apiSpecs, gatewayProjects } from '../../api/resources.ts';
import type { ObjectKey } from '../../kube/kube-object.ts';
import type { EventSink } from '../../runtime/objects.ts';
import type { ReadWith } from '../../sources/read-source.ts';
import { documentRequest, ownerOfDocument } from '../../sources/request.ts';
import { holdsWhileFetching } from '../status/fetched.ts';
import { writeStatus } from '../status/write-status.ts';
import { decideApiSpec } from './decide.ts';
import { readDocument } from './document.ts';

const RESYNC_MS = 600_000;

export interface ApiSpecWith extends ReadWith {
  readonly events: EventSink;
}

/** Reconciles an ApiSpec: writes only the ApiSpec's status. */
export async function reconcileApiSpec(deps: ApiSpecWith, key: ObjectKey): Promise<number | undefined> {
  const { objects, sources, events } = deps;
  const apiSpec = await objects.get(apiSpecs, key);
  if (!apiSpec || apiSpec.metadata.deletionTimestamp) {
    sources.forget({ kind: 'ApiSpec', ...key });
    return undefined;
  }
  const request = documentRequest(apiSpec);
  if (!request) sources.forget(ownerOfDocument(apiSpec));
  const fetch = request && sources.look(ownerOfDocument(apiSpec), request);
  if (holdsWhileFetching(apiSpec, fetch)) return RESYNC_MS;
  const read = await readDocument(deps, apiSpec);
  const projects = await objects.list(gatewayProjects, { namespace: key.namespace });
  const { status, events: told } = decideApiSpec({ apiSpec, read, fetch, projects }, new Date());
  const stalled = await writeStatus(objects, apiSpecs, apiSpec, status);
  for (const event of [...told, ...stalled]) events.record(apiSpec, event);
  return RESYNC_MS;
}
