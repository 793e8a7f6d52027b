/** Reads the artifacts of a project's revisions out of the cluster. */
import { type Artifact, readArtifact } from '@gw/gateway/artifact';
import { EgressGuard } from '@gw/gateway/egress';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { repositoryOf } from '../objects/artifact-record.ts';
import { RegistryClient } from '../registry/client.ts';
import { parseRepository } from '../registry/reference.ts';
import type { Objects } from '../runtime/objects.ts';
import { pullRevision } from '../storage/pull-revision.ts';
import { type PullArchive, readArchive } from '../storage/read-archive.ts';
import type { Cluster } from './cluster.ts';

/** Returns the kept revision of that number, or by default the served one. Throws with a list of revisions. */
export function revisionOf({ status, metadata }: GatewayProject, number = status?.revision): Revision {
  const kept = status?.revisions ?? [];
  const found = kept.find(({ revision }) => revision === number);
  if (found) return found;
  if (kept.length === 0)
    throw new Error(`GatewayProject "${metadata.name}" has no revision yet: see kubectl gw status`);
  const known = kept.map(({ revision }) => revision).join(', ');
  throw new Error(`GatewayProject "${metadata.name}" keeps no revision ${number}; it keeps ${known}`);
}

/** Reads an artifact, verified as gateways verify it, except signatures. */
export async function artifactOf(cluster: Cluster, project: GatewayProject, revision: Revision): Promise<Artifact> {
  const { objects } = cluster;
  const pull: PullArchive = (of, wanted) => fromRegistry(objects, of, wanted);
  return readArtifact(await readArchive(objects, pull, project, revision));
}

/** Pulls with the project's pull Secret, which requires the right to read it. */
async function fromRegistry(
  objects: Pick<Objects, 'get'>,
  project: GatewayProject,
  revision: Revision,
): Promise<Uint8Array> {
  const { registry } = parseRepository(repositoryOf(revision.image ?? ''));
  const registries = new RegistryClient({
    // The command reaches only addresses that its user can reach anyway.
    guard: new EgressGuard({ allowInternal: true, allow: [] }),
    plainHttpRegistries: [registry],
  });
  try {
    return await pullRevision({ registries, objects }, project, revision);
  } finally {
    await registries.close();
  }
}
