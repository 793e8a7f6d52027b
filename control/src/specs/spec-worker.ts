/** The thread in which uploads are read: large documents take seconds. */
import { answerTasks } from '../worker-thread.ts';
import { readUpload, type Upload, type UploadReading } from './read-upload.ts';
import { operationsText } from './stored-operations.ts';

/** As UploadReading, with what the database keeps of the operations. */
export type ReadReply =
  | Extract<UploadReading, { readonly ok: false }>
  | (Omit<Extract<UploadReading, { readonly ok: true }>, 'spec'> & { readonly spec: ReadSpec });

export type ReadSpec = Omit<Extract<UploadReading, { readonly ok: true }>['spec'], 'operations'> & {
  /** JSON of a list of StoredOperation. */
  readonly operations: string;
};

answerTasks<Upload, ReadReply>(async (upload) => {
  const reading = await readUpload(upload);
  if (!reading.ok) return { result: reading };
  const operations = operationsText(reading.spec.operations);
  if (operations === null) {
    const reason = 'its operations and their plugin configs are more than 16 MiB: aliases may multiply in them';
    return { result: { ok: false, reason } };
  }
  return { result: { ...reading, spec: { ...reading.spec, operations } } };
});
