/**
 * A project from a folder: `gw.yaml`, its specs and files that they may refer to, its plugins
 * (docs/decisions.md#one-project, docs/decisions.md#references-stay-inside, docs/decisions.md#plugins-declared).
 */
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import {
  type CompileFlags,
  HTTP_UPSTREAM,
  MOCK,
  type Project,
  type ProjectFile,
  type ProjectPlugin,
} from '../../compiler/project/project.ts';
import { isProjectFile } from '../../compiler/project/project-files.ts';
import { fileFault } from '../../files/file-fault.ts';
import { readFailure } from '../../files/read-failure.ts';
import { builtinNames, builtinPlugins, loadBuiltinPlugin } from '../../plugins/builtin.ts';
import { DownloadError } from '../../plugins/download.ts';
import { PluginPackageError, readPluginPackage, wasmFileOf } from '../../plugins/package.ts';
import type { RemotePlugins } from '../../plugins/remote.ts';
import { get, isObject } from '../../spec/json.ts';
import { parseText } from '../../spec/parse.ts';
import { child } from '../../spec/pointer.ts';
import { errorCode } from '../../text/error-code.ts';
import { didYouMean } from '../../text/nearest-name.ts';
import { ManifestError, type ManifestPlugin, manifestError, type ProjectManifest, readManifest } from './manifest.ts';
import { ReadPaths } from './read-paths.ts';

const SPEC_FILE = /\.(ya?ml|json)$/i;
/** Name of a spec, without its extension, that is reserved for merged documents. */
const RESERVED_NAME = /^(?:openapi|asyncapi)\.[^.]+$/i;
/** Files below the specs folder; a folder with more is not one of specs. */
const MAX_FILES = 10_000;

/** A project with the paths by which users know its files. */
export interface FolderProject extends Project {
  /** Path from the working directory, or as it was given, of a file of the project. */
  readonly pathOf: (name: string) => string;
}

export interface ProjectFolderOptions {
  /** Path of gw.yaml. */
  readonly manifest: string;
  /** Spec files instead of the manifest's folder; empty: that folder. */
  readonly specs: readonly string[];
  readonly flags: CompileFlags;
  /** Fetches the plugins that the manifest names by URL. */
  readonly remotePlugins: RemotePlugins;
  /** Notes files that are read, and missing ones. */
  readonly reads?: ReadPaths;
  /**
   * Documents go as they are: without a manifest, with the built-in plugins that they name, and with names that specs of
   * a project may not have. Default: false.
   */
  readonly asTheyAre?: boolean;
}

/** A spec file cannot be read: exit 1. */
export class SpecFileError extends Error {}

/** Rejects with ManifestError or SpecFileError. */
export async function readProjectFolder({
  manifest: path,
  specs: given,
  flags,
  remotePlugins,
  reads = new ReadPaths(),
  asTheyAre = false,
}: ProjectFolderOptions): Promise<FolderProject> {
  reads.file(path);
  if (asTheyAre && given.length > 0 && !existsSync(path)) {
    const { pathOf, ...specs } = await readSpecs(given, reads);
    const { renamed, ...plain } = withPlainNames(specs);
    const plugins = builtinPluginsOf(plain, flags);
    return { ...plain, plugins, flags, pathOf: (name) => pathOf(renamed.get(name) ?? name) };
  }
  const manifest = await readManifest(path);
  const plugins = new Map([...dispatchersOf(flags).map((name) => [name, {}] as const), ...manifest.plugins]);
  const home = dirname(resolve(path));
  const paths = given.length > 0 ? given.map((spec) => resolve(spec)) : await specsOfManifest(path, manifest, reads);
  const folders = given.length > 0 ? [...new Set(paths.map((spec) => dirname(spec)))] : [specsFolder(path, manifest)];
  const root = commonFolder([home, ...folders]);
  const files = await specFiles(paths, folders, root, { reads, config: manifest.text });
  const { renamed, ...plain } =
    asTheyAre && given.length > 0 ? withPlainNames(files) : { ...files, renamed: NOT_RENAMED };
  const { text } = manifest;
  const pathOf = pathsOf(root, [...given, path]);
  return {
    ...plain,
    pathOf: (name) => pathOf(renamed.get(name) ?? name),
    plugins: await Promise.all(
      [...plugins].map(([name, plugin]) => readPlugin(name, plugin, { home, remotePlugins, reads, path, text })),
    ),
    manifest: { name: nameIn(root, resolve(path)), text },
    upstreams: manifest.upstreams,
    ...(manifest.mcp === undefined ? {} : { mcp: manifest.mcp }),
    flags,
  };
}

/** Returns the paths of the manifest's specs. Rejects with ManifestError or SpecFileError. */
export async function specsOfManifest(
  path: string,
  manifest: Pick<ProjectManifest, 'specs'>,
  reads = new ReadPaths(),
): Promise<readonly string[]> {
  if (manifest.specs === undefined) {
    throw new ManifestError(`${path} names no "specs" folder: add one, or give files with --spec`);
  }
  return specFilesOf(specsFolder(path, manifest), resolve(path), reads);
}

function specsFolder(path: string, { specs = '.' }: Pick<ProjectManifest, 'specs'>): string {
  return resolve(dirname(resolve(path)), specs);
}

/**
 * Reads spec files without a manifest, and the files beside each, which they may refer to. Rejects with SpecFileError.
 */
export async function readSpecs(
  given: readonly string[],
  reads = new ReadPaths(),
): Promise<Pick<FolderProject, 'specs' | 'files' | 'pathOf'>> {
  const paths = given.map((spec) => resolve(spec));
  const folders = [...new Set(paths.map((spec) => dirname(spec)))];
  const root = commonFolder(folders);
  return { ...(await specFiles(paths, folders, root, { reads })), pathOf: pathsOf(root, given) };
}

const NOT_RENAMED: ReadonlyMap<string, string> = new Map();

function nameIn(root: string, file: string): string {
  return relative(root, file).split('\\').join('/');
}

/** Names files of a folder by the paths that users know: those that they gave, others from the working directory. */
function pathsOf(root: string, given: readonly string[]): FolderProject['pathOf'] {
  const paths = new Map(given.map((path) => [nameIn(root, resolve(path)), path]));
  return (name) => paths.get(name) ?? relative('', join(root, name));
}

type SpecFiles = Pick<Project, 'specs' | 'files'>;

/** Plugins that flags put in the place of dispatchers. */
function dispatchersOf({ mock, upstream }: CompileFlags): readonly string[] {
  return [...(mock ? [MOCK] : []), ...(upstream === undefined ? [] : [HTTP_UPSTREAM])];
}

/** Returns the built-in plugins that flags or the documents name: all, if documents refer to other files. */
function builtinPluginsOf({ specs, files }: SpecFiles, flags: CompileFlags): readonly ProjectPlugin[] {
  const documents = files.filter(({ name }) => specs.includes(name));
  const texts = documents.map(({ bytes }) => Buffer.from(bytes).toString('latin1'));
  const mentioned = (name: string) => texts.some((text) => text.includes('x-gw-') && text.includes(name));
  const needed = documents.some(refersToOthers) ? () => true : mentioned;
  const always = dispatchersOf(flags);
  return builtinPlugins()
    .filter((name) => always.includes(name) || needed(name))
    .map((name) => loadBuiltinPlugin(name));
}

/**
 * Most documents are named `openapi.yaml`, the name of the merged one (E1050), and some names have characters that spec
 * names may not have: such a document is compiled under another name, `my-openapi.yaml`. References to its own name
 * still find it.
 */
export function withPlainNames({
  specs,
  files,
}: SpecFiles): SpecFiles & { readonly renamed: ReadonlyMap<string, string> } {
  const renamed = new Map<string, string>();
  for (const name of specs) {
    const base = basename(name);
    const plain = RESERVED_NAME.test(base) ? `my-${base}` : base.replaceAll(/[^-A-Za-z0-9_.@+ ]|^[^A-Za-z0-9_]/g, '_');
    if (plain !== base && !specs.includes(join(dirname(name), plain))) renamed.set(name, join(dirname(name), plain));
  }
  const copies = files.flatMap((file) => {
    const name = renamed.get(file.name);
    return name === undefined ? [] : [{ name, bytes: file.bytes }];
  });
  return {
    specs: specs.map((name) => renamed.get(name) ?? name),
    files: [...files, ...copies],
    renamed: new Map([...renamed].map(([name, plain]) => [plain, name])),
  };
}

interface SpecFilesDeps {
  readonly reads: ReadPaths;
  /** Text of the manifest, whose configs may name files. */
  readonly config?: string;
}

async function specFiles(
  paths: readonly string[],
  folders: readonly string[],
  root: string,
  { reads, config = '' }: SpecFilesDeps,
) {
  reads.within(root);
  const nameOf = (file: string) => nameIn(root, file);
  // Named files are read at once, so that a missing one is reported here.
  const specs = await Promise.all(paths.map((spec) => readSpec(nameOf(spec), spec, reads)));
  const files = new Map<string, ProjectFile>();
  // A single document may lie in a home directory.
  const around = namesRules(config) || specs.some((spec) => refersToOthers(spec) || bindsRules(spec)) ? folders : [];
  for (const each of (await Promise.all(around.map((one) => filesBelow(one, reads)))).flat()) {
    files.set(nameOf(each), lazyFile(nameOf(each), each, reads));
  }
  for (const spec of specs) files.set(spec.name, spec);
  return { specs: paths.map(nameOf), files: [...files.values()] };
}

/** Reports whether some reference of a document, or a discriminator's mapping, may lead out of it. */
function refersToOthers({ bytes }: ProjectFile): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  const maps = /\bmapping["']?\s*:/.test(text) && /\.(?:ya?ml|json)\b/i.test(text);
  return maps || /\$(?:dynamicR|r)ef["']?\s*:\s*["']?[^#"'\s]/.test(text);
}

/** Reports whether a plugin's config in the document may name files of firewall rules. */
function bindsRules({ bytes }: ProjectFile): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  return text.includes('x-gw-') && namesRules(text);
}

/** The same of the manifest's text. */
function namesRules(text: string): boolean {
  return text.includes('.conf') && /\brules["']?\s*:/.test(text);
}

/** `manifest`: a file among the specs that is not itself a spec. */
async function specFilesOf(folder: string, manifest: string, reads: ReadPaths): Promise<string[]> {
  reads.folder(folder);
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && isSpecName(entry.name));
    const specs = files.map(({ name }) => join(folder, name)).filter((file) => file !== manifest);
    for (const spec of specs) mustBeOf(folder, spec);
    if (specs.length === 0) throw new ManifestError(`specs folder ${folder} holds no .yaml, .yml or .json file`);
    return specs;
  } catch (error) {
    if (error instanceof ManifestError || error instanceof SpecFileError) throw error;
    throw new ManifestError(`cannot read specs folder ${folder}: ${readFailure(error)}`, { cause: error });
  }
}

/** Throws SpecFileError for a link out of the folder: its target would be published as a spec. */
function mustBeOf(folder: string, spec: string): void {
  let fault: string | null;
  try {
    fault = fileFault(folder, spec);
  } catch (error) {
    fault = readFailure(error);
  }
  if (fault !== null) throw new SpecFileError(`cannot read spec ${spec}: ${fault}`);
}

function isSpecName(name: string): boolean {
  return SPEC_FILE.test(name) && !name.startsWith('.');
}

/**
 * Returns the files that specs and configs may refer to. Links are not followed: files outside the folder are not the project's
 * (docs/decisions.md#references-stay-inside).
 */
async function filesBelow(folder: string, reads: ReadPaths): Promise<string[]> {
  const found: string[] = [];
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    let entries: Awaited<ReturnType<typeof list>>;
    reads.folder(next);
    try {
      entries = await list(next);
    } catch {
      continue;
    }
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (entry.isDirectory()) waiting.push(join(next, entry.name));
      else if (entry.isFile() && isProjectFile(entry.name)) found.push(join(next, entry.name));
    }
    if (found.length > MAX_FILES)
      throw new ManifestError(`${folder} holds more than ${MAX_FILES} files: give a folder of specs`);
  }
  return found;
}

function list(folder: string) {
  return readdir(folder, { withFileTypes: true });
}

async function readSpec(name: string, path: string, reads: ReadPaths): Promise<ProjectFile> {
  reads.file(path);
  try {
    return { name, bytes: await readFile(path) };
  } catch (error) {
    throw new SpecFileError(`cannot read spec ${path}: ${readFailure(error)}`, { cause: error });
  }
}

/** Read when a `$ref` first leads to it. */
function lazyFile(name: string, path: string, reads: ReadPaths): ProjectFile {
  let bytes: Uint8Array | undefined;
  return {
    name,
    get bytes() {
      reads.file(path);
      bytes ??= readFileSync(path);
      return bytes;
    },
  };
}

function commonFolder(folders: readonly string[]): string {
  const [first = '', ...rest] = folders;
  let common = first;
  while (rest.some((folder) => folder !== common && !folder.startsWith(common.endsWith('/') ? common : `${common}/`))) {
    common = dirname(common);
  }
  return common;
}

interface PluginDeps {
  /** Folder that paths of plugins are relative to. */
  readonly home: string;
  readonly remotePlugins: RemotePlugins;
  readonly reads: ReadPaths;
  /** Of the manifest. */
  readonly path: string;
  readonly text: string;
}

async function readPlugin(
  name: string,
  declared: ManifestPlugin,
  { home, remotePlugins, reads, ...manifest }: PluginDeps,
): Promise<ProjectPlugin> {
  const { path, remote, version, config } = declared;
  try {
    const plugin = remote
      ? await remotePlugins.load(name, remote)
      : path === undefined
        ? loadBuiltinPlugin(name)
        : readLocal(name, resolve(home, path), reads);
    const has = plugin.manifest?.version;
    if (version !== undefined && has !== version) {
      throw new PluginPackageError(`version ${version} is required, but the plugin has ${has ?? 'none'}`);
    }
    return { ...plugin, name, ...(config ? { config } : {}) };
  } catch (error) {
    const isSaid = error instanceof PluginPackageError || error instanceof DownloadError;
    const isFolder = errorCode(error) === 'EISDIR';
    const hint = isFolder ? ': name the .wasm file in it' : '';
    const reason = isSaid ? error.message : `cannot read ${path ?? 'it'}: ${readFailure(error)}${hint}`;
    if (!Object.hasOwn(parsedPlugins(manifest.text), name))
      throw new ManifestError(`plugin "${name}": ${reason}`, { cause: error });
    throw manifestError(manifest, {
      message: `plugin "${name}": ${reason}`,
      pointer: child('/plugins', name),
      hint: pluginHint(name, declared),
      cause: error,
    });
  }
}

function parsedPlugins(text: string): object {
  const parsed = parseText(Buffer.from(text));
  const plugins = parsed.ok ? get(parsed.value, 'plugins') : undefined;
  return isObject(plugins) ? plugins : {};
}

function pluginHint(name: string, { path, remote, version }: ManifestPlugin): string {
  if (remote) return 'Check the URL and the hash, and that --egress-allow allows its host.';
  if (path !== undefined)
    return 'Write the path of the .wasm file, relative to the manifest; `gw plugin build` makes it.';
  const builtin = builtinNames();
  if (builtin.includes(name))
    return version === undefined
      ? 'Build the plugins: npm run plugins.'
      : 'Remove "version", or install that version of gw.';
  return didYouMean(name, builtin) ?? `Add "path" or "url": the built-in plugins are ${builtin.join(', ')}.`;
}

/**
 * plugin.toml and config-schema.json beside the module belong to it, unless plugin.toml names another module that
 * exists, too.
 */
function readLocal(name: string, path: string, reads: ReadPaths): ProjectPlugin {
  reads.file(path);
  const beside = (file: string) => {
    const at = join(dirname(path), file);
    reads.file(at);
    return at;
  };
  const toml = beside('plugin.toml');
  const manifest = existsSync(toml) ? readOwn(toml) : undefined;
  const named = manifest && wasmFileOf(Buffer.from(manifest).toString());
  const isOurs = named === undefined || named === basename(path) || !existsSync(beside(named));
  const schema = beside('config-schema.json');
  return readPluginPackage({
    wasm: readFileSync(path),
    name,
    ...(isOurs && manifest ? { manifest } : {}),
    ...(isOurs && existsSync(schema) ? { configSchema: readOwn(schema) } : {}),
  });
}

/** Reads the description of a plugin, which lies beside its module and goes into the artifact. */
function readOwn(path: string): Uint8Array {
  const fault = fileFault(dirname(path), path);
  if (fault !== null) throw new PluginPackageError(`cannot read ${basename(path)}: ${fault}`);
  return readFileSync(path);
}
