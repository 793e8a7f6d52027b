import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Resource } from '../runtime/kube-object.ts';
import type { Objects } from '../runtime/objects.ts';

/** Applies the status where it differs from the one there is. */
export async function writeStatus<S>(
  objects: Objects,
  resource: Resource<KubeObject>,
  object: KubeObject & { readonly status?: S },
  status: S,
): Promise<void> {
  // By way of JSON: what is left out and what is undefined are the same there.
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(object.status ?? null)), JSON.parse(JSON.stringify(status)))) return;
  const { apiVersion, kind, metadata } = object;
  const applied = {
    apiVersion,
    kind,
    // With the uid, so that the status of a deleted project never lands on its namesake.
    metadata: {
      name: metadata.name,
      ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
      ...(metadata.uid ? { uid: metadata.uid } : {}),
    },
    status,
  };
  await objects.applyStatus(resource, applied);
}
