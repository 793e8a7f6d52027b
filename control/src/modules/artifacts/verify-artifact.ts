/** Reads artifacts off the event loop: verifies imported ones, and lists tools. */
import type { Manifest } from '@gw/gateway/artifact';
import type { Blobs } from '../../db/blobs.ts';
import { ControlError } from '../../errors.ts';
import { TaskLimitError, TaskProcess } from '../../task-process.ts';
import type { ArtifactReply, ArtifactTask, ToolListing } from './artifact-worker.ts';

/** Bytes of an artifact file; a gateway reads no larger ones. */
export const MAX_ARTIFACT = 256 << 20;

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker is beside it in both. */
const file = new URL(
  import.meta.url.endsWith('.ts') ? './artifact-worker.ts' : './artifact-worker.js',
  import.meta.url,
);
const reader = new TaskProcess<ArtifactTask, ArtifactReply>({ file, work: 'reading the artifact' });
const LIMITS = { timeoutMs: 60_000, memoryMb: 1024 };

/** `sha256` names its blob. Throws 422, with the reason, if no gateway would load it. One is in memory at a time. */
export async function verifyArtifact(blobs: Blobs, sha256: string, projectId: string): Promise<Manifest> {
  return (await readBlob(blobs, sha256, { tools: false, projectId })).manifest;
}

/** Throws 422 if this server cannot read the artifact, such as one of an older format. */
export async function listTools(blobs: Blobs, sha256: string, projectId: string): Promise<ToolListing> {
  const { tools } = await readBlob(blobs, sha256, { tools: true, projectId });
  if (tools === null) throw new Error('the process that was asked for tools gave none');
  return tools;
}

async function readBlob(blobs: Blobs, sha256: string, { tools, projectId }: { tools: boolean; projectId: string }) {
  const read = async () => ({ bytes: Buffer.concat(await Array.fromAsync(blobs.read(sha256))), tools });
  const reply = await answered(read, projectId);
  if (reply.ok) return reply;
  throw new ControlError('artifact-invalid', `no gateway would load the artifact: ${reply.reason}`);
}

async function answered(task: () => Promise<ArtifactTask>, projectId: string): Promise<ArtifactReply> {
  try {
    return await reader.run(task, LIMITS, projectId);
  } catch (error) {
    if (!(error instanceof TaskLimitError)) throw error;
    return { ok: false, reason: error.message };
  }
}
