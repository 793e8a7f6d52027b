/** What a registry has to do with a project's artifacts: pushes the one that was compiled, where it belongs there. */
import { type RegistryAccess, registryAccess } from '../../objects/artifact-record.ts';
import { storedRevisions } from '../../objects/stored-revisions.ts';
import { keyOf } from '../../runtime/kube-object.ts';
import type { ImageStore } from '../../storage/image-store.ts';
import type { ImageVolumes } from '../../storage/image-volumes.ts';
import type { Compilation } from './compilation.ts';
import type { Observed, RegistryView } from './observe.ts';
import { wantsImage } from './storing.ts';

export interface Registries {
  readonly images: ImageStore;
  readonly volumes: ImageVolumes;
}

const PUSHING_MS = 1000;
const FAILED_MS = 10_000;

/** Adds what is known of the registry, where any artifact lies or belongs in one. */
export async function withRegistry(
  { images, volumes }: Registries,
  observed: Observed,
  compilation: Compilation | undefined,
): Promise<Observed> {
  const { project, parts } = observed;
  const used = imagesInUse(observed);
  const none = project.spec.storage.type !== 'OCI' && used.size === 0;
  if (none && storedRevisions(project, parts).every(({ image }) => image === undefined)) {
    images.settle(project);
    return observed;
  }
  const imageVolumes = await volumes.available(keyOf(project).namespace);
  const missing = images.missing(project, used);
  const known: RegistryView = { imageVolumes, missing };
  if (!wantsImage({ ...observed, registry: known }, compilation)) {
    images.settle(project);
    return { ...observed, registry: known };
  }
  const image = await images.store(project, compilation);
  const again = { pushing: PUSHING_MS, failed: FAILED_MS, stored: undefined }[image.state];
  return { ...observed, registry: { ...known, image, ...(again ? { again } : {}) } };
}

/** Local mode: what is for a registry goes where everything else goes. */
export function withoutRegistry(observed: Observed): Observed {
  const { project } = observed;
  const spec = { ...project.spec, storage: { type: 'ConfigMap' } as const };
  return { ...observed, project: { ...project, spec }, unlimited: true };
}

/** Those that pods are started from: of the revision that is served, and of the newest. */
function imagesInUse({ project, parts }: Observed): ReadonlyMap<string, RegistryAccess> {
  const { revision: served, latestRevision: latest } = project.status ?? {};
  return new Map(
    storedRevisions(project, parts)
      .filter(({ revision }) => revision === served || revision === latest)
      .flatMap(({ image, registry }) => (image ? [[image, registryAccess(project, image, registry)]] : [])),
  );
}
