/**
 * `@gw/gateway/artifact`: reads and verifies a compiled artifact, as `gw serve` and `gw inspect` do.
 *
 * @example
 * const { manifest, specNames } = await readArtifact('shop.gwa', { trustedKeys: [publicKey] });
 * console.log(manifest.artifact_hash, specNames);
 */
export { ArtifactError, type ArtifactErrorReason } from '../artifact/error.ts';
export type {
  ArtifactPlugin,
  BodyAccess,
  Json,
  JsonObject,
  Manifest,
  PluginType,
  RoutesFile,
  SourceSpec,
  SpecType,
} from '../artifact/format.ts';
export { type Artifact, type ReadOptions, readArtifact } from '../artifact/read.ts';
