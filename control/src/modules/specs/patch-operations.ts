/**
 * A merge patch (RFC 7396) of the plugin chains of operations: it becomes bindings, which are stored beside the
 * document. Runs in a worker.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { DescribedOperation } from '@gw/gateway/compiler';
import { mergePatch, valueAt } from '@gw/gateway/spec';
import { type Binding, BOUND_FIELDS, type BoundChain, placeBindings, placeOf } from './bindings.ts';
import {
  applyBindings,
  asJson,
  type BareDocument,
  type BindingOutcome,
  chainValue,
  openDocument,
} from './bound-document.ts';
import { PatchRefused } from './edit-text.ts';
import type { Upload, UploadForm } from './read-upload.ts';
import type { OperationsPatch } from './schemas.ts';

export interface PatchTask extends Pick<Upload, 'filename' | 'name'> {
  /** The document without bindings. */
  readonly bytes: Uint8Array;
  readonly form: UploadForm;
  readonly entry: string;
  readonly bindings: readonly Binding[];
  readonly patch: OperationsPatch;
}

export interface PatchedDocument {
  /** The document with all bindings. */
  readonly bytes: Uint8Array;
  readonly outcomes: readonly BindingOutcome[];
}

/** Throws PatchRefused. */
export async function patchUpload({ bytes, form, entry, bindings, patch }: PatchTask): Promise<PatchedDocument> {
  const document = await openDocument(form, entry, bytes);
  const after = patchBindings(document, bindings, patch);
  const result = await applyBindings(document, after.bindings);
  for (const { binding, state, reason } of result.outcomes) {
    // A binding that was lost before stays lost; a new one must apply.
    if (state === 'lost' && after.named.has(binding.id)) throw new PatchRefused(reason);
  }
  return result;
}

function patchBindings(document: BareDocument, bindings: readonly Binding[], patch: OperationsPatch) {
  const placed = placeBindings(bindings, document.operations);
  const before = new Map(
    placed.flatMap(({ binding, operation }) => (operation ? [[operation, binding] as const] : [])),
  );
  const after = new Map(bindings.map((binding) => [binding.id, binding]));
  const named = new Set<string>();
  const pointers = new Set<string>();
  for (const [name, change] of Object.entries(patch)) {
    const operation = operationNamed(name, document.operations);
    const { file, pointer, operationId, method, path } = operation;
    if (file !== document.entry)
      throw new PatchRefused(`operation "${name}" is written in "${file}": upload that file again`);
    if (pointers.has(pointer)) throw new PatchRefused(`operation "${name}" is named twice, by operationId and by path`);
    pointers.add(pointer);
    const known = before.get(operation);
    const chain = patchChain(name, document, operation, known?.chain ?? {}, change);
    if (Object.keys(chain).length === 0) continue;
    const id = known?.id ?? randomUUIDv7();
    after.set(id, { id, operation_id: operationId, method, path, chain, isDormant: false });
    named.add(id);
  }
  return { bindings: [...after.values()], named };
}

/** Binds the chain that the patch names, also if the document has the same chain today. */
function patchChain(
  name: string,
  document: BareDocument,
  operation: DescribedOperation,
  before: BoundChain,
  change: OperationsPatch[string],
): BoundChain {
  const chain: { -readonly [F in keyof BoundChain]: BoundChain[F] } = { ...before };
  for (const field of BOUND_FIELDS) {
    if (!(field in change)) continue;
    const effective = field in before ? (before[field] ?? undefined) : chainValue(document, operation, field);
    const patch = change[field];
    const after = patch === null ? null : asJson(mergePatch(effective, patch));
    if (field === 'dispatch' && after !== null && typeof valueAt(after, '/name') !== 'string') {
      throw new PatchRefused(`operation "${name}" has no dispatcher: its "dispatch" needs a name`);
    }
    chain[field] = after;
  }
  return chain;
}

function operationNamed(name: string, operations: readonly DescribedOperation[]): DescribedOperation {
  const found =
    operations.find(({ operationId }) => operationId === name) ?? operations.find((each) => placeOf(each) === name);
  if (found) return found;
  const known = operations.slice(0, 50).map((each) => each.operationId ?? placeOf(each));
  const more = operations.length > known.length ? `, and ${operations.length - known.length} more` : '';
  throw new PatchRefused(`there is no operation "${name}": there are ${known.join(', ') || 'none'}${more}`);
}
