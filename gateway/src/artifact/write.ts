/** Seals and writes an artifact (docs/artifact.md). */
import { hash } from 'node:crypto';
import { type Json, MANIFEST_PATH, type Manifest } from './format.ts';
import { compress } from './gzip.ts';
import { artifactHash, asJson, manifestHash } from './hash.ts';
import type { Signer } from './signature.ts';
import { type TarEntry, writeTar } from './tar.ts';

/** A manifest without its seals. */
export type UnsealedManifest = Omit<
  Manifest,
  'artifact_hash' | 'signature' | 'signing_public_key' | 'manifest_hash' | 'manifest_signature'
>;

export interface WrittenArtifact {
  /** The .gwa. */
  readonly bytes: Uint8Array;
  /** Hex sha256 of the tar. */
  readonly tarSha256: string;
  readonly manifest: Manifest;
}

/** `entries`: all but the manifest. Equal inputs give an equal tar. */
export async function writeArtifact(
  unsealed: UnsealedManifest,
  entries: readonly TarEntry[],
  signer?: Signer,
): Promise<WrittenArtifact> {
  const manifest = sealManifest(unsealed, signer);
  const tar = await writeTar([...entries, { name: MANIFEST_PATH, bytes: Buffer.from(indented(asJson(manifest))) }]);
  return { bytes: await compress(tar), tarSha256: hash('sha256', tar, 'hex'), manifest };
}

/** Adds hashes and, with a signer, signatures over both. */
export function sealManifest(unsealed: UnsealedManifest, signer?: Signer): Manifest {
  const artifact_hash = artifactHash(unsealed);
  const hashed = {
    ...unsealed,
    artifact_hash,
    ...(signer ? { signature: signer.sign(artifact_hash), signing_public_key: signer.publicKey } : {}),
  };
  const manifest_hash = manifestHash(asJson(hashed));
  return { ...hashed, manifest_hash, ...(signer ? { manifest_signature: signer.sign(manifest_hash) } : {}) };
}

function indented(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
