import type { PluginRefStatus } from '../../api/plugin-ref.ts';
import { type PluginRef, pluginRefs } from '../../api/resources.ts';
import { conditionOf, conditions, type Verdict } from '../../runtime/conditions.ts';
import type { ObjectKey } from '../../runtime/kube-object.ts';
import type { EventSink, Objects } from '../../runtime/objects.ts';
import type { Read } from '../source.ts';
import { writeStatus } from '../status.ts';
import { type LoadedPlugin, type PluginCatalog, readPlugin } from './plugin-package.ts';

/** Secrets are not watched. */
const RESYNC_MS = 60_000;

/** Decides a PluginRef's status from its package. Pure. */
export function decidePluginRef(ref: PluginRef, read: Read<LoadedPlugin>, now: Date): PluginRefStatus {
  const verdict: Omit<Verdict, 'type'> = read.ok
    ? {
        status: 'True',
        reason: 'Accepted',
        message: `${read.plugin.name} ${read.plugin.manifest?.version ?? '(without a manifest)'}`,
      }
    : { status: 'False', reason: read.reason, message: read.message };
  const ready: Verdict = { type: 'Ready', ...verdict, reason: read.ok ? 'Ready' : verdict.reason };
  const { generation } = ref.metadata;
  const manifest = read.ok ? read.plugin.manifest : undefined;
  return {
    observedGeneration: generation ?? 0,
    conditions: conditions([{ type: 'Accepted', ...verdict }, ready], ref.status?.conditions, generation, now),
    plugin: ref.spec.plugin ?? ref.metadata.name,
    ...(manifest
      ? { version: manifest.version, type: manifest.type, hostFunctions: [...manifest.host_functions] }
      : {}),
    ...(read.ok ? { sha256: read.sha256 } : {}),
  };
}

/** A PluginRef's reconcile: it writes nothing but the PluginRef's status. */
export async function reconcilePluginRef(
  objects: Objects,
  events: EventSink,
  catalog: PluginCatalog,
  key: ObjectKey,
): Promise<number | undefined> {
  const ref = await objects.get(pluginRefs, key);
  if (!ref || ref.metadata.deletionTimestamp) return undefined;
  const read = await readPlugin(objects, catalog, ref);
  const status = decidePluginRef(ref, read, new Date());
  await writeStatus(objects, pluginRefs, ref, status);
  const accepted = status.conditions?.find(({ type }) => type === 'Accepted');
  if (accepted && conditionOf(ref, 'Accepted')?.reason !== accepted.reason) {
    events.record(ref, {
      type: read.ok ? 'Normal' : 'Warning',
      reason: read.ok ? 'Accepted' : read.reason,
      action: 'Accepted',
      note: accepted.message,
    });
  }
  return RESYNC_MS;
}
