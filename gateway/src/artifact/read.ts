/**
 * The one reader of artifacts: everything is verified at load, and a change of any byte that is read fails it
 * (docs/decisions.md#manifest-sealed).
 */
import { hash, type KeyObject } from 'node:crypto';
import { ArtifactError } from './error.ts';
import {
  type ArtifactPlugin,
  DATA_PATH,
  type JsonObject,
  MANIFEST_PATH,
  type Manifest,
  ROUTES_PATH,
  type RoutesFile,
  SPECS_DIR,
} from './format.ts';
import { decompress, MAX_UNPACKED_BYTES } from './gzip.ts';
import { artifactHash, manifestHash, sha256 } from './hash.ts';
import { readManifest, readRoutes, readTools } from './manifest-shape.ts';
import { parsePublicKey, verifySignature } from './signature.ts';
import { readSource } from './source.ts';
import { readTar } from './tar.ts';
import { TOOLS_PATH, type ToolsFile } from './tools.ts';

/** An artifact as it was read, and its compressed bytes. */
export interface LoadedArchive {
  readonly artifact: Artifact;
  readonly archive: Uint8Array;
}

export interface ReadOptions {
  /**
   * Hex Ed25519 public keys; if set, a signature by one of them is required (docs/decisions.md#trusted-keys). Default:
   * none, signatures are ignored.
   *
   * @example ['d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a']
   */
  readonly trustedKeys?: readonly string[];
  /**
   * Largest unpacked size in bytes. Default: 256 MiB.
   *
   * @example 64 * 1024 * 1024
   */
  readonly maxUnpackedBytes?: number;
}

/** A verified artifact. Its specs are kept compressed, and unpacked again when asked for. */
export interface Artifact {
  readonly manifest: Manifest;
  readonly routes: RoutesFile;
  /** Null if MCP is not enabled, or the compiler made no tools yet. */
  readonly tools: ToolsFile | null;
  /** Modules by plugin name. */
  readonly plugins: ReadonlyMap<string, Uint8Array>;
  /** Entries that configs of plugins name, by path, such as `waf/<hex>`. */
  readonly data: ReadonlyMap<string, Uint8Array>;
  /**
   * Hex sha256 of the tar: the identity of its bytes (docs/decisions.md#reproducible-hash,
   * docs/decisions.md#named-by-tar).
   */
  readonly tarSha256: string;
  /** Names under `specs/`, sorted; those of `manifest.source_specs` and the files that they refer to. */
  readonly specNames: readonly string[];
  /** Reads one file under `specs/`. Rejects with ArtifactError if it does not exist. */
  readSpec(name: string): Promise<Uint8Array>;
}

/**
 * `source`: path of a file or of a folder of parts (docs/decisions.md#artifact-in-parts), or the bytes. Rejects with
 * ArtifactError or KeyError.
 */
export async function readArtifact(source: string | Uint8Array, options: ReadOptions = {}): Promise<Artifact> {
  const trusted = (options.trustedKeys ?? []).map(parsePublicKey);
  const limit = options.maxUnpackedBytes ?? MAX_UNPACKED_BYTES;
  const archive = await readSource(source);
  const { entries, tarSha256 } = await unpack(archive, limit);
  const { manifest, json } = readManifest(entryOf(entries, MANIFEST_PATH));
  verifyCompiler(manifest);
  verifySeals(manifest, json);
  verifySignatures(manifest, trusted);
  const sums = verifyContents(manifest, entries);
  const routes = readRoutes(entryOf(entries, ROUTES_PATH));
  if (routes.operations.length !== manifest.routes_count) {
    throw integrity(
      `routes.json has ${routes.operations.length} operations, the manifest says ${manifest.routes_count}`,
    );
  }
  const plugins = (manifest.plugins ?? []).map(({ name, wasm_path }): [string, Uint8Array] => [
    name,
    copyOf(entryOf(entries, wasm_path)),
  ]);
  return {
    manifest,
    routes,
    tools: toolsIn(entries, routes.operations.length),
    plugins: new Map(plugins),
    data: new Map([...entries].filter(([name]) => DATA_PATH.test(name)).map(([name, bytes]) => [name, copyOf(bytes)])),
    tarSha256,
    specNames: [...entries.keys()].filter(isSpec).map((name) => name.slice(SPECS_DIR.length)),
    readSpec: specReader(archive, limit, sums),
  };
}

/** Copies an entry, so that the archive's memory can go. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/**
 * Keeps the archive compressed, so that the specs of the served artifact remain readable when the file has been
 * replaced. Made in a scope of its own: a closure in the reader's would keep it unpacked.
 */
function specReader(archive: Uint8Array, limit: number, sums: ReadonlyMap<string, string>): Artifact['readSpec'] {
  return async (name) => {
    const path = SPECS_DIR + name;
    const sum = sums.get(path);
    if (sum === undefined) throw new ArtifactError('malformed', `the artifact has no spec "${name}"`);
    const bytes = (await unpack(archive, limit)).entries.get(path);
    if (!bytes || sha256(bytes) !== sum) throw integrity(`spec "${name}" does not match the manifest`);
    return new Uint8Array(bytes);
  };
}

async function unpack(archive: Uint8Array, limit: number) {
  const tar = await decompress(archive, limit);
  return { entries: readTar(tar), tarSha256: hash('sha256', tar, 'hex') };
}

function isSpec(name: string): boolean {
  return name.startsWith(SPECS_DIR);
}

function toolsIn(entries: ReadonlyMap<string, Buffer>, operations: number): ToolsFile | null {
  const bytes = entries.get(TOOLS_PATH);
  return bytes === undefined ? null : readTools(bytes, operations);
}

function entryOf(entries: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const bytes = entries.get(name);
  if (!bytes) throw new ArtifactError('malformed', `the archive has no ${name}`);
  return bytes;
}

function integrity(message: string): ArtifactError {
  return new ArtifactError('integrity', `integrity check failed: ${message}`);
}

/** Compilers before 0.8 hashed other inputs (docs/reference/gateway.md#format-version). */
function verifyCompiler({ compiler_version }: Manifest): void {
  const version = /^(\d+)\.(\d+)\./.exec(compiler_version);
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  if (!version || (major === 0 && minor < 8)) {
    throw integrity(`it was compiled by gw ${compiler_version}; compile it again with 0.8 or later`);
  }
}

function verifySeals(manifest: Manifest, json: JsonObject): void {
  if (manifestHash(json) !== manifest.manifest_hash) throw integrity('manifest.json does not match its manifest_hash');
  if (artifactHash(manifest) !== manifest.artifact_hash) {
    throw integrity('the recomputed artifact_hash is not the one in manifest.json');
  }
}

function verifySignatures(manifest: Manifest, trusted: readonly KeyObject[]): void {
  if (trusted.length === 0) return;
  const { artifact_hash, signature, manifest_hash, manifest_signature } = manifest;
  if (signature === undefined || manifest_signature === undefined) {
    throw new ArtifactError('signature', 'the artifact is not signed, but GW_TRUSTED_PUBKEY requires a signature');
  }
  const signed = trusted.some(
    (key) => verifySignature(key, artifact_hash, signature) && verifySignature(key, manifest_hash, manifest_signature),
  );
  if (!signed) throw new ArtifactError('signature', 'the artifact is not signed by a key of GW_TRUSTED_PUBKEY');
}

/** Checks that every entry is listed once with its checksum, and that all listed ones exist. */
function verifyContents(manifest: Manifest, entries: ReadonlyMap<string, Buffer>): ReadonlyMap<string, string> {
  const sums = new Map<string, string>(Object.entries(manifest.checksums));
  for (const { file, sha256: sum } of manifest.source_specs) {
    if (sums.has(SPECS_DIR + file)) throw integrity(`manifest.json lists spec "${file}" twice`);
    sums.set(SPECS_DIR + file, sum);
  }
  verifyPlugins(manifest.plugins ?? [], manifest.checksums);
  if (!sums.has(ROUTES_PATH)) throw integrity(`manifest.json has no checksum of ${ROUTES_PATH}`);
  for (const name of entries.keys()) {
    if (name !== MANIFEST_PATH && !sums.has(name)) throw integrity(`entry "${name}" is not listed in manifest.json`);
  }
  for (const [name, sum] of sums) {
    const bytes = entries.get(name);
    if (!bytes) throw integrity(`"${name}" is listed in manifest.json but missing`);
    if (sha256(bytes) !== sum) throw integrity(`"${name}" does not match its checksum`);
  }
  return sums;
}

function verifyPlugins(plugins: readonly ArtifactPlugin[], checksums: Manifest['checksums']): void {
  const names = new Set<string>();
  for (const { name, wasm_path, sha256: sum } of plugins) {
    if (names.has(name)) throw integrity(`manifest.json lists plugin "${name}" twice`);
    names.add(name);
    if (!Object.hasOwn(checksums, wasm_path) || checksums[wasm_path] !== sum) {
      throw integrity(`plugin "${name}" does not match the checksum of ${wasm_path}`);
    }
  }
}
