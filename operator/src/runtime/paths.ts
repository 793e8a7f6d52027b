import type { KubeObject, ObjectKey, Resource } from './kube-object.ts';

/** Path of a kind's collection, in one namespace or, without one, in all of them. */
export function collectionPath(resource: Resource<KubeObject>, namespace?: string): string {
  const root = resource.apiVersion.includes('/') ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.plural}`;
}

/** Path of one object. */
export function objectPath(resource: Resource<KubeObject>, key: ObjectKey): string {
  return `${collectionPath(resource, key.namespace)}/${encodeURIComponent(key.name)}`;
}
