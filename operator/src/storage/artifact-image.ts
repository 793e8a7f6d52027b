/**
 * An artifact as an image (docs/decisions.md#named-by-tar): a config and one layer, a tar with the one file. Every
 * runtime mounts this ordinary image; equal archives of one project give equal bytes, and so one digest.
 */
import { writeTar } from '@gw/gateway/artifact';
import { GROUP } from '../api/schema.ts';
import { IMAGE_CONFIG, IMAGE_MANIFEST, TAR_LAYER } from '../registry/media-types.ts';
import { digestOf } from '../registry/repository.ts';

export interface ArtifactImage {
  readonly layer: Uint8Array;
  readonly config: Uint8Array;
  readonly manifest: Uint8Array;
  /** Digest of the manifest, which names the image. */
  readonly digest: string;
  /** `sha256-<tar>`. */
  readonly tag: string;
}

export interface ArtifactImageOptions {
  /** The .gwa. */
  readonly archive: Uint8Array;
  /** sha256 of its tar, in hex. */
  readonly tarSha256: string;
  readonly artifactHash: string;
  /** uid of the GatewayProject: no two share an image, so that one may be deleted without asking the others. */
  readonly owner: string;
}

const LABEL_IMAGE_HASH = `${GROUP}/artifact-hash`;

export async function artifactImage(options: ArtifactImageOptions): Promise<ArtifactImage> {
  const { archive, tarSha256, artifactHash, owner } = options;
  // Not compressed, since the archive inside is.
  const layer = await writeTar([{ name: fileName(tarSha256), bytes: archive }]);
  const labels = {
    [LABEL_IMAGE_HASH]: artifactHash,
    [`${GROUP}/archive`]: tarSha256,
    [`${GROUP}/owner`]: owner,
  };
  const config = json({
    // It is never run; runtimes that pull a single image accept any platform.
    architecture: 'amd64',
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: { Labels: labels },
    rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'gw-operator', comment: artifactHash }],
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: IMAGE_MANIFEST,
    config: { mediaType: IMAGE_CONFIG, digest: digestOf(config), size: config.length },
    layers: [{ mediaType: TAR_LAYER, digest: digestOf(layer), size: layer.length }],
    annotations: labels,
  });
  return { layer, config, manifest, digest: digestOf(manifest), tag: `sha256-${tarSha256}` };
}

/** Returns the name of the file in the folder that `gw serve` reads (docs/decisions.md#artifact-in-parts). */
export function fileName(tarSha256: string): string {
  return `${tarSha256}.gwa`;
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
