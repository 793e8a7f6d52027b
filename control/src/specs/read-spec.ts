/** Reads what was uploaded off the event loop, and says what is wrong with it. */
import { ERROR_CODES } from '@gw/gateway/compiler';
import type { Blobs } from '../db/blobs.ts';
import { ControlError } from '../errors.ts';
import { WorkerLimitError, WorkerThread } from '../worker-thread.ts';
import type { Upload } from './read-upload.ts';
import type { ReadReply } from './spec-worker.ts';

export type ReadSpecResult = Omit<Extract<ReadReply, { readonly ok: true }>, 'ok'>;

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker lies beside it either way. */
const file = new URL(import.meta.url.endsWith('.ts') ? './spec-worker.ts' : './spec-worker.js', import.meta.url);
const thread = new WorkerThread<Upload, ReadReply>({ file, name: 'gw-spec', work: 'reading the spec' });
const LIMITS = { timeoutMs: 30_000, memoryMb: 1024 };

/** Throws 422 for a document that is no spec, 400 for an archive that is none. One upload is in memory at a time. */
export async function readSpec(
  blobs: Blobs,
  { sha256, ...upload }: Omit<Upload, 'bytes'> & { readonly sha256: string },
): Promise<ReadSpecResult> {
  const reply = await reading(async () => ({
    ...upload,
    bytes: Buffer.concat(await Array.fromAsync(blobs.read(sha256))),
  }));
  if (reply.ok) return reply;
  if (reply.diagnostics) throw new ControlError('spec-invalid', reply.reason, { errors: reply.diagnostics });
  throw new ControlError('bad-request', reply.reason);
}

async function reading(upload: () => Promise<Upload>): Promise<ReadReply> {
  try {
    return await thread.run(upload, LIMITS);
  } catch (error) {
    if (!(error instanceof WorkerLimitError)) throw error;
    const { severity, hint } = ERROR_CODES.E1005;
    const diagnostics = [{ code: 'E1005' as const, severity, message: error.message, hint }];
    return { ok: false, reason: error.message, diagnostics };
  }
}
