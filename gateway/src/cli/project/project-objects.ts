/** Kubernetes objects of a project, for `gw manifests`. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readArtifact } from '../../artifact/index.ts';
import { type CompileResult, compile } from '../../compiler/index.ts';
import { slug } from '../../compiler/operations/routes.ts';
import { EgressGuard } from '../../egress/guard.ts';
import type { RemotePlugins } from '../../plugins/remote.ts';
import { get, isObject } from '../../spec/json.ts';
import { parseText } from '../../spec/parse.ts';
import { isLoopback } from '../../transport/listen-address.ts';
import { type ManifestPlugin, type ProjectManifest, readManifest } from './manifest.ts';
import { type FolderProject, readProjectFolder } from './project-folder.ts';

const API_VERSION = 'gw.dev/v1alpha1';
/** Characters of a document in an ApiSpec. */
const MOST_INLINE = 200 * 1024;
/** Characters of a name, which names of other objects are made of. */
const MOST_NAME = 50;
/** Characters of a ConfigMap's values: the API server takes 1 MiB. */
const MOST_IN_CONFIG_MAP = 1_000_000;

/** A project that does not fit into objects. */
export class NotInObjects extends Error {}

interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

export interface ProjectObjects {
  /** Absent if the project does not compile. */
  readonly objects?: readonly KubeObject[];
  readonly diagnostics: CompileResult['diagnostics'];
  readonly pathOf: FolderProject['pathOf'];
  /** Sentences about what is left to do. */
  readonly notes: readonly string[];
}

export interface ObjectsOptions {
  /** Path of gw.yaml. */
  readonly manifest: string;
  /** Name of the GatewayProject. Default: the name of the manifest's folder. */
  readonly name?: string;
  readonly namespace?: string;
  readonly remotePlugins: RemotePlugins;
}

/** Rejects with ManifestError, SpecFileError or NotInObjects. */
export async function objectsOfProject(options: ObjectsOptions): Promise<ProjectObjects> {
  const { manifest: path, namespace, remotePlugins } = options;
  const manifest = await readManifest(path);
  const project = await readProjectFolder({ manifest: path, specs: [], flags: {}, remotePlugins });
  const { pathOf } = project;
  const { result, allowPlaintext } = await compiled(project);
  const { diagnostics } = result;
  if (!result.ok) return { diagnostics, pathOf, notes: [] };
  const home = dirname(resolve(path));
  const name = options.name ?? objectName(basename(home));
  const used = await usedOf(project, result.artifact);
  const documents = specObjects(project, name);
  const specs = documents.flatMap(({ kind, metadata }) => (kind === 'ApiSpec' ? [metadata.name] : []));
  const objects = [
    ...documents,
    ...(await pluginObjects(manifest, name, home)),
    projectObject(manifest, { name, specs, allowPlaintext, ...used }),
  ].map((each) => (namespace === undefined ? each : { ...each, metadata: { ...each.metadata, namespace } }));
  return { objects, diagnostics, pathOf, notes: notesOn(used, name, namespace) };
}

/** Compiles, and with plaintext upstreams if these are in the way. */
async function compiled(
  project: FolderProject,
): Promise<{ readonly result: CompileResult; readonly allowPlaintext: boolean }> {
  const strict = await compile(project);
  const isPlaintext = !strict.ok && strict.diagnostics.some(({ code }) => code === 'E1031');
  if (!isPlaintext) return { result: strict, allowPlaintext: false };
  return { result: await compile({ ...project, flags: { allowPlaintext: true } }), allowPlaintext: true };
}

interface Used {
  /** Variables of `env://` references. */
  readonly variables: readonly string[];
  /** Paths of `file://` references. */
  readonly files: readonly string[];
  /** Hosts that the egress guard does not admit by their address. */
  readonly hosts: readonly string[];
}

async function usedOf(project: FolderProject, artifact: Uint8Array): Promise<Used> {
  const { routes } = await readArtifact(artifact, { trustedKeys: [] });
  const uses = routes.operations.flatMap(({ dispatch, middlewares }) => [...middlewares, dispatch]);
  const texts = textsOf([uses, project.upstreams ?? {}, project.mcp ?? {}]);
  const matches = (pattern: RegExp) => sorted(texts.flatMap((text) => pattern.exec(text)?.[1] ?? []));
  const hosts = texts.filter(
    (text) => /^(?:https?|wss?):\/\//.test(text) && URL.canParse(text.replaceAll(/[{}]/g, '')),
  );
  return {
    variables: matches(/^env:\/\/(.+)$/s),
    files: matches(/^file:\/\/(.+)$/s),
    hosts: sorted(hosts.map((text) => new URL(text.replaceAll(/[{}]/g, '')).hostname)).filter(isInternal),
  };
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isObject(value) ? Object.values(value).flatMap(textsOf) : [];
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

/** Reports whether the host is a Service, a name of a private network or a private address. */
function isInternal(host: string): boolean {
  const literal = host.replace(/^\[|\]$/g, '');
  if (/^[\d.]+$|:/.test(literal))
    return !new EgressGuard({ allowInternal: false, allow: [] }).permits(literal, literal);
  return !host.includes('.') || /\.(?:svc|local|internal|localhost|lan|home\.arpa)\.?$/.test(host);
}

/** Returns the text as a name of a Kubernetes object. */
function objectName(text: string): string {
  return slug(text).slice(0, MOST_NAME).replace(/-$/, '');
}

/** A document by itself stands in its ApiSpec; documents that refer to files are in a ConfigMap with them. */
function specObjects({ specs, files }: FolderProject, project: string): readonly KubeObject[] {
  const folder = dirname(specs[0] ?? '');
  const texts = files.map(({ name, bytes }) => {
    return { name, text: Buffer.from(bytes).toString('utf8'), isSpec: specs.includes(name) && isDocument(bytes) };
  });
  const isInline = texts.every(({ isSpec }) => isSpec) && texts.every(({ text }) => text.length <= MOST_INLINE);
  const nested = files.find(({ name }) => dirname(name) !== folder);
  if (!isInline && nested) {
    throw new NotInObjects(
      `${nested.name} is in a folder of its own, and keys of a ConfigMap have no folders: move it beside the documents, or publish the documents as an archive (source.url or source.oci of an ApiSpec)`,
    );
  }
  const configMap = `${project}-specs`;
  const taken = new Set<string>();
  const apiSpecs = texts
    .filter(({ isSpec }) => isSpec)
    .map(({ name, text }) => {
      const file = basename(name);
      const source = isInline ? { inline: text } : { configMap: { name: configMap, key: file } };
      const stem = objectName(file.replace(/\.[^.]+$/, ''));
      let own = stem;
      for (let n = 2; taken.has(own); n++) own = `${stem}-${n}`;
      taken.add(own);
      return object('ApiSpec', own, { spec: { file, source } });
    });
  const data = Object.fromEntries(texts.map(({ name, text }) => [basename(name), text]));
  return isInline ? apiSpecs : [configMapOf(configMap, { data }), ...apiSpecs];
}

/** Reports whether the file is a document by itself; others are parts of documents. */
function isDocument(bytes: Uint8Array): boolean {
  const parsed = parseText(bytes);
  return parsed.ok && ['openapi', 'asyncapi'].some((kind) => get(parsed.value, kind) !== undefined);
}

async function pluginObjects(
  { plugins }: ProjectManifest,
  project: string,
  home: string,
): Promise<readonly KubeObject[]> {
  const objects = [...plugins].map(async ([name, { path, remote }]) => {
    if (remote) return [object('PluginRef', name, { spec: { plugin: name, source: { url: remote } } })];
    if (path === undefined) return [];
    const at = resolve(home, path);
    const wasm = basename(at);
    const data: Record<string, string> = {};
    for (const file of ['plugin.toml', 'config-schema.json']) {
      const beside = join(dirname(at), file);
      if (existsSync(beside)) data[file] = await readFile(beside, 'utf8');
    }
    const configMap = `${project}-${name}`;
    const binaryData = { [wasm]: (await readFile(at)).toString('base64') };
    return [
      configMapOf(configMap, { data, binaryData }),
      object('PluginRef', name, { spec: { plugin: name, source: { configMap: { name: configMap, wasm } } } }),
    ];
  });
  return (await Promise.all(objects)).flat();
}

function configMapOf(name: string, content: { readonly data?: object; readonly binaryData?: object }): KubeObject {
  const size = textsOf([content.data ?? {}, content.binaryData ?? {}]).reduce((sum, { length }) => sum + length, 0);
  if (size > MOST_IN_CONFIG_MAP) {
    throw new NotInObjects(
      `ConfigMap ${name} would have ${size} bytes, more than ${MOST_IN_CONFIG_MAP}: publish its files as an archive or OCI artifact, and name that in the object (source.url or source.oci)`,
    );
  }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...content };
}

interface ProjectParts extends Used {
  readonly name: string;
  /** Names of its ApiSpecs. */
  readonly specs: readonly string[];
  readonly allowPlaintext: boolean;
}

function projectObject(
  { plugins, upstreams, mcp }: ProjectManifest,
  { name, specs, allowPlaintext, variables, hosts }: ProjectParts,
): KubeObject {
  const named = Object.keys(upstreams).find((each) => upstreams[each]?.url === undefined);
  if (named !== undefined)
    throw new NotInObjects(
      `upstream "${named}" has no URL, and upstreams of a GatewayProject have one: add "url", such as the URL of a Service`,
    );
  const allow = hosts.filter((host) => !isLoopback(host));
  const spec = {
    specs: { names: specs },
    plugins: [...plugins].map(([plugin, declared]) => pluginEntry(plugin, declared)),
    ...(Object.keys(upstreams).length > 0 ? { upstreams } : {}),
    ...(mcp === undefined ? {} : { mcp }),
    ...(allowPlaintext ? { allowPlaintext } : {}),
    ...(allow.length > 0 ? { egress: { allow } } : {}),
    ...(variables.length > 0 ? { secrets: { env: [`${name}-secrets`] } } : {}),
  };
  return object('GatewayProject', name, { spec });
}

function pluginEntry(name: string, { path, remote, version, config }: ManifestPlugin): object {
  return {
    name,
    ...(path !== undefined || remote ? { pluginRef: name } : {}),
    ...(version === undefined ? {} : { version }),
    ...(config === undefined ? {} : { config }),
  };
}

function object(kind: string, name: string, content: object): KubeObject {
  return { apiVersion: API_VERSION, kind, metadata: { name }, ...content };
}

function notesOn({ variables, files, hosts }: Used, name: string, namespace: string | undefined): readonly string[] {
  const notes: string[] = [];
  if (variables.length > 0) {
    const inNamespace = namespace === undefined ? '' : ` --namespace ${namespace}`;
    const literals = variables.map((each) => ` --from-literal=${each}=VALUE`).join('');
    notes.push(`the pods need a Secret: kubectl create secret generic ${name}-secrets${inNamespace}${literals}`);
  }
  if (files.length > 0) {
    notes.push(`the pods need files (${files.join(', ')}): name their Secret in spec.secrets.directory`);
  }
  const local = hosts.filter(isLoopback);
  if (local.length > 0) {
    const service = `http://SERVICE.${namespace ?? 'NAMESPACE'}.svc`;
    notes.push(
      `${local.join(', ')} is the pod itself: name a Service, such as ${service}, and its host in spec.egress.allow`,
    );
  }
  return notes;
}
