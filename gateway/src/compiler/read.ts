/**
 * Stage 1: lists the files, and the specs among them. Later stages do not depend on the source of the project
 * (docs/decisions.md#one-project, docs/decisions.md#references-stay-inside, docs/decisions.md#diagnostics).
 */
import type { Diagnostics } from '../spec/diagnostic.ts';
import type { Project, ProjectFile } from './project/project.ts';

export interface Sources {
  readonly files: ReadonlyMap<string, ProjectFile>;
  /** Sorted by base name, so that the order of inputs has no effect. */
  readonly specs: readonly SourceSpecFile[];
}

interface SourceSpecFile {
  /** Name in the project. */
  readonly file: string;
  /** Name in the artifact. */
  readonly base: string;
}

/** A base name is a file's, a URL's and a ConfigMap's: other characters are refused rather than mapped. */
const BASE = /^[A-Za-z0-9_][-A-Za-z0-9_.@+ ]{0,199}$/;

export function read(project: Project, diagnostics: Diagnostics): Sources {
  // Bytes stay in place until a stage asks for them: a folder's files may be read on demand.
  const files = new Map<string, ProjectFile>();
  for (const file of project.files) {
    if (isUnsafe(file.name)) {
      diagnostics.add(
        'E1050',
        null,
        `file name ${JSON.stringify(file.name.slice(0, 200))} is not a relative path inside the project`,
      );
    } else if (files.has(file.name)) diagnostics.add('E1050', null, `the project holds "${file.name}" twice`);
    else files.set(file.name, file);
  }
  const specs = [...new Set(project.specs)]
    .map((file) => ({ file, base: file.slice(file.lastIndexOf('/') + 1) }))
    .sort((a, b) => compare(a.base, b.base) || compare(a.file, b.file));
  if (specs.length === 0) diagnostics.add('E1001', null, 'the project has no specs', NO_SPECS);
  for (const [i, spec] of specs.entries()) checkName(spec, specs[i - 1], files, diagnostics);
  return { files, specs: specs.filter(({ file }) => files.has(file)) };
}

const NO_SPECS =
  'Name at least one document under "specs" of gw.yaml, such as: specs: [specs/api.yaml]; gw init --from openapi.yaml makes both.';
const MISSING = 'Correct its path under "specs", or add the file: paths are relative to the folder of gw.yaml.';

function checkName(
  { file, base }: SourceSpecFile,
  before: SourceSpecFile | undefined,
  files: ReadonlyMap<string, ProjectFile>,
  diagnostics: Diagnostics,
): void {
  const place = { file, pointer: '' };
  const stem = base.replace(/\.(ya?ml|json)$/i, '');
  if (!files.has(file)) {
    diagnostics.add('E1050', null, `spec "${file}" is not among the project's files`, MISSING);
  }
  if (before?.base === base) diagnostics.add('E1050', place, `"${before.file}" and "${file}" have the same base name`);
  if (stem === 'openapi' || stem === 'asyncapi') {
    diagnostics.add('E1050', place, `a spec may not be named "${stem}": /__gw/specs/${stem} is the merged one`);
  }
  if (!BASE.test(base))
    diagnostics.add('E1050', place, `"${base}" is not a plain file name (letters, digits, ".", "_", "-", "@", "+")`);
}

function isUnsafe(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be in a name
  const strange = name.length > 400 || /[\\\x00-\x1f\x7f]|^[a-zA-Z]:/.test(name);
  return strange || name.split('/').some((part) => part === '' || part === '.' || part === '..');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
