/**
 * Stage 3: checks that every `$ref` of the specs, and of the files that they reach, leads to a place in the project
 * (E1003, E1015).
 */
import type { Diagnostics } from '../spec/diagnostic.ts';
import type { Document } from '../spec/document.ts';
import type { Documents, Located } from '../spec/documents.ts';
import { extensionHint, isOperation, misplaced } from '../spec/extensions.ts';
import { get } from '../spec/json.ts';
import { recognise } from '../spec/recognise.ts';
import { walk } from '../spec/walk.ts';
import { isWithinUnread } from './operations/schema-format.ts';
import type { Parsed, ParsedSpec } from './parse.ts';

export interface Resolved {
  readonly specs: readonly ParsedSpec[];
  /** Files that specs refer to, without the specs themselves: name in the project to name under `specs/`. */
  readonly references: ReadonlyMap<string, string>;
}

export function resolve({ specs, parts }: Parsed, documents: Documents, diagnostics: Diagnostics): Resolved {
  const names = new Map<string, string>(specs.map(({ spec, base }) => [spec.document.file, base]));
  const references = new Map<string, string>();
  const operations = new Operations();
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
      const reached = visit(document, documents, diagnostics, operations);
      waiting.push(...[...reached].sort((a, b) => (a.file < b.file ? 1 : -1)));
    }
  }
  operations.check(diagnostics);
  // An unreferenced file was meant to be a spec.
  for (const part of parts) if (!references.has(part.file)) recognise(part, diagnostics);
  checkNames(names, documents, diagnostics);
  return { specs, references };
}

/** Extensions, judged once it is known which places references make operations of. */
class Operations {
  /** Operations by place, and the target of the reference at each place. */
  readonly #places = new Set<string>();
  readonly #targets = new Map<string, string>();
  readonly #extensions: { document: Document; name: string; pointer: string; within: readonly string[] }[] = [];

  addReference(document: Document, pointer: string, target: Located, onOperation: boolean): void {
    const owner = ownerOf(document, pointer);
    this.#targets.set(owner, `${target.document.file}#${target.pointer}`);
    if (onOperation) this.#places.add(owner);
  }

  addExtension(document: Document, name: string, pointer: string, within: readonly string[]): void {
    this.#extensions.push({ document, name, pointer, within });
  }

  check(diagnostics: Diagnostics): void {
    // Iterating over a set includes entries that are added meanwhile.
    for (const place of this.#places) {
      const target = this.#targets.get(place);
      if (target !== undefined) this.#places.add(target);
    }
    for (const { document, name, pointer, within } of this.#extensions) {
      const onOperation = this.#places.has(ownerOf(document, pointer)) || isOperation(within, document.value);
      const why = misplaced(name, { within, root: document.value, onOperation });
      if (why !== null) diagnostics.add('E1015', { file: document.file, pointer }, why, extensionHint(name));
    }
  }
}

function ownerOf({ file }: Document, pointer: string): string {
  return `${file}#${pointer.slice(0, pointer.lastIndexOf('/'))}`;
}

function visit(
  document: Document,
  documents: Documents,
  diagnostics: Diagnostics,
  operations: Operations,
): ReadonlySet<Document> {
  const reached = new Set<Document>();
  walk(document, {
    ref(ref, pointer, within) {
      if (isWithinUnread(document.value, pointer)) return;
      const resolution = documents.resolve({ document, pointer }, ref);
      if (pointer === '/$ref' && ['openapi', 'asyncapi'].some((name) => get(document.value, name) !== undefined)) {
        const message = 'a document cannot be a $ref: what it leads to is not read';
        diagnostics.add('E1008', { file: document.file, pointer }, message, 'Name the other document as a spec.');
      }
      if (resolution.ok) {
        reached.add(resolution.target.document);
        operations.addReference(document, pointer, resolution.target, isOperation(within, document.value));
      } else
        diagnostics.add(
          'E1003',
          { file: document.file, pointer },
          `unresolved $ref: ${resolution.why}`,
          resolution.hint,
        );
    },
    textRef(pointer) {
      const message = 'a text cannot be a $ref: it is left as it stands, and its file is not read';
      diagnostics.add(
        'E1008',
        { file: document.file, pointer },
        message,
        'Write the text here, or bundle the document.',
      );
    },
    extension(name, pointer, within) {
      operations.addExtension(document, name, pointer, within);
    },
  });
  return reached;
}

/** As the spec's folder sees it, without climbing: the same through every interface, wherever that keeps its files. */
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
