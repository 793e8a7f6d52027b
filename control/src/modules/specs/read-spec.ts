/** Reads and patches what was uploaded, off the event loop, and says what is wrong with it. */
import { ERROR_CODES } from '@gw/gateway/compiler';
import type { Blobs } from '../../db/blobs.ts';
import { ControlError } from '../../errors.ts';
import { TaskLimitError, TaskProcess } from '../../task-process.ts';
import type { PatchTask } from './patch-operations.ts';
import type { Upload } from './read-upload.ts';
import type { ReadSpec, SpecReply, SpecTask } from './spec-worker.ts';

export type { ReadSpec } from './spec-worker.ts';

/** Names the blob that holds the upload. */
interface Stored {
  readonly sha256: string;
  /** The project: those of different ones take turns. */
  readonly owner: string;
}

export interface PatchedSpec {
  readonly bytes: Uint8Array;
  readonly reading: ReadSpec;
}

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker lies beside it either way. */
const file = new URL(import.meta.url.endsWith('.ts') ? './spec-worker.ts' : './spec-worker.js', import.meta.url);
const reader = new TaskProcess<SpecTask, SpecReply>({ file, work: 'reading the spec' });
const LIMITS = { timeoutMs: 30_000, memoryMb: 1024 };

/** Throws 422 for a document that is no spec, 400 for an archive that is none. One upload is in memory at a time. */
export async function readSpec(
  blobs: Blobs,
  { sha256, owner, ...upload }: Stored & Omit<Upload, 'bytes'>,
): Promise<ReadSpec> {
  const reply = await run(
    async () => ({ kind: 'read', upload: { ...upload, bytes: await bytesOf(blobs, sha256) } }),
    owner,
  );
  if ('reading' in reply) return reply.reading;
  throw new Error('an upload that was only read cannot be unchanged');
}

/** Null where the patch changes nothing. Throws 422 where it cannot be made. */
export async function patchSpec(
  blobs: Blobs,
  { sha256, owner, ...task }: Stored & Omit<PatchTask, 'bytes'>,
): Promise<PatchedSpec | null> {
  const reply = await run(
    async () => ({ kind: 'patch', task: { ...task, bytes: await bytesOf(blobs, sha256) } }),
    owner,
  );
  return 'reading' in reply && reply.bytes ? { bytes: reply.bytes, reading: reply.reading } : null;
}

async function bytesOf(blobs: Blobs, sha256: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(blobs.read(sha256)));
}

async function run(task: () => Promise<SpecTask>, owner: string): Promise<Extract<SpecReply, { readonly ok: true }>> {
  const reply = await answered(task, owner);
  if (reply.ok) return reply;
  const { reason, diagnostics } = reply;
  if (!diagnostics) throw new ControlError('bad-request', reason);
  throw new ControlError('spec-invalid', reason, diagnostics.length > 0 ? { errors: diagnostics } : {});
}

async function answered(task: () => Promise<SpecTask>, owner: string): Promise<SpecReply> {
  try {
    return await reader.run(task, LIMITS, owner);
  } catch (error) {
    if (!(error instanceof TaskLimitError)) throw error;
    const { severity, hint } = ERROR_CODES.E1005;
    const diagnostics = [{ code: 'E1005' as const, severity, message: error.message, hint }];
    return { ok: false, reason: error.message, diagnostics };
  }
}
