import type { KubeObject, ObjectKey, Resource } from './kube-object.ts';

/** Returns the path of a kind's group and version, which lists its resources. */
export function groupPath({ apiVersion }: Resource<KubeObject>): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** Returns the path of a kind's collection, in one namespace or, without one, in all of them. */
export function collectionPath(resource: Resource<KubeObject>, namespace?: string): string {
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${groupPath(resource)}${scope}/${resource.plural}`;
}

/** Returns the path of one object. */
export function objectPath(resource: Resource<KubeObject>, key: ObjectKey): string {
  return `${collectionPath(resource, key.namespace)}/${encodeURIComponent(key.name)}`;
}
