/** Reads and patches uploads off the event loop, and describes their faults. */
import { ERROR_CODES } from '@gw/gateway/compiler';
import type { Blobs } from '../../db/blobs.ts';
import { ControlError } from '../../errors.ts';
import { TaskLimitError, TaskProcess } from '../../task-process.ts';
import type { Binding } from './bindings.ts';
import type { PatchTask } from './patch-operations.ts';
import type { Upload } from './read-upload.ts';
import type { BoundSpec, SpecReply, SpecTask } from './spec-worker.ts';

export type { BoundSpec, ReadSpec } from './spec-worker.ts';

/** Names the blob that holds the upload. */
interface Stored {
  readonly sha256: string;
  /** The project: those of different ones take turns. */
  readonly owner: string;
}

interface ReadInput extends Stored, Omit<Upload, 'bytes'> {
  /** The spec's stored bindings. */
  readonly bindings?: readonly Binding[];
  /** Bindings whose operation is changed or lost are left out. */
  readonly discard?: boolean;
}

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker is beside it in both. */
const file = new URL(import.meta.url.endsWith('.ts') ? './spec-worker.ts' : './spec-worker.js', import.meta.url);
const reader = new TaskProcess<SpecTask, SpecReply>({ file, work: 'reading the spec' });
const LIMITS = { timeoutMs: 30_000, memoryMb: 1024 };

/**
 * Reads the upload with the spec's stored bindings. Throws 422 if the document is not a spec, and 400 if the archive
 * cannot be read. One upload is in memory at a time.
 */
export function readSpec(
  blobs: Blobs,
  { sha256, owner, bindings = [], discard = false, ...upload }: ReadInput,
): Promise<BoundSpec> {
  const task = { kind: 'read', bindings, discard } as const;
  return run(async () => ({ ...task, upload: { ...upload, bytes: await bytesOf(blobs, sha256) } }), owner);
}

/** Returns the document with its patched bindings. Throws 422 if the patch cannot be applied. */
export function patchSpec(
  blobs: Blobs,
  { sha256, owner, ...task }: Stored & Omit<PatchTask, 'bytes'>,
): Promise<BoundSpec> {
  return run(async () => ({ kind: 'patch', task: { ...task, bytes: await bytesOf(blobs, sha256) } }), owner);
}

async function bytesOf(blobs: Blobs, sha256: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(blobs.read(sha256)));
}

async function run(task: () => Promise<SpecTask>, owner: string): Promise<BoundSpec> {
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
