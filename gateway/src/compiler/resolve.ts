/** Stage 3: every `$ref` of the specs, and of the files that they reach, leads somewhere in the project (E1003, E1015). */
import type { Diagnostics } from '../spec/diagnostic.ts';
import type { Document, Documents } from '../spec/documents.ts';
import { misplaced } from '../spec/extensions.ts';
import { recognise } from '../spec/recognise.ts';
import { walk } from '../spec/walk.ts';
import type { Parsed, ParsedSpec } from './parse.ts';
import { isWithinUnread } from './schema-format.ts';

export interface Resolved {
  readonly specs: readonly ParsedSpec[];
  /** Files that specs refer to, and that are none themselves: name in the project to name under `specs/`. */
  readonly references: ReadonlyMap<string, string>;
}

export function resolve({ specs, parts }: Parsed, documents: Documents, diagnostics: Diagnostics): Resolved {
  const names = new Map<string, string>(specs.map(({ spec, base }) => [spec.document.file, base]));
  const references = new Map<string, string>();
  for (const { spec } of specs) {
    const seen = new Set<Document>();
    const waiting = [spec.document];
    for (let document = waiting.pop(); document; document = waiting.pop()) {
      if (seen.has(document)) continue;
      seen.add(document);
      const { file } = document;
      if (!names.has(file)) {
        const name = relativeName(spec.document.file, file);
        names.set(file, name);
        references.set(file, name);
      }
      const reached = visit(document, documents, diagnostics);
      waiting.push(...[...reached].sort((a, b) => (a.file < b.file ? 1 : -1)));
    }
  }
  // One that nothing refers to was meant to be a spec.
  for (const part of parts) if (!references.has(part.file)) recognise(part, diagnostics);
  checkNames(names, documents, diagnostics);
  return { specs, references };
}

function visit(document: Document, documents: Documents, diagnostics: Diagnostics): ReadonlySet<Document> {
  const reached = new Set<Document>();
  walk(document, {
    ref(ref, pointer) {
      if (isWithinUnread(document.value, pointer)) return;
      const resolution = documents.resolve({ document, pointer }, ref);
      if (resolution.ok) reached.add(resolution.target.document);
      else diagnostics.add('E1003', { file: document.file, pointer }, `unresolved $ref: ${resolution.why}`);
    },
    extension(name, pointer, within) {
      const why = misplaced(name, within, document.value);
      if (why !== null) diagnostics.add('E1015', { file: document.file, pointer }, why);
    },
  });
  return reached;
}

/** As the spec's folder sees it, without climbing: the same through every door, wherever that keeps its files. */
function relativeName(spec: string, file: string): string {
  const from = spec.split('/').slice(0, -1);
  const to = file.split('/');
  let shared = 0;
  while (shared < from.length && from[shared] === to[shared]) shared++;
  return to.slice(shared).join('/');
}

function checkNames(names: ReadonlyMap<string, string>, documents: Documents, diagnostics: Diagnostics): void {
  const owners = new Map<string, string>();
  for (const [file, name] of names) {
    const owner = owners.get(name);
    if (owner === undefined) owners.set(name, file);
    else if (!same(documents.bytesOf(owner), documents.bytesOf(file))) {
      diagnostics.add(
        'E1050',
        { file, pointer: '' },
        `"${owner}" and "${file}" would both be "${name}" in the artifact`,
      );
    }
  }
}

function same(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
}
