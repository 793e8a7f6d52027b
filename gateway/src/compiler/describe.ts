/** Describes a spec, before anything is bound: for programs that store and show specs. */
import type { JsonObject, SpecType } from '../artifact/format.ts';
import { asyncOperationsOf } from '../spec/async-operations.ts';
import { type Diagnostic, Diagnostics } from '../spec/diagnostic.ts';
import type { Document } from '../spec/document.ts';
import { Documents, type Located } from '../spec/documents.ts';
import type { DeclaredUse } from '../spec/extensions.ts';
import { dispatchOf, middlewaresOf } from '../spec/inheritance.ts';
import { get } from '../spec/json.ts';
import { type DeclaredOperation, operationsOf } from '../spec/operations.ts';
import { recognise, type Spec } from '../spec/recognise.ts';
import { TOO_DEEP } from './compile.ts';
import type { Project, ProjectFile } from './project/project.ts';
import { read } from './read.ts';

/** A plugin with its config, as the document has it. */
interface DescribedUse {
  readonly name: string;
  readonly config: JsonObject;
}

export interface DescribedOperation {
  /** Null if the document has none; for AsyncAPI the operation's name. */
  readonly operationId: string | null;
  /** Upper case. */
  readonly method: string;
  /** The template. */
  readonly path: string;
  readonly summary: string | null;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  /** Its own or inherited; null if the operation has none, or a malformed one. */
  readonly dispatch: DescribedUse | null;
  /** Well-formed middlewares, with inherited ones. */
  readonly middlewares: readonly DescribedUse[];
  /** Place of the operation: a file of the project, and the pointer in it. */
  readonly file: string;
  readonly pointer: string;
}

export interface SpecDescription {
  readonly type: SpecType;
  /** Version of the specification, such as `3.1.0`. */
  readonly specVersion: string;
  readonly title: string;
  readonly apiVersion: string;
  /** Operations that requests can reach, by path and method. */
  readonly operations: readonly DescribedOperation[];
}

export type SpecResult =
  | { readonly ok: true; readonly spec: SpecDescription }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * `entry`: the document among the files. Refuses documents other than OpenAPI 3.x and AsyncAPI 3.x, and those with a
 * forbidden name (docs/decisions.md#diagnostics). Checks that need a build, such as those of references and plugins,
 * are left to `compile`.
 */
export function describeSpec(entry: string, files: readonly ProjectFile[]): SpecResult {
  const project: Project = { specs: [entry], files, plugins: [], flags: {} };
  const diagnostics = new Diagnostics({ production: false });
  const sources = read(project, diagnostics);
  const documents = new Documents(sources.files, diagnostics);
  let spec: SpecDescription | null = null;
  try {
    const document = documents.open(entry);
    const found = document && recognise(document, diagnostics);
    if (found && !diagnostics.hasErrors) spec = describe(found, documents);
  } catch (error) {
    // The stack ends before the limits on depth do only for input made to exhaust it.
    if (!(error instanceof RangeError)) throw error;
    diagnostics.add('E1004', null, 'the document nests or refers to itself too deeply', TOO_DEEP);
  }
  if (spec) return { ok: true, spec };
  return { ok: false, diagnostics: diagnostics.list((file) => documents.textOf(file)) };
}

/** Names of the files that are OpenAPI or AsyncAPI documents by themselves, of whatever version. */
export function specsAmong(files: readonly ProjectFile[]): readonly string[] {
  const documents = new Documents(
    new Map(files.map((file) => [file.name, file])),
    new Diagnostics({ production: false }),
  );
  return files.flatMap(({ name, bytes }) => {
    // Parsing is expensive.
    if (!/openapi|asyncapi|swagger/.test(Buffer.from(bytes).toString('latin1'))) return [];
    const document = documents.open(name);
    return document && claims(document) ? [name] : [];
  });
}

function claims({ value }: Document): boolean {
  return ['openapi', 'asyncapi', 'swagger'].some((name) => get(value, name) !== undefined);
}

function describe(spec: Spec, documents: Documents): SpecDescription {
  // Errors of an operation are reported when it is compiled.
  const ignored = new Diagnostics({ production: false });
  const readOperations = spec.type === 'asyncapi' ? asyncOperationsOf : operationsOf;
  const operations = readOperations(spec, documents, ignored).map((each) => describeOperation(each, ignored));
  return {
    type: spec.type,
    specVersion: spec.version,
    title: spec.title,
    apiVersion: spec.apiVersion,
    operations: operations.sort((a, b) => compare(a.path, b.path) || compare(a.method, b.method)),
  };
}

function describeOperation({ at, layers, path, method, operationId }: DeclaredOperation, ignored: Diagnostics) {
  const summary = get(at.value, 'summary');
  const dispatch = dispatchOf(layers, ignored);
  return {
    operationId: operationId ?? null,
    method,
    path,
    summary: typeof summary === 'string' ? summary : null,
    tags: tagsOf(at),
    deprecated: get(at.value, 'deprecated') === true,
    dispatch: dispatch && dispatch !== 'off' ? useOf(dispatch) : null,
    middlewares: middlewaresOf(layers, ignored).map(useOf),
    file: at.document.file,
    pointer: at.pointer,
  };
}

/** Names; of AsyncAPI they stand in objects. */
function tagsOf({ value }: Located): readonly string[] {
  const tags = get(value, 'tags');
  if (!Array.isArray(tags)) return [];
  return tags.flatMap((tag: unknown) => {
    const name = typeof tag === 'string' ? tag : get(tag, 'name');
    return typeof name === 'string' ? [name] : [];
  });
}

const useOf = ({ name, config }: DeclaredUse): DescribedUse => ({ name, config });

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
