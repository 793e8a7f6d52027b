import { createHash } from 'node:crypto';
import { type PluginPackage, PluginPackageError, type ProjectPlugin, pluginPackageOf } from '@gw/gateway/compiler';
import { messageOf } from '@gw/gateway/message-of';
import { type Read, refuse } from '../../api/refusal.ts';
import type { PluginRef } from '../../api/resources.ts';
import { keptPackage } from '../../sources/content.ts';
import { type Entries, type ReadWith, readConfigMap, readFetched, readSecret } from '../../sources/read-source.ts';
import { ownerOfPlugin, pluginRequest } from '../../sources/request.ts';
import type { SourceRequest } from '../../sources/source.ts';
import { type Signed, signedBy } from './verify.ts';

/** Plugins that come with gw, and the reader of packages that projects bring. */
export interface PluginCatalog {
  /** Returns a plugin that comes with gw; undefined if no plugin has that name. */
  builtin(name: string): Promise<ProjectPlugin | undefined>;
  /** Reads a package. Throws with the reason if its manifest or schema is wrong. */
  read(files: PluginPackage): ProjectPlugin;
}

export interface ReadPluginWith extends ReadWith {
  readonly catalog: PluginCatalog;
}

export interface LoadedPlugin {
  readonly plugin: ProjectPlugin;
  /** SHA-256 of the module, in hex. */
  readonly sha256: string;
  /** Fingerprint of the key that has signed it, if spec.verify requires one. */
  readonly verifiedBy?: string;
}

/** A package from its source. */
interface Package {
  readonly files: PluginPackage;
  readonly signed: Signed;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Reads the plugin that the PluginRef names, and checks the signature, version and hash that it requires. */
export async function readPlugin(deps: ReadPluginWith, ref: PluginRef): Promise<Read<LoadedPlugin>> {
  const name = ref.spec.plugin ?? ref.metadata.name;
  const read = await load(deps, ref, name);
  if (!read.ok) return read;
  const { defaultConfig, version, sha256: wanted } = ref.spec;
  const plugin: ProjectPlugin = { ...read.plugin, name, ...(defaultConfig ? { defaultConfig } : {}) };
  const has = plugin.manifest?.version;
  if (version !== undefined && has !== version) {
    return refuse(
      'SourceInvalid',
      `spec.version requires ${version}, but the plugin's manifest says ${has ?? 'nothing'}`,
    );
  }
  const hash = sha256(plugin.wasm);
  if (wanted !== undefined && wanted !== hash)
    return refuse('SourceInvalid', `spec.sha256 requires ${wanted}, but the module has ${hash}`);
  return { ok: true, plugin, sha256: hash, ...(read.verifiedBy ? { verifiedBy: read.verifiedBy } : {}) };
}

async function load(deps: ReadPluginWith, ref: PluginRef, name: string): Promise<Read<Omit<LoadedPlugin, 'sha256'>>> {
  const { builtin, configMap, secret, oci, url } = ref.spec.source;
  if ([builtin, configMap, secret, oci, url].filter((source) => source !== undefined).length !== 1) {
    return refuse('InvalidSpec', 'spec.source: exactly one of builtin, configMap, secret, oci and url must be set');
  }
  if (builtin) {
    if (ref.spec.verify) return refuse('InvalidSpec', 'spec.verify: a built-in plugin comes with gw and is unsigned');
    const plugin = await deps.catalog.builtin(builtin.name ?? name);
    return plugin
      ? { ok: true, plugin }
      : refuse('PluginNotFound', `gw has no built-in plugin "${builtin.name ?? name}"`);
  }
  const request = pluginRequest(ref);
  const read = request ? remotePackage(deps, ref, request, name) : await packageInCluster(deps, ref);
  if (!read.ok) return read;
  // Before anything of the package is read.
  const verified = ref.spec.verify ? await signedBy(deps.objects, ref, read.signed) : undefined;
  if (verified && !verified.ok) return verified;
  try {
    const plugin = deps.catalog.read(read.files);
    return { ok: true, plugin, ...(verified ? { verifiedBy: verified.key.fingerprint } : {}) };
  } catch (error) {
    // Parsers quote text that they cannot read, and a reader of a PluginRef may not be allowed to read Secrets.
    const why = secret
      ? `the package in Secret "${secret.name}" cannot be read: run gw compile on it to see why`
      : undefined;
    return refuse('PluginInvalid', why ?? messageOf(error));
  }
}

/** Reads a package from the keys of a ConfigMap or Secret. */
async function packageInCluster({ objects }: ReadWith, { metadata, spec }: PluginRef): Promise<Read<Package>> {
  const namespace = metadata.namespace ?? 'default';
  const { configMap, secret } = spec.source;
  const keys = configMap ?? secret;
  if (!keys) return refuse('InvalidSpec', 'spec.source is empty');
  const read = configMap
    ? await readConfigMap(objects, namespace, keys.name)
    : await readSecret(objects, namespace, keys.name);
  if (!read.ok) return read;
  const { entries } = read;
  const module = moduleKey(entries, keys.wasm);
  const wasm = module === undefined ? undefined : entries.get(module);
  if (module === undefined || !wasm)
    return refuse(
      'SourceNotFound',
      `"${keys.name}" has no key "${keys.wasm ?? '*.wasm'}": set the key of the module in spec.source`,
    );
  // Content of the Secret goes into the artifact, which others can read: only WebAssembly modules are accepted.
  if (secret && !isModule(wasm))
    return refuse('PluginInvalid', `key "${module}" of Secret "${keys.name}" is not a WebAssembly module`);
  const signatureKey = spec.verify?.signatureKey ?? `${module}.sig`;
  const signature = entries.get(signatureKey);
  return {
    ok: true,
    files: packageOf(wasm, entries.get(keys.manifest), entries.get(keys.configSchema)),
    signed: { bytes: wasm, file: signature, unsigned: `"${keys.name}" has no key "${signatureKey}"` },
  };
}

/** Reads a package fetched from a registry or URL. */
function remotePackage({ sources }: ReadWith, ref: PluginRef, request: SourceRequest, name: string): Read<Package> {
  const read = readFetched(sources, ownerOfPlugin(ref), request);
  if (!read.ok) return read;
  const { content, signature, signatures, unsigned } = read.source;
  const { files, file, digest } = content;
  const missing = unsigned === undefined ? {} : { unsigned };
  const signed: Signed = file
    ? { bytes: file, ...(signature === undefined ? {} : { signature }), ...missing }
    : { digest, signatures: signatures ?? [], ...missing };
  try {
    return { ok: true, files: file ? keptPackage(files, name) : imagePackage(files, name), signed };
  } catch (error) {
    if (!(error instanceof PluginPackageError)) throw error;
    return refuse('PluginInvalid', error.message);
  }
}

/** Reads the files of an image: a package, or only a module. */
function imagePackage(files: Entries, name: string): PluginPackage {
  const module = moduleKey(files, undefined);
  const wasm = module === undefined || files.size > 1 ? undefined : files.get(module);
  return wasm ? { wasm, name } : pluginPackageOf(files, name);
}

/** Checks the magic number. */
function isModule(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 4)).toString('latin1') === '\0asm';
}

function packageOf(wasm: Uint8Array, manifest?: Uint8Array, configSchema?: Uint8Array): PluginPackage {
  return { wasm, ...(manifest ? { manifest } : {}), ...(configSchema ? { configSchema } : {}) };
}

function moduleKey(entries: Entries, named: string | undefined): string | undefined {
  if (named !== undefined) return named;
  const modules = [...entries.keys()].filter((key) => key.endsWith('.wasm'));
  return modules.length === 1 ? modules[0] : undefined;
}
