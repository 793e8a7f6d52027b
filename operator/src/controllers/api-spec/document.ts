import { createHash } from 'node:crypto';
import { specFiles } from '@gw/control';
import type { ProjectFile } from '@gw/gateway/compiler';
import { type Read, refuse } from '../../api/refusal.ts';
import type { ApiSpec } from '../../api/resources.ts';
import { joinParts, unpackGzipped } from '../../sources/packed-files.ts';
import { type ReadWith, readConfigMap, readFetched, refusing } from '../../sources/read-source.ts';
import { documentRequest, ownerOfDocument } from '../../sources/request.ts';
import type { SourceRequest } from '../../sources/source.ts';

/** An ApiSpec's document, and the files that it may refer to. */
export interface Document {
  /** Name of the document among `files`; with its folder if it came in an archive. */
  readonly file: string;
  readonly files: readonly ProjectFile[];
  /** SHA-256 of the document, in hex. */
  readonly sha256: string;
}

const NAME = /^[A-Za-z0-9_][-A-Za-z0-9._]*\.(ya?ml|json)$/;

/** Reads the document that the ApiSpec names. The compiler checks whether it is OpenAPI. */
export async function readDocument(deps: ReadWith, apiSpec: ApiSpec): Promise<Read<{ document: Document }>> {
  const { inline, configMap, oci, url } = apiSpec.spec.source;
  const kinds = [inline, configMap, oci, url].filter((source) => source !== undefined);
  if (kinds.length !== 1)
    return refuse('InvalidSpec', 'spec.source: exactly one of inline, configMap, oci and url must be set');
  const request = documentRequest(apiSpec);
  if (request) return readRemote(deps, apiSpec, request);
  if (configMap) return refusing(() => readConfigMaps(deps, apiSpec, configMap));
  const name = apiSpec.spec.file ?? `${apiSpec.metadata.name}.yaml`;
  return document(name, [{ name, bytes: Buffer.from(inline ?? '', 'utf8') }]);
}

/** Rejects with SourceError. */
async function readConfigMaps(
  { objects }: ReadWith,
  { metadata, spec: { file } }: ApiSpec,
  { name, more = [], key }: NonNullable<ApiSpec['spec']['source']['configMap']>,
): Promise<Read<{ document: Document }>> {
  const keys = new Map<string, Uint8Array>();
  for (const each of [name, ...more]) {
    const read = await readConfigMap(objects, metadata.namespace ?? 'default', each);
    if (!read.ok) return read;
    for (const [found, bytes] of read.entries) {
      if (keys.has(found))
        return refuse(
          'SourceInvalid',
          `key "${found}" of ConfigMap "${each}" also exists in another ConfigMap of the source`,
        );
      keys.set(found, bytes);
    }
  }
  const found = await unpackGzipped(joinParts(keys));
  const wanted = wantedKey(key, [...found.keys()]);
  if (wanted === undefined) {
    return refuse(
      'InvalidSpec',
      `ConfigMap "${name}" has ${found.size} files: name the document in spec.source.configMap.key`,
    );
  }
  if (!found.has(wanted)) return refuse('SourceNotFound', `ConfigMap "${name}" has no key "${wanted}"`);
  return document(file ?? wanted, renamed(found, wanted, file));
}

/** Returns the name of the file in the key, which may have a part of it, or gzipped content. */
function wantedKey(key: string | undefined, files: readonly string[]): string | undefined {
  if (key === undefined) return files.length === 1 ? files[0] : undefined;
  return key.replace(/\.part[0-9]{1,4}$/, '').replace(/\.gz$/, '');
}

function readRemote(
  { sources }: ReadWith,
  apiSpec: ApiSpec,
  request: SourceRequest,
): Read<{ readonly document: Document }> {
  const { file } = apiSpec.spec;
  const read = readFetched(sources, ownerOfDocument(apiSpec), request);
  if (!read.ok) return read;
  const found = read.source.content.files;
  const [only] = found.keys();
  // A single file may have any name: it is the requested one.
  if (found.size === 1 && only !== undefined) {
    const name = file ?? (NAME.test(baseName(only)) ? baseName(only) : `${apiSpec.metadata.name}.yaml`);
    return document(name, renamed(found, only, name));
  }
  const files = specFiles(found);
  const names = files.map(({ name }) => name);
  const wanted = file ?? (names.length === 1 ? names[0] : undefined);
  if (wanted === undefined)
    return refuse('InvalidSpec', `it holds ${names.length} documents: name one in spec.file, of ${listed(names)}`);
  if (!names.includes(wanted)) return refuse('SourceNotFound', `it holds no "${wanted}": ${listed(names)}`);
  return document(wanted, files);
}

function renamed(files: ReadonlyMap<string, Uint8Array>, from: string, to: string | undefined): readonly ProjectFile[] {
  return [...files].map(([name, bytes]) => ({ name: name === from ? (to ?? name) : name, bytes }));
}

function document(file: string, files: readonly ProjectFile[]): Read<{ document: Document }> {
  if (!NAME.test(baseName(file)))
    return refuse('InvalidSpec', `"${file}" must end in .yaml, .yml or .json: set spec.file`);
  if (new Set(files.map(({ name }) => name)).size !== files.length) {
    return refuse('InvalidSpec', `spec.file "${file}" is also the name of another key`);
  }
  // Files of an ApiSpec stay in the folder that is its own.
  const strange = files.find(({ name }) =>
    name.split('/').some((part) => part === '' || part === '..' || part === '.'),
  );
  if (strange) {
    const shown = JSON.stringify(strange.name.slice(0, 100));
    return refuse('SourceInvalid', `the file name ${shown} is not a relative path in normal form`);
  }
  const bytes = files.find(({ name }) => name === file)?.bytes ?? new Uint8Array();
  return { ok: true, document: { file, files, sha256: createHash('sha256').update(bytes).digest('hex') } };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Lists a few names, for people. */
function listed(names: readonly string[]): string {
  if (names.length === 0) return 'it contains no YAML or JSON file';
  const shown = names.slice(0, 10).map((name) => JSON.stringify(name.slice(0, 100)));
  return `${shown.join(', ')}${names.length > shown.length ? `, and ${names.length - shown.length} more` : ''}`;
}
