/**
 * The manifests of a folder, as objects: those that `kubectl apply -f DIR` would send, read again when files change.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileFault } from '@gw/gateway/file-fault';
import { messageOf } from '@gw/gateway/message-of';
import { parseAllDocuments } from 'yaml';
import { apiSpecs, configMaps, deployments, gatewayProjects, kinds, pluginRefs, secrets } from '../api/resources.ts';
import { GROUP, type Schema } from '../api/schema.ts';
import { isRecord, type KubeObject, keyOf, type Resource } from '../kube/kube-object.ts';
import { reachableServices, runnableWorkloads } from './local-kinds.ts';

/** Kinds that local mode supports. */
const RESOURCES: readonly Resource<KubeObject>[] = [
  gatewayProjects,
  apiSpecs,
  pluginRefs,
  deployments,
  configMaps,
  secrets,
  runnableWorkloads,
  reachableServices,
];

export interface ManifestObject {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

export interface Manifests {
  /** Objects by file. An unreadable file has none; `problems` gives the reason. */
  readonly files: ReadonlyMap<string, readonly ManifestObject[]>;
  readonly problems: ReadonlyMap<string, string>;
  /** Kinds that local mode does not know, such as `Ingress bookstore`. */
  readonly ignored: readonly string[];
}

export const DEFAULT_NAMESPACE = 'default';
const MANIFEST = /\.(ya?ml|json)$/;
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads every *.yaml, *.yml and *.json of the folder itself, in the order of names. Rejects if it is not a folder. */
export async function readManifests(dir: string): Promise<Manifests> {
  const files = new Map<string, readonly ManifestObject[]>();
  const problems = new Map<string, string>();
  const ignored: string[] = [];
  const names = (await readdir(dir))
    .filter((name) => MANIFEST.test(name) && !/^kustomization\.ya?ml$/.test(name))
    .toSorted();
  for (const name of names) {
    try {
      const path = join(dir, name);
      const fault = fileFault(dir, path);
      if (fault !== null) throw new Error(fault);
      const text = await readFile(path, 'utf8');
      if (text.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
      files.set(name, parseManifest(text, ignored));
    } catch (error) {
      problems.set(name, messageOf(error));
    }
  }
  return { files, problems, ignored };
}

function parseManifest(text: string, ignored: string[]): readonly ManifestObject[] {
  const objects: ManifestObject[] = [];
  for (const document of parseAllDocuments(text)) {
    const [error] = document.errors;
    if (error) throw new Error(error.message.split('\n')[0]);
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (value === null || value === undefined) continue;
    const items =
      isRecord(value) && value['kind'] === 'List' && Array.isArray(value['items']) ? value['items'] : [value];
    for (const item of items) {
      const found = parseObject(item);
      if (typeof found === 'string') ignored.push(found);
      else objects.push(found);
    }
  }
  return objects;
}

/** Returns the object, or the name of an unsupported kind. Throws if the value is invalid. */
function parseObject(value: unknown): ManifestObject | string {
  if (!isRecord(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string') {
    throw new Error('a document without apiVersion and kind is not a manifest');
  }
  const { apiVersion, kind } = value;
  const resource = RESOURCES.find((known) => known.apiVersion === apiVersion && known.kind === kind);
  const meta = value['metadata'];
  const name = isRecord(meta) ? String(meta['name']) : '';
  if (!resource) {
    if (apiVersion.startsWith(`${GROUP}/`)) throw new Error(`gw.dev has no kind "${kind}" of ${apiVersion}`);
    return `${kind} ${name}`;
  }
  const definition = kinds.find((known) => apiVersion.startsWith(`${GROUP}/`) && known.kind === kind);
  if (definition) {
    const unknown = unknownFields(value['spec'], definition.spec, '/spec');
    if (unknown.length > 0) throw new Error(`${kind} "${name}": unknown field ${unknown.join(', ')}`);
  }
  const { status: _, ...declared } = kind === 'Secret' ? secret(value) : value;
  const object = resource.parse(declared);
  const { labels, annotations } = object.metadata;
  const metadata = {
    name: object.metadata.name,
    namespace: object.metadata.namespace ?? DEFAULT_NAMESPACE,
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
  };
  return { resource, object: { ...object, metadata } };
}

/** `stringData` is for writing only: the API server turns it into `data`. */
function secret(value: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } {
  const { stringData, data, ...rest } = value;
  const encoded = Object.entries(isRecord(stringData) ? stringData : {}).map(([key, text]) => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ]);
  return { ...rest, data: { ...(isRecord(data) ? data : {}), ...Object.fromEntries(encoded) } };
}

/** Returns the identity of a manifest's object. */
export function identity({ resource, object }: ManifestObject): string {
  const { namespace, name } = keyOf(object);
  return `${resource.apiVersion}/${resource.kind}/${namespace}/${name}`;
}

/**
 * Returns JSON pointers of fields that a schema does not define: the API server would drop them, kubectl refuses them.
 */
function unknownFields(value: unknown, schema: Schema, at = ''): readonly string[] {
  if (schema['x-kubernetes-preserve-unknown-fields']) return [];
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value))
    return items ? value.flatMap((item, index) => unknownFields(item, items, `${at}/${index}`)) : [];
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const inner = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (inner) return unknownFields(field, inner, pointer);
    return properties ? [pointer] : [];
  });
}
