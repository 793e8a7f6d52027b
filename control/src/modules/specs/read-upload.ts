/** Reads an uploaded file: one document, or an archive of one and the files that it refers to. Runs in a worker. */
import {
  ArchiveError,
  type Diagnostic,
  describeSpec,
  ERROR_CODES,
  isGzip,
  isProjectFile,
  isTar,
  type ProjectFile,
  type SpecDescription,
  specsAmong,
  unpack,
} from '@gw/gateway/compiler';
import { CREDENTIALS_HINT, credentialPlaces } from '@gw/gateway/spec';
import { documentName } from './spec-name.ts';

/** `document`: the bytes are the document; `archive`: a tar, gzipped or not. */
export type UploadForm = 'document' | 'archive';

export interface Upload {
  readonly bytes: Uint8Array;
  /** File name as uploaded. */
  readonly filename: string;
  /** Name of the spec, which names a document (docs/decisions.md#spec-name-rules). */
  readonly name: string;
  /** Which file of an archive is the document; undefined: the only one. */
  readonly entry?: string | undefined;
}

export type UploadReading =
  | {
      readonly ok: true;
      readonly form: UploadForm;
      /** Name of the document in the project that is compiled. */
      readonly entry: string;
      readonly spec: SpecDescription;
    }
  /** With diagnostics the document is at fault, else the upload. */
  | { readonly ok: false; readonly reason: string; readonly diagnostics?: readonly Diagnostic[] };

export async function readUpload({ bytes, filename, name, entry: wanted }: Upload): Promise<UploadReading> {
  const form: UploadForm = isGzip(bytes) || isTar(bytes) ? 'archive' : 'document';
  try {
    const other = otherFormat(bytes);
    if (other !== null)
      throw new ArchiveError(
        `the upload is ${other}: send the document itself, or a .tar or .tar.gz (tar -czf books.tar.gz folder/)`,
      );
    const files = await projectFiles(form, documentName(name, filename), bytes);
    const entry = form === 'document' ? documentOf(files, filename, wanted) : entryOf(files, wanted);
    const result = describeSpec(entry, files);
    const diagnostics = result.ok ? credentialsIn(result.spec) : result.diagnostics;
    if (result.ok && diagnostics.length === 0) return { ok: true, form, entry, spec: result.spec };
    return { ok: false, reason: `"${entry}" is not a valid spec: ${diagnostics[0]?.message}`, diagnostics };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { ok: false, reason: error.message };
  }
}

/**
 * Returns the project files of an upload. Of an archive those that `gw compile` takes of a folder: documents and files
 * of rules, without hidden ones. Rejects with ArchiveError.
 */
export async function projectFiles(form: UploadForm, filename: string, bytes: Uint8Array): Promise<ProjectFile[]> {
  if (form === 'document') return [{ name: filename, bytes }];
  return specFiles(await unpack(bytes));
}

/** Returns the files of an archive that a project uses, by name. */
export function specFiles(files: ReadonlyMap<string, Uint8Array>): ProjectFile[] {
  const taken = [...files].filter(([name]) => isProjectFile(name)).map(([name, bytes]) => ({ name, bytes }));
  return taken.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Formats by their first bytes, which YAML and JSON never have. */
const FORMATS: readonly (readonly [bytes: string, name: string])[] = [
  ['504b0304', 'a zip archive'],
  ['504b0506', 'an empty zip archive'],
  ['377abcaf271c', 'a 7z archive'],
  ['526172211a07', 'a RAR archive'],
  ['425a683931415926', 'compressed with bzip2'],
  ['fd377a585a00', 'compressed with xz'],
  ['28b52ffd', 'compressed with Zstandard'],
];

function otherFormat(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  return FORMATS.find(([magic]) => head.startsWith(magic))?.[1] ?? null;
}

/** Finds credentials in plugin configs, which every viewer of the operations sees. */
function credentialsIn({ operations }: SpecDescription): readonly Diagnostic[] {
  return operations.flatMap(({ dispatch, middlewares, file, pointer, method, path }) =>
    [...(dispatch ? [dispatch] : []), ...middlewares].flatMap(({ name, config }) =>
      credentialPlaces(config).map(({ message }) => ({
        code: 'E1030' as const,
        severity: ERROR_CODES.E1030.severity,
        message: `plugin "${name}" of ${method} ${path}: ${message}`,
        hint: CREDENTIALS_HINT,
        file,
        pointer,
      })),
    ),
  );
}

/** Finds the document. An upload of one file has only that document, under any requested name. */
function documentOf([document]: readonly ProjectFile[], filename: string, wanted: string | undefined): string {
  if (wanted === undefined || wanted === filename || wanted === document?.name) return document?.name ?? '';
  throw new ArchiveError(`the upload is the single file "${filename}": it does not contain "${wanted}"`);
}

function entryOf(files: readonly ProjectFile[], wanted: string | undefined): string {
  const names = files.map(({ name }) => name);
  if (wanted !== undefined) {
    const name = wanted.replace(/^(\.\/)+/, '');
    if (names.includes(name)) return name;
    throw new ArchiveError(`there is no file "${wanted}" in it: ${listed(names)}`);
  }
  const specs = specsAmong(files);
  const depth = Math.min(...specs.map(depthOf));
  const [first, ...others] = specs.filter((name) => depthOf(name) === depth);
  if (first === undefined)
    throw new ArchiveError(`none of its files is an OpenAPI or AsyncAPI document: ${listed(names)}`);
  if (others.length > 0)
    throw new ArchiveError(
      `several of its files are documents: choose one with "entry", of ${listed([first, ...others])}`,
    );
  return first;
}

const depthOf = (name: string): number => name.split('/').length;

/** Lists a few names, for people. */
function listed(names: readonly string[]): string {
  if (names.length === 0) return 'it contains no YAML or JSON file';
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 100)));
  return `${shown.join(', ')}${names.length > shown.length ? `, and ${names.length - shown.length} more` : ''}`;
}
