/**
 * Notices that an artifact has been replaced: a file, or a folder of parts, also if a Kubernetes volume swaps a link.
 */
import { stat } from 'node:fs/promises';
import { fileStamp, pollForChange } from '../files/poll-for-change.ts';
import { sourceFiles } from './source.ts';

/** Returns device, inode, size and time of each file, which a replacement changes. Rejects if a file cannot be read. */
async function fingerprint(source: string): Promise<string> {
  const files = await sourceFiles(source);
  const stamps = await Promise.all(files.map(async (file) => fileStamp(file, await stat(file))));
  return stamps.join('\n');
}

/** Calls `changed` when the source has been replaced, as `pollForChange` does. Returns the function that ends it. */
export function watchSource(source: string, changed: () => Promise<void>): () => void {
  return pollForChange(() => fingerprint(source), changed);
}
