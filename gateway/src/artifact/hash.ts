/**
 * Seals an artifact: content hashes, `artifact_hash`, `manifest_hash` (docs/artifact.md,
 * docs/decisions.md#reproducible-hash, docs/decisions.md#manifest-sealed).
 */
import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { type Json, type JsonObject, type Manifest, SPECS_DIR } from './format.ts';

/** `sha256:<hex>` of bytes, or of a text's UTF-8. */
export function sha256(data: Uint8Array | string): string {
  return `sha256:${hash('sha256', data, 'hex')}`;
}

/** Members of a manifest that `artifact_hash` covers. */
export type ArtifactHashInput = Pick<
  Manifest,
  'source_specs' | 'checksums' | 'plugins' | 'capabilities_enforced' | 'mcp'
>;

/** The canonical input of `artifact_hash`: canonical JSON, its plugins sorted by name. */
export function artifactHashInput(manifest: ArtifactHashInput): string {
  const specs = manifest.source_specs.map(({ file, sha256: sum }): [string, string] => [SPECS_DIR + file, sum]);
  const plugins = [...(manifest.plugins ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  return canonicalJson({
    capabilities_enforced: manifest.capabilities_enforced,
    checksums: Object.fromEntries([...Object.entries(manifest.checksums), ...specs]),
    mcp: asJson(manifest.mcp),
    plugins: plugins.map(({ name, version, plugin_type, capabilities }) => ({
      body_access: capabilities.body_access,
      host_functions: [...capabilities.host_functions].sort(),
      name,
      plugin_type,
      version,
    })),
  });
}

export function artifactHash(manifest: ArtifactHashInput): string {
  return sha256(artifactHashInput(manifest));
}

/**
 * Over every field of the manifest but `manifest_hash` and `manifest_signature` (docs/decisions.md#manifest-sealed).
 */
export function manifestHash(manifest: JsonObject): string {
  const { manifest_hash: _, manifest_signature: __, ...sealed } = manifest;
  return sha256(canonicalJson(sealed));
}

/** Converts typed objects to JSON; the round trip drops members that are undefined. */
export function asJson(value: object): JsonObject {
  const json: Json = JSON.parse(JSON.stringify(value));
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new TypeError('not an object');
  return json as JsonObject;
}
