/** The archive in an image that artifactImage made, checked down to its last byte. */
import { readTar } from '@gw/gateway/artifact';
import { RegistryError } from '../registry/error.ts';
import { MAX_BLOB_BYTES } from '../registry/http.ts';
import { parseImageManifest } from '../registry/manifest.ts';
import { TAR_LAYER } from '../registry/media-types.ts';
import type { Repository } from '../registry/repository.ts';

export interface PulledArtifact {
  /** `<tar sha256>.gwa`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

const NAME = /^[0-9a-f]{64}\.gwa$/;

/** `name`: the file that it must hold; default any artifact. Rejects with RegistryError. */
export async function pullArtifact(repository: Repository, digest: string, name?: string): Promise<PulledArtifact> {
  const { layers } = parseImageManifest(await repository.manifest(digest));
  const [layer, ...more] = layers;
  if (!layer || more.length > 0 || layer.mediaType !== TAR_LAYER) throw noArtifact(digest);
  const tar = await repository.blob(layer, MAX_BLOB_BYTES);
  let entries: ReadonlyMap<string, Uint8Array>;
  try {
    entries = readTar(tar);
  } catch (error) {
    throw noArtifact(digest, error);
  }
  const [entry, ...others] = entries;
  if (!entry || others.length > 0 || !(name === undefined ? NAME.test(entry[0]) : name === entry[0]))
    throw noArtifact(digest);
  return { name: entry[0], bytes: entry[1] };
}

function noArtifact(digest: string, cause?: unknown): RegistryError {
  return new RegistryError('corrupt', `the image ${digest} contains no artifact of gw`, { cause });
}
