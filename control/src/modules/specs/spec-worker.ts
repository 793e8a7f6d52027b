/** The process in which uploads are read, patched and bound: large documents take seconds. */
import type { SpecDescription } from '@gw/gateway/compiler';
import { answerTasks } from '../../task-process.ts';
import { type Binding, BOUND_FIELDS, type BoundField, placeOf } from './bindings.ts';
import { applyBindings, type BindingOutcome, discardNews, openDocument } from './bound-document.ts';
import { PatchRefused } from './edit-text.ts';
import { type PatchTask, patchUpload } from './patch-operations.ts';
import { readUpload, type Upload, type UploadReading } from './read-upload.ts';
import { operationsText } from './stored-operations.ts';

type Accepted = Extract<UploadReading, { readonly ok: true }>;
type Refused = Extract<UploadReading, { readonly ok: false }>;

/** A read upload, with its operations in stored form. */
export interface ReadSpec extends Pick<Accepted, 'form' | 'entry'> {
  readonly spec: Omit<SpecDescription, 'operations'> & {
    /** JSON of a list of StoredOperation. */
    readonly operations: string;
  };
}

export type SpecTask =
  /** `bindings`: the spec's stored ones; `discard`: without those that need a person's decision. */
  | {
      readonly kind: 'read';
      readonly upload: Upload;
      readonly bindings: readonly Binding[];
      readonly discard: boolean;
    }
  | { readonly kind: 'patch'; readonly task: PatchTask };

/** A document with its bindings. */
export interface BoundSpec {
  /** Result of reading the document with its bindings. */
  readonly reading: ReadSpec;
  /** The document with its bindings; null if they change nothing. */
  readonly bytes: Uint8Array | null;
  readonly outcomes: readonly BindingOutcome[];
  readonly discarded: readonly BindingOutcome[];
}

export type SpecReply = ({ readonly ok: true } & BoundSpec) | Refused;

answerTasks<SpecTask, SpecReply>(async (task) => {
  try {
    return await (task.kind === 'read' ? read(task) : patch(task.task));
  } catch (error) {
    if (!(error instanceof PatchRefused)) throw error;
    return { ok: false, reason: error.message, diagnostics: [] };
  }
});

async function read({ upload, bindings, discard }: Extract<SpecTask, { kind: 'read' }>): Promise<SpecReply> {
  const result = await readUpload(upload);
  if (!result.ok) return result;
  if (bindings.length === 0) return reply(result, null, { outcomes: [], discarded: [] });
  const document = await openDocument(result.form, result.entry, upload.bytes);
  const { bytes, outcomes, discarded } = discard
    ? await discardNews(document, bindings)
    : { ...(await applyBindings(document, bindings)), discarded: [] };
  if (bytes === upload.bytes) return reply(result, null, { outcomes, discarded });
  return readAgain(upload, result, bytes, { outcomes, discarded });
}

type BecameOfBindings = Pick<BoundSpec, 'outcomes' | 'discarded'>;

async function patch(task: PatchTask): Promise<SpecReply> {
  const { bytes, outcomes } = await patchUpload(task);
  return readAgain(task, task, bytes, { outcomes, discarded: [] });
}

/** Reads the edited document again, which must succeed. */
async function readAgain(
  { filename, name }: Pick<Upload, 'filename' | 'name'>,
  { form, entry }: Pick<Accepted, 'form' | 'entry'>,
  bytes: Uint8Array,
  became: BecameOfBindings,
): Promise<SpecReply> {
  const result = await readUpload({ bytes, filename, name, entry: form === 'archive' ? entry : undefined });
  return result.ok ? reply(result, bytes, became) : result;
}

function reply({ form, entry, spec }: Accepted, bytes: Uint8Array | null, became: BecameOfBindings): SpecReply {
  const operations = operationsText(spec.operations, boundFields(became.outcomes));
  if (operations !== null)
    return { ok: true, reading: { form, entry, spec: { ...spec, operations } }, bytes, ...became };
  const reason = 'its operations and their plugin configs are more than 16 MiB: aliases may multiply in them';
  return { ok: false, reason };
}

function boundFields(outcomes: readonly BindingOutcome[]): ReadonlyMap<string, readonly BoundField[]> {
  const applied = outcomes.filter(({ binding }) => !binding.isDormant);
  return new Map(
    applied.map(({ binding }) => [placeOf(binding), BOUND_FIELDS.filter((field) => field in binding.chain)]),
  );
}
