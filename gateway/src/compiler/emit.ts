/** Stage 6: the archive (docs/reference/gateway.md#artifact). */
import {
  ARTIFACT_VERSION,
  type Manifest,
  PLUGINS_DIR,
  ROUTES_PATH,
  SPECS_DIR,
  VERSION_FIELD,
} from '../artifact/format.ts';
import { sha256 } from '../artifact/hash.ts';
import type { Signer } from '../artifact/signature.ts';
import type { TarEntry } from '../artifact/tar.ts';
import { TOOLS_PATH } from '../artifact/tools.ts';
import { type UnsealedManifest, type WrittenArtifact, writeArtifact } from '../artifact/write.ts';
import { VERSION } from '../version.ts';
import type { Compiled } from './check.ts';
import { artifactPlugin } from './plugins/plugins.ts';
import type { CompileFlags } from './project/project.ts';

export async function emit(compiled: Compiled, flags: CompileFlags, signer?: Signer): Promise<WrittenArtifact> {
  const specs = compiled.specs.map(({ source }) => entry(SPECS_DIR + source.name, source.bytes));
  const references = compiled.references.map(({ name, bytes }) => entry(SPECS_DIR + name, bytes));
  const plugins = compiled.plugins.map(({ name, wasm }) => entry(`${PLUGINS_DIR}${name}.wasm`, wasm));
  const routes = entry(ROUTES_PATH, Buffer.from(JSON.stringify(compiled.routes)));
  const tools = compiled.tools === null ? [] : [entry(TOOLS_PATH, Buffer.from(JSON.stringify(compiled.tools)))];
  const data = compiled.data.map(({ path, bytes }) => entry(path, bytes));
  const checksums = Object.fromEntries(
    [routes, ...tools, ...plugins, ...references, ...data].map(({ name, bytes }) => [name, sha256(bytes)]),
  );
  const entries = [routes, ...tools, ...specs, ...references, ...plugins, ...data];
  return writeArtifact(manifestOf(compiled, checksums, flags), entries, signer);
}

function entry(name: string, bytes: Uint8Array): TarEntry {
  return { name, bytes };
}

function manifestOf(compiled: Compiled, checksums: Manifest['checksums'], flags: CompileFlags): UnsealedManifest {
  const { sourceDateEpoch, provenanceCommit: commit, provenanceSource: source } = flags;
  const compiledAt = sourceDateEpoch === undefined ? new Date() : new Date(sourceDateEpoch * 1000);
  return {
    [VERSION_FIELD]: ARTIFACT_VERSION,
    compiled_at: compiledAt.toISOString(),
    compiler_version: VERSION,
    source_specs: compiled.specs.map(({ spec, source: { name, bytes } }) => ({
      file: name,
      sha256: sha256(bytes),
      type: spec.type,
      version: spec.version,
    })),
    ...(compiled.plugins.length > 0 ? { plugins: compiled.plugins.map(artifactPlugin) } : {}),
    routes_count: compiled.routes.operations.length,
    checksums,
    capabilities_enforced: true,
    mcp: compiled.mcp,
    provenance: { ...(commit === undefined ? {} : { commit }), ...(source === undefined ? {} : { source }) },
  };
}
