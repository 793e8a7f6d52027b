/** Pulls the archive of a revision from a registry. */
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { keyOf } from '../kube/kube-object.ts';
import { registryAccess, repositoryOf } from '../objects/artifact-record.ts';
import { fileName } from './artifact-image.ts';
import { pullArtifact } from './pull-artifact.ts';
import { digestIn, type OpenWith, openRepository } from './registry-access.ts';

/** Rejects with RegistryError, also if the image has another archive than the revision. */
export async function pullRevision(deps: OpenWith, project: GatewayProject, revision: Revision): Promise<Uint8Array> {
  const { image = '', archive, registry } = revision;
  const access = registryAccess(project, image, registry);
  const secret = access.pullSecret ?? access.pushSecret;
  const { namespace } = keyOf(project);
  const repository = await openRepository(deps, namespace, repositoryOf(image), access, secret);
  return (await pullArtifact(repository, digestIn(image), fileName(archive))).bytes;
}
