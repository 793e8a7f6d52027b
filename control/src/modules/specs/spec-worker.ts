/** The process in which uploads are read and patched: large documents take seconds. */
import { answerTasks } from '../../task-process.ts';
import { PatchRefused, type PatchTask, patchUpload } from './patch-operations.ts';
import { readUpload, type Upload, type UploadReading } from './read-upload.ts';
import { operationsText } from './stored-operations.ts';

type Accepted = Extract<UploadReading, { readonly ok: true }>;
type Refused = Extract<UploadReading, { readonly ok: false }>;

/** An upload, read, with what the database keeps of its operations. */
export interface ReadSpec extends Pick<Accepted, 'form' | 'entry'> {
  readonly spec: Omit<Accepted['spec'], 'operations'> & {
    /** JSON of a list of StoredOperation. */
    readonly operations: string;
  };
}

export type SpecTask =
  | { readonly kind: 'read'; readonly upload: Upload }
  | { readonly kind: 'patch'; readonly task: PatchTask };

export type SpecReply =
  | { readonly ok: true; readonly reading: ReadSpec /** As patched. */; readonly bytes?: Uint8Array }
  | { readonly ok: true; readonly unchanged: true }
  | Refused;

answerTasks<SpecTask, SpecReply>((task) => (task.kind === 'read' ? read(task.upload) : patch(task.task)));

async function read(upload: Upload): Promise<SpecReply> {
  const result = await readUpload(upload);
  if (!result.ok) return result;
  const { form, entry, spec } = result;
  const operations = operationsText(spec.operations);
  if (operations !== null) return { ok: true, reading: { form, entry, spec: { ...spec, operations } } };
  const reason = 'its operations and their plugin configs are more than 16 MiB: aliases may multiply in them';
  return { ok: false, reason };
}

/** What it becomes must be readable again. */
async function patch(task: PatchTask): Promise<SpecReply> {
  try {
    const bytes = await patchUpload(task);
    if (bytes === null) return { ok: true, unchanged: true };
    const { filename, name, form, entry } = task;
    const reply = await read({ bytes, filename, name, entry: form === 'archive' ? entry : undefined });
    return 'reading' in reply ? { ...reply, bytes } : reply;
  } catch (error) {
    if (!(error instanceof PatchRefused)) throw error;
    return { ok: false, reason: error.message, diagnostics: [] };
  }
}
