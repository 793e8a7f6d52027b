/**
 * Keeps a folder to one process. The lock is one of the operating system on a file (which SQLite, in Node.js, takes
 * for us): it ends with its process however that ends, is never stale, and holds between containers of one machine,
 * where process ids say nothing.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process has the folder. */
export class FolderLocked extends Error {}

const SQLITE_BUSY = 5;

/** Locks the folder, and creates it if it is missing. Returns the function that unlocks it. Throws FolderLocked. */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const holder = join(folder, 'lock.json');
  const file = new DatabaseSync(join(folder, 'lock'));
  try {
    // No journal beside it: nothing is ever written.
    file.exec('PRAGMA journal_mode = memory; PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new FolderLocked(`${folder} is in use by ${describe(holder)}: end that process, or use another folder`);
    }
    throw error;
  }
  writeFileSync(holder, JSON.stringify({ pid: process.pid, started: new Date().toISOString() }));
  return () => file.close();
}

/** Who wrote the file beside the lock; it is only for people. */
function describe(holder: string): string {
  try {
    const { pid, started }: { pid?: unknown; started?: unknown } = JSON.parse(readFileSync(holder, 'utf8'));
    return `process ${String(pid)} (since ${String(started)})`;
  } catch {
    return 'another process';
  }
}
