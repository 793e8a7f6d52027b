/** bcrypt in a thread of its own: Node.js has no version of it that leaves the event loop free. */
import { Worker } from 'node:worker_threads';
import type { BcryptJob, BcryptReply } from './bcrypt-worker.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker lies beside it in both cases. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './bcrypt-worker.ts' : './bcrypt-worker.js', import.meta.url);

interface Waiting {
  resolve(matches: boolean): void;
  reject(error: Error): void;
}

/** Started with the first hash that needs it, and replaced if it dies. */
let worker: Worker | null = null;
const waiting = new Map<number, Waiting>();
let last = 0;

/** As everywhere, bcrypt counts the first 72 bytes of a password only. Rejects if the thread fails. */
export function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, { resolve, reject });
    const job: BcryptJob = { id, password, hash };
    running().postMessage(job);
  });
}

function running(): Worker {
  if (worker !== null) return worker;
  const started = new Worker(WORKER);
  started.unref();
  started.on('message', ({ id, matches }: BcryptReply) => {
    waiting.get(id)?.resolve(matches);
    waiting.delete(id);
  });
  const ended = (error: Error) => {
    if (worker !== started) return;
    worker = null;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  started.on('error', (error) => ended(error instanceof Error ? error : new Error(String(error))));
  started.on('exit', (code) => ended(new Error(`the thread for password hashes ended with ${code}`)));
  worker = started;
  return started;
}
