/** The cluster's objects with the one under review, for checks that write nothing. */
import type { KubeObject, ObjectKey, Resource } from '../kube/kube-object.ts';
import type { ListOptions, Objects } from '../runtime/objects.ts';

export function withProposed(objects: Objects, proposed: KubeObject): Objects {
  const ofKind = ({ apiVersion, kind }: Resource<KubeObject>) =>
    apiVersion === proposed.apiVersion && kind === proposed.kind;
  const here = (namespace: string | undefined) => namespace === undefined || namespace === proposed.metadata.namespace;
  const readOnly = async (): Promise<never> => {
    throw new Error('a review writes nothing');
  };
  return {
    async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey) {
      const same = ofKind(resource) && here(key.namespace) && key.name === proposed.metadata.name;
      return same ? resource.parse(proposed) : objects.get(resource, key);
    },
    async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions) {
      const found = await objects.list(resource, options);
      // Label selectors are for objects that the operator creates itself, which are not reviewed.
      if (!ofKind(resource) || !here(options.namespace) || options.labels || options.hasLabel) return found;
      const { name, namespace } = proposed.metadata;
      const others = found.filter(({ metadata }) => metadata.name !== name || metadata.namespace !== namespace);
      return [...others, resource.parse(proposed)].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
    },
    getMetadata: (resource, key) => objects.getMetadata(resource, key),
    listMetadata: (resource, options) => objects.listMetadata(resource, options),
    serves: (resource) => objects.serves(resource),
    watch: (resource, options, onChange) => objects.watch(resource, options, onChange),
    apply: readOnly,
    applyStatus: readOnly,
    handOver: readOnly,
    remove: readOnly,
  };
}
