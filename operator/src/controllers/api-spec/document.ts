import { createHash } from 'node:crypto';
import type { ProjectFile } from '@gw/gateway/compiler';
import type { ApiSpec } from '../../api/resources.ts';
import type { Objects } from '../../runtime/objects.ts';
import { type Read, readConfigMap, refuse, unpack } from '../source.ts';

/** An ApiSpec's document, and the files that it may refer to. */
export interface Document {
  /** Base name of the document among `files`. */
  readonly file: string;
  readonly files: readonly ProjectFile[];
  /** Of the document, in hex. */
  readonly sha256: string;
}

const NAME = /^[A-Za-z0-9_][-A-Za-z0-9._]*\.(ya?ml|json)$/;

/** Reads what the ApiSpec points at. Whether it is OpenAPI is for the compiler to say. */
export async function readDocument(objects: Objects, apiSpec: ApiSpec): Promise<Read<{ document: Document }>> {
  const { source, file } = apiSpec.spec;
  const name = file ?? `${apiSpec.metadata.name}.yaml`;
  if (source.inline !== undefined && source.configMap === undefined) {
    return document(name, [{ name, bytes: Buffer.from(source.inline, 'utf8') }]);
  }
  if (source.configMap === undefined || source.inline !== undefined) {
    return refuse('InvalidSpec', 'spec.source: exactly one of inline and configMap must be set');
  }
  const read = await readConfigMap(objects, apiSpec.metadata.namespace ?? 'default', source.configMap.name);
  if (!read.ok) return read;
  const unpacked = unpack(read.entries);
  if (!unpacked.ok) return unpacked;
  const keys = [...unpacked.entries.keys()];
  const wanted = source.configMap.key?.replace(/\.gz$/, '') ?? (keys.length === 1 ? keys[0] : undefined);
  if (wanted === undefined) {
    return refuse(
      'InvalidSpec',
      `ConfigMap "${source.configMap.name}" has ${keys.length} keys: name the document in spec.source.configMap.key`,
    );
  }
  if (!unpacked.entries.has(wanted))
    return refuse('SourceNotFound', `ConfigMap "${source.configMap.name}" has no key "${wanted}"`);
  const files = [...unpacked.entries].map(([key, bytes]) => ({ name: key === wanted ? (file ?? key) : key, bytes }));
  return document(file ?? wanted, files);
}

function document(file: string, files: readonly ProjectFile[]): Read<{ document: Document }> {
  if (!NAME.test(file)) return refuse('InvalidSpec', `"${file}" must end in .yaml, .yml or .json: set spec.file`);
  if (new Set(files.map(({ name }) => name)).size !== files.length) {
    return refuse('InvalidSpec', `spec.file "${file}" is also the name of another key`);
  }
  const bytes = files.find(({ name }) => name === file)?.bytes ?? new Uint8Array();
  return { ok: true, document: { file, files, sha256: createHash('sha256').update(bytes).digest('hex') } };
}
