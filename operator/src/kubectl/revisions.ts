/** Reads the artifacts of a project's revisions out of the cluster. */
import { type Artifact, readArtifact } from '@gw/gateway/artifact';
import { EgressGuard } from '@gw/gateway/egress';
import type { Revision } from '../api/gateway-project.ts';
import { configMaps, type GatewayProject } from '../api/resources.ts';
import { partName } from '../objects/artifact-parts.ts';
import { repositoryOf } from '../objects/artifact-record.ts';
import { RegistryClient } from '../registry/client.ts';
import { parseRepository } from '../registry/reference.ts';
import type { Objects } from '../runtime/objects.ts';
import { pullRevision } from '../storage/pull-revision.ts';
import type { Cluster } from './cluster.ts';

/** The kept revision of that number, or by default the served one. Throws with those there are. */
export function revisionOf({ status, metadata }: GatewayProject, number = status?.revision): Revision {
  const kept = status?.revisions ?? [];
  const found = kept.find(({ revision }) => revision === number);
  if (found) return found;
  if (kept.length === 0)
    throw new Error(`GatewayProject "${metadata.name}" has no revision yet: see kubectl gw status`);
  const known = kept.map(({ revision }) => revision).join(', ');
  throw new Error(`GatewayProject "${metadata.name}" keeps no revision ${number}; it keeps ${known}`);
}

/** Verified as gateways verify it, signatures apart. */
export async function artifactOf(cluster: Cluster, project: GatewayProject, revision: Revision): Promise<Artifact> {
  return readArtifact(await archiveOf(cluster, project, revision));
}

async function archiveOf({ objects }: Cluster, project: GatewayProject, revision: Revision): Promise<Uint8Array> {
  if (revision.image !== undefined) return fromRegistry(objects, project, revision);
  const names = Array.from({ length: revision.parts ?? 0 }, (_, index) => partName(project, revision.archive, index));
  const parts = await Promise.all(
    names.map(async (name) => {
      const part = await objects.get(configMaps, { namespace: project.metadata.namespace ?? '', name });
      const [bytes] = Object.values(part?.binaryData ?? {});
      if (bytes === undefined) throw new Error(`ConfigMap "${name}" of revision ${revision.revision} is gone`);
      return Buffer.from(bytes, 'base64');
    }),
  );
  return Buffer.concat(parts);
}

/** With the project's pull Secret, which takes the right to read it. */
async function fromRegistry(
  objects: Pick<Objects, 'get'>,
  project: GatewayProject,
  revision: Revision,
): Promise<Uint8Array> {
  const { registry } = parseRepository(repositoryOf(revision.image ?? ''));
  const registries = new RegistryClient({
    // Whoever asks reaches from here what they reach anyway.
    guard: new EgressGuard({ allowInternal: true, allow: [] }),
    plainHttpRegistries: [registry],
  });
  try {
    return await pullRevision({ registries, objects }, project, revision);
  } finally {
    await registries.close();
  }
}
