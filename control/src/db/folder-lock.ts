/**
 * Locks a folder for one process. It is the operating system's lock on a file (which SQLite, in Node.js, takes): it
 * ends with its process in any case, is never stale, and works between containers of one machine, where process ids
 * differ.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process has locked the folder. */
export class FolderLocked extends Error {}

const SQLITE_BUSY = 5;

/** Locks the folder, and creates it if it is missing. Returns the function that unlocks it. Throws FolderLocked. */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const holder = join(folder, 'lock.json');
  const file = new DatabaseSync(join(folder, 'lock'));
  try {
    // Without a journal file: nothing is ever written.
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

/** Describes the owner of the lock, for people. */
function describe(holder: string): string {
  try {
    const { pid, started }: { pid?: unknown; started?: unknown } = JSON.parse(readFileSync(holder, 'utf8'));
    return `process ${String(pid)} (since ${String(started)})`;
  } catch {
    return 'another process';
  }
}
