/** `spec.pods.template`: the user's patch of the pods' template. */
import type { JsonObject } from '@gw/gateway/artifact';
import { GROUP } from '../api/schema.ts';
import { isRecord } from '../kube/kube-object.ts';
import { type MergeKeys, PatchError, strategicMerge } from './strategic-merge.ts';

const CONTAINER_LISTS: readonly (readonly [string, string])[] = [
  ['env', 'name'],
  ['ports', 'containerPort'],
  ['volumeDevices', 'devicePath'],
  ['volumeMounts', 'mountPath'],
];

/** Merge keys that the Kubernetes API declares for a PodTemplateSpec (x-kubernetes-patch-merge-key). */
export const TEMPLATE_MERGE_KEYS: MergeKeys = new Map([
  ['metadata.ownerReferences', 'uid'],
  ['spec.hostAliases', 'ip'],
  ['spec.imagePullSecrets', 'name'],
  ['spec.resourceClaims', 'name'],
  ['spec.schedulingGates', 'name'],
  ['spec.topologySpreadConstraints', 'topologyKey'],
  ['spec.volumes', 'name'],
  ...['containers', 'initContainers', 'ephemeralContainers'].flatMap((list): [string, string][] => [
    [`spec.${list}`, 'name'],
    ...CONTAINER_LISTS.map(([name, key]): [string, string] => [`spec.${list}.*.${name}`, key]),
  ]),
]);

export type Patched =
  | { readonly ok: true; readonly template: JsonObject }
  | { readonly ok: false; readonly message: string };

/** Returns the template with the patch, or why the patch is refused. */
export function patchTemplate(before: JsonObject, patch: JsonObject): Patched {
  try {
    const after = strategicMerge(before, patch, TEMPLATE_MERGE_KEYS);
    const refused = refusal(before, after);
    return refused === undefined ? { ok: true, template: after } : { ok: false, message: refused };
  } catch (error) {
    if (error instanceof PatchError) return { ok: false, message: error.message };
    throw error;
  }
}

/** Refuses changes of the operator's labels and annotations: pods without them would be lost. */
function refusal(before: JsonObject, after: JsonObject): string | undefined {
  for (const field of ['labels', 'annotations']) {
    const [ours, theirs] = [metadataOf(before, field), metadataOf(after, field)];
    const names = new Set([...Object.keys(ours), ...Object.keys(theirs)].filter((name) => isOurs(field, name)));
    for (const name of names) {
      if (ours[name] !== theirs[name])
        return `metadata.${field} may not change "${name}", which the operator relies on`;
    }
  }
  const spec = after['spec'];
  const containers = isRecord(spec) ? spec['containers'] : undefined;
  const gateway = Array.isArray(containers) && containers.some((each) => isRecord(each) && each['name'] === 'gateway');
  return gateway ? undefined : 'spec.containers must keep the container "gateway"';
}

function isOurs(field: string, name: string): boolean {
  return name.startsWith(`${GROUP}/`) || (field === 'labels' && name.startsWith('app.kubernetes.io/'));
}

function metadataOf(template: JsonObject, field: string): { readonly [name: string]: unknown } {
  const metadata = template['metadata'];
  const found = isRecord(metadata) ? metadata[field] : undefined;
  return isRecord(found) ? found : {};
}
