/** Reads the file of a revision from its ConfigMaps, one part after the other, or from its image. */
import { type Artifact, readArtifact } from '@gw/gateway/artifact';
import type { Revision } from '../api/gateway-project.ts';
import { configMaps, type GatewayProject } from '../api/resources.ts';
import { partName } from '../objects/artifact-parts.ts';
import type { Objects } from '../runtime/objects.ts';

/** Reads the archive of a revision out of a registry. */
export type PullArchive = (project: GatewayProject, revision: Revision) => Promise<Uint8Array>;

/** Rejects if a part is missing, and with the errors of `pull`. */
export async function readArchive(
  objects: Pick<Objects, 'get'>,
  pull: PullArchive,
  project: GatewayProject,
  revision: Revision,
): Promise<Uint8Array> {
  if (revision.image !== undefined) return pull(project, revision);
  const namespace = project.metadata.namespace ?? 'default';
  const parts: Uint8Array[] = [];
  for (let index = 0; index < (revision.parts ?? 0); index++) {
    const name = partName(project, revision.archive, index);
    const part = await objects.get(configMaps, { namespace, name });
    const [data] = Object.values(part?.binaryData ?? {});
    if (data === undefined) throw new Error(`ConfigMap "${name}" with a part of the artifact is not there`);
    parts.push(Buffer.from(data, 'base64'));
  }
  return Buffer.concat(parts);
}

/** Rejects if the bytes are not an artifact, or another one. The gateway that serves it checks signatures. */
export async function readStored(bytes: Uint8Array, { artifactHash }: Revision): Promise<Artifact> {
  const artifact = await readArtifact(bytes, { trustedKeys: [] });
  const stored = artifact.manifest.artifact_hash;
  if (stored !== artifactHash) throw new Error(`the stored artifact is ${stored}`);
  return artifact;
}
