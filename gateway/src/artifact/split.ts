/**
 * Parts of an artifact for ConfigMaps, named by the tar's sha256 (docs/decisions.md#artifact-in-parts,
 * docs/decisions.md#named-by-tar).
 */

/** Keeps a ConfigMap under the API server's limit of 1 MiB with its base64 and metadata. */
export const DEFAULT_PART_BYTES = 900 << 10;

export interface ArtifactPart {
  /** `<tar sha256>.gwa.<number>`; sorted by name, parts are in order. A valid ConfigMap key. */
  readonly name: string;
  /** A view into the artifact. */
  readonly bytes: Uint8Array;
}

/** `maxPartBytes`: default 900 KiB. Throws a RangeError unless it is a positive integer. */
export function splitArtifact(
  artifact: Uint8Array,
  tarSha256: string,
  maxPartBytes: number = DEFAULT_PART_BYTES,
): readonly ArtifactPart[] {
  if (!Number.isSafeInteger(maxPartBytes) || maxPartBytes < 1) throw new RangeError('maxPartBytes must be positive');
  const count = Math.max(1, Math.ceil(artifact.length / maxPartBytes));
  return Array.from({ length: count }, (_, i) => ({
    name: `${tarSha256}.gwa.${String(i).padStart(4, '0')}`,
    bytes: artifact.subarray(i * maxPartBytes, (i + 1) * maxPartBytes),
  }));
}
