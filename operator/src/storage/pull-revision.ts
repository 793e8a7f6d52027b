/** The archive of a revision that lies in a registry. */
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { registryAccess, repositoryOf } from '../objects/artifact-record.ts';
import { pullArtifact } from './pull-artifact.ts';
import { type OpenWith, openRepository } from './registry-access.ts';

/** Rejects with RegistryError. */
export async function pullRevision(
  using: OpenWith,
  project: GatewayProject,
  { image = '', registry }: Revision,
): Promise<Uint8Array> {
  const access = registryAccess(project, image, registry);
  const namespace = project.metadata.namespace ?? 'default';
  const secret = access.pullSecret ?? access.pushSecret;
  const repository = await openRepository(using, namespace, repositoryOf(image), access, secret);
  const { bytes } = await pullArtifact(repository, image.split('@')[1] ?? '');
  return bytes;
}
