/** Reads the state of the registry that stores a project's artifacts. */

import { keyOf } from '../../../kube/kube-object.ts';
import { type RegistryAccess, registryAccess } from '../../../objects/artifact-record.ts';
import { storedRevisions } from '../../../objects/stored-revisions.ts';
import type { ImageStore } from '../../../storage/image-store.ts';
import type { ImageVolumes } from '../../../storage/image-volumes.ts';
import type { ObservedStorage, RegistryView } from './observed.ts';

export interface Registries {
  readonly images: ImageStore;
  readonly volumes: ImageVolumes;
}

/** Adds the state of the registry, if any artifact is stored or belongs there. */
export async function observeRegistry<T extends ObservedStorage>(
  { images, volumes }: Registries,
  observed: T,
): Promise<T> {
  const { project, parts } = observed;
  const used = imagesInUse(observed);
  const none = project.spec.storage.type !== 'OCI' && used.size === 0;
  if (none && storedRevisions(project, parts).every(({ image }) => image === undefined)) return observed;
  const imageVolumes = await volumes.available(keyOf(project).namespace);
  const registry: RegistryView = { imageVolumes, missing: images.missing(project, used) };
  return { ...observed, registry };
}

/** Stores artifacts for a registry with all others, in local mode. */
export function withoutRegistry<T extends ObservedStorage>(observed: T): T {
  const { project } = observed;
  const spec = { ...project.spec, storage: { type: 'ConfigMap' } as const };
  return { ...observed, project: { ...project, spec }, unlimited: true };
}

/** Returns the images that pods start from: of the served revision, and of the newest. */
function imagesInUse({ project, parts }: ObservedStorage): ReadonlyMap<string, RegistryAccess> {
  const { revision: served, latestRevision: latest } = project.status ?? {};
  return new Map(
    storedRevisions(project, parts)
      .filter(({ revision }) => revision === served || revision === latest)
      .flatMap(({ image, registry }) => (image ? [[image, registryAccess(project, image, registry)]] : [])),
  );
}
