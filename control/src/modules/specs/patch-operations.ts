/**
 * Changes the plugin bindings of operations in a document (docs/reference/control-plane.md#spec-operations): a merge
 * patch, by operation. Runs in a worker.
 */
import { isDeepStrictEqual } from 'node:util';
import { type DescribedOperation, describeSpec, isGzip, repack, unpack } from '@gw/gateway/compiler';
import { mergePatch, parseText, valueAt } from '@gw/gateway/spec';
import type { Edit } from './edit.ts';
import { editJson } from './edit-json.ts';
import { editYaml } from './edit-yaml.ts';
import { projectFiles, type Upload, type UploadForm } from './read-upload.ts';
import type { OperationsPatch } from './schemas.ts';

/** What cannot be done, in words for the caller. */
export class PatchRefused extends Error {}

const EXTENSIONS = { dispatch: 'x-gw-dispatch', middlewares: 'x-gw-middlewares' } as const;

export interface PatchTask extends Pick<Upload, 'bytes' | 'filename' | 'name'> {
  readonly form: UploadForm;
  readonly entry: string;
  readonly patch: OperationsPatch;
}

/** The uploaded bytes as patched; null where nothing changes. Throws PatchRefused. */
export async function patchUpload({ bytes, form, entry, patch }: PatchTask): Promise<Uint8Array | null> {
  const files = await projectFiles(form, entry, bytes);
  const described = describeSpec(entry, files);
  const source = files.find(({ name }) => name === entry)?.bytes;
  const parsed = source && parseText(source);
  if (!described.ok || !source || !parsed?.ok)
    throw new Error(`"${entry}" was readable when it was uploaded, but no longer is`);
  const edits = editsOf(parsed.value, entry, described.spec.operations, patch);
  if (edits.length === 0) return null;
  const patched = written(source, edited(parsed.text, parsed.value, edits));
  if (form === 'document') return patched;
  // All of it again, also what no compiler reads.
  return repack(new Map([...(await unpack(bytes)), [entry, patched]]), isGzip(bytes));
}

function editsOf(
  document: unknown,
  entry: string,
  operations: readonly DescribedOperation[],
  patch: OperationsPatch,
): readonly Edit[] {
  const edits = new Map<string, Edit>();
  for (const [name, change] of Object.entries(patch)) {
    const { file, pointer } = operationNamed(name, operations);
    if (file !== entry) throw new PatchRefused(`operation "${name}" is written in "${file}": upload that file again`);
    if (edits.has(pointer)) throw new PatchRefused(`operation "${name}" is named twice, by operationId and by path`);
    const changes = changesOf(name, valueAt(document, pointer), change);
    if (changes.length > 0) edits.set(pointer, { pointer, changes });
  }
  return [...edits.values()];
}

function changesOf(name: string, operation: unknown, change: OperationsPatch[string]): Edit['changes'] {
  return (['dispatch', 'middlewares'] as const).flatMap((field) => {
    if (!(field in change)) return [];
    const key = EXTENSIONS[field];
    const before = asJson(valueAt(operation, `/${key}`));
    const patch = change[field];
    const after = patch === null ? undefined : asJson(mergePatch(before, patch));
    if (isDeepStrictEqual(before, after)) return [];
    if (field === 'dispatch' && after !== undefined && typeof valueAt(after, '/name') !== 'string') {
      throw new PatchRefused(`operation "${name}" has no dispatcher: its "dispatch" needs a name`);
    }
    return [[key, after] as const];
  });
}

/** As it is once it has been written and read. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function operationNamed(name: string, operations: readonly DescribedOperation[]): DescribedOperation {
  const found =
    operations.find(({ operationId }) => operationId === name) ??
    operations.find(({ method, path }) => `${method} ${path}` === name);
  if (found) return found;
  const known = operations.slice(0, 50).map(({ operationId, method, path }) => operationId ?? `${method} ${path}`);
  const more = operations.length > known.length ? `, and ${operations.length - known.length} more` : '';
  throw new PatchRefused(`there is no operation "${name}": there are ${known.join(', ') || 'none'}${more}`);
}

/** Proven by reading it again: the document says what it said, but for the edits. */
function edited(text: string, value: unknown, edits: readonly Edit[]): string {
  const expected = withEdits(value, edits);
  for (const candidate of candidates(text, edits)) {
    const parsed = parseText(Buffer.from(candidate));
    if (parsed.ok && isDeepStrictEqual(parsed.value, expected)) return candidate;
  }
  throw new PatchRefused(
    'the document cannot be edited at this place, which an anchor, alias or merge key reaches: edit it and upload it',
  );
}

function* candidates(text: string, edits: readonly Edit[]): Iterable<string> {
  const json = isJson(text) ? editJson(text, edits) : null;
  if (json !== null) yield json;
  else yield* editYaml(text, edits);
}

function withEdits(value: unknown, edits: readonly Edit[]): unknown {
  const copy = unshared(value);
  for (const { pointer, changes } of edits) {
    const object = valueAt(copy, pointer);
    if (typeof object !== 'object' || object === null) continue;
    for (const [key, after] of changes) {
      if (after === undefined) Reflect.deleteProperty(object, key);
      else Reflect.set(object, key, after);
    }
  }
  return copy;
}

/** What aliases share is not shared in the copy: an edit is of one place. */
function unshared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshared);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unshared(each)]));
}

function isJson(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && JSON.parse(text) !== null;
  } catch {
    return false;
  }
}

/** With the byte order mark that reading took away. */
function written(source: Uint8Array, text: string): Uint8Array {
  const hasMark = source[0] === 0xef && source[1] === 0xbb && source[2] === 0xbf;
  return Buffer.from(hasMark ? `\ufeff${text}` : text);
}
