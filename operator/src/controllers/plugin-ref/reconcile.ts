import { pluginRefs } from '../../api/resources.ts';
import type { ObjectKey } from '../../kube/kube-object.ts';
import type { NamespaceView } from '../../runtime/namespace-view.ts';
import type { EventSink } from '../../runtime/objects.ts';
import { ownerOfPlugin, pluginRequest } from '../../sources/request.ts';
import { holdsWhileFetching } from '../status/fetched.ts';
import { writeStatus } from '../status/write-status.ts';
import { decidePluginRef } from './decide.ts';
import { type ReadPluginWith, readPlugin } from './plugin-package.ts';

const RESYNC_MS = 600_000;

export interface PluginRefWith extends ReadPluginWith {
  readonly events: EventSink;
  readonly namespaces: NamespaceView;
}

/** Reconciles a PluginRef: writes only the PluginRef's status. */
export async function reconcilePluginRef(deps: PluginRefWith, key: ObjectKey): Promise<number | undefined> {
  const { objects, sources, events, namespaces } = deps;
  const ref = await objects.get(pluginRefs, key);
  if (!ref || ref.metadata.deletionTimestamp) {
    sources.forget({ kind: 'PluginRef', ...key });
    return undefined;
  }
  const request = pluginRequest(ref);
  if (!request) sources.forget(ownerOfPlugin(ref));
  const fetch = request && sources.look(ownerOfPlugin(ref), request);
  if (holdsWhileFetching(ref, fetch)) return RESYNC_MS;
  const read = await readPlugin(deps, ref);
  const readsLabels = namespaces.labels !== undefined;
  const { status, events: told } = decidePluginRef({ ref, read, fetch, readsLabels }, new Date());
  await writeStatus(objects, pluginRefs, ref, status);
  for (const event of told) events.record(ref, event);
  return RESYNC_MS;
}
