/** A document with the bindings stored beside it (docs/decisions.md#kept-bindings). Runs in a worker. */
import { isDeepStrictEqual } from 'node:util';
import { type DescribedOperation, describeSpec, isGzip, repack, unpack } from '@gw/gateway/compiler';
import { parseText, valueAt } from '@gw/gateway/spec';
import {
  type Binding,
  type BindingState,
  BOUND_FIELDS,
  type BoundChain,
  type PlacedBinding,
  placeBindings,
  placeOf,
} from './bindings.ts';
import type { Edit } from './edit.ts';
import { editText, PatchRefused } from './edit-text.ts';
import { projectFiles, type UploadForm } from './read-upload.ts';

const EXTENSIONS = { dispatch: 'x-gw-dispatch', middlewares: 'x-gw-middlewares' } as const;

/** A document that was readable, without bindings. */
export interface BareDocument {
  readonly bytes: Uint8Array;
  readonly form: UploadForm;
  readonly entry: string;
  readonly text: string;
  readonly value: unknown;
  readonly operations: readonly DescribedOperation[];
}

/** Result of placing a binding. */
export interface BindingOutcome {
  /** The binding from now on: at its new operation. */
  readonly binding: Binding;
  /** The operation that it was made for, such as `GET /books`. */
  readonly was: string;
  readonly state: BindingState;
  /** Empty for an applied one. */
  readonly reason: string;
  /** It was lost before, and a person decided to keep it. */
  readonly wasDormant: boolean;
}

/** Reports whether a person must decide about it. */
export const isNews = ({ state, wasDormant }: BindingOutcome): boolean =>
  state === 'changed' || (state === 'lost' && !wasDormant);

export async function openDocument(form: UploadForm, entry: string, bytes: Uint8Array): Promise<BareDocument> {
  const files = await projectFiles(form, entry, bytes);
  const described = describeSpec(entry, files);
  const source = files.find(({ name }) => name === entry)?.bytes;
  const parsed = source && parseText(source);
  if (!described.ok || !parsed?.ok) throw new Error(`"${entry}" was readable when it was uploaded, but no longer is`);
  return { bytes, form, entry, text: parsed.text, value: parsed.value, operations: described.spec.operations };
}

/** Applies the bindings that match; one that cannot be written is lost, with the reason. */
export async function applyBindings(
  document: BareDocument,
  bindings: readonly Binding[],
): Promise<{ readonly bytes: Uint8Array; readonly outcomes: readonly BindingOutcome[] }> {
  const placed = placeBindings(bindings, document.operations).map((each) => elsewhere(document, each));
  const edits = placed.flatMap(({ binding, operation }) => editOf(document, operation, binding.chain));
  try {
    return { bytes: await written(document, edits), outcomes: placed.map((each) => outcomeOf(document, each)) };
  } catch (error) {
    if (!(error instanceof PatchRefused)) throw error;
  }
  const writable: Edit[] = [];
  const outcomes = placed.map((each) => {
    try {
      const edit = editOf(document, each.operation, each.binding.chain);
      if (edit.length > 0) editText(document.text, document.value, [...writable, ...edit]);
      writable.push(...edit);
      return outcomeOf(document, each);
    } catch (error) {
      if (!(error instanceof PatchRefused)) throw error;
      return outcomeOf(document, { ...each, operation: null, state: 'lost', reason: error.message });
    }
  });
  return { bytes: await written(document, writable), outcomes };
}

/** As `applyBindings`, without bindings that need a person's decision. */
export async function discardNews(document: BareDocument, bindings: readonly Binding[]) {
  const discarded: BindingOutcome[] = [];
  let kept = bindings;
  for (;;) {
    const result = await applyBindings(document, kept);
    const news = result.outcomes.filter(isNews);
    if (news.length === 0) return { ...result, discarded };
    // An operation of one of them may now belong to another.
    discarded.push(...news);
    const gone = new Set(news.map(({ binding }) => binding.id));
    kept = kept.filter(({ id }) => !gone.has(id));
  }
}

/** Returns the operation's chain as JSON; undefined if it has no chain. */
export function chainValue({ value }: BareDocument, { pointer }: DescribedOperation, field: keyof BoundChain): unknown {
  return asJson(valueAt(valueAt(value, pointer), `/${EXTENSIONS[field]}`));
}

/** Returns the value as JSON, as if it had been written and read. */
export function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function elsewhere({ entry }: BareDocument, placed: PlacedBinding): PlacedBinding {
  const file = placed.operation?.file;
  if (file === undefined || file === entry) return placed;
  return {
    ...placed,
    operation: null,
    state: 'lost',
    reason: `the operation is written in "${file}", not in "${entry}"`,
  };
}

function outcomeOf(document: BareDocument, { binding, operation, state, reason }: PlacedBinding): BindingOutcome {
  const before = { was: placeOf(binding), wasDormant: binding.isDormant };
  if (!operation) return { binding: { ...binding, isDormant: true }, ...before, state, reason };
  const { operationId, method, path } = operation;
  const at = { ...binding, operation_id: operationId, method, path, isDormant: false };
  const contested = BOUND_FIELDS.filter((field) => {
    const own = chainValue(document, operation, field);
    return field in binding.chain && own !== undefined && !isDeepStrictEqual(own, binding.chain[field]);
  });
  if (contested.length === 0 || state !== 'applied') return { binding: at, ...before, state, reason };
  const keys = contested.map((field) => EXTENSIONS[field]).join(' and ');
  return {
    binding: at,
    ...before,
    state: 'conflict',
    reason: `the document has its own ${keys}, which does not count`,
  };
}

function editOf(document: BareDocument, operation: DescribedOperation | null, chain: BoundChain): readonly Edit[] {
  if (!operation) return [];
  const changes = BOUND_FIELDS.flatMap((field) => {
    if (!(field in chain)) return [];
    const after = chain[field] ?? undefined;
    return isDeepStrictEqual(chainValue(document, operation, field), after)
      ? []
      : [[EXTENSIONS[field], after] as const];
  });
  return changes.length > 0 ? [{ pointer: operation.pointer, changes }] : [];
}

/** Returns the bytes of the upload with the edits, or its own bytes if there are no edits. Throws PatchRefused. */
async function written({ bytes, form, entry, text, value }: BareDocument, edits: readonly Edit[]): Promise<Uint8Array> {
  if (edits.length === 0) return bytes;
  const edited = editText(text, value, edits);
  if (form === 'document') return Buffer.from(hasMark(bytes) ? `\ufeff${edited}` : edited);
  // Unpacks all files, also those that no compiler reads.
  const files = await unpack(bytes);
  const mark = hasMark(files.get(entry) ?? new Uint8Array());
  return repack(new Map([...files, [entry, Buffer.from(mark ? `\ufeff${edited}` : edited)]]), isGzip(bytes));
}

/** Reports whether the source has a byte order mark, which reading removes. */
const hasMark = (source: Uint8Array): boolean => source[0] === 0xef && source[1] === 0xbb && source[2] === 0xbf;
