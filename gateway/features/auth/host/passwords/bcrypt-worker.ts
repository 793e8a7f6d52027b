/** Thread that verifies bcrypt hashes. */
import { parentPort } from 'node:worker_threads';
import { bcryptVerify } from 'hash-wasm';

export interface BcryptJob {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}

export interface BcryptReply {
  readonly id: number;
  readonly matches: boolean;
}

/** Bytes of a password that bcrypt counts. */
const MOST_BYTES = 72;

parentPort?.on('message', async ({ id, password, hash }: BcryptJob) => {
  const bytes = Buffer.from(password, 'utf8').subarray(0, MOST_BYTES);
  // Variants differ in faults that their letter says are mended: `$2a$`, `$2b$` and `$2y$` compute the same here.
  const matches = bytes.length > 0 && (await bcryptVerify({ password: bytes, hash: hash.replace(/^\$2[by]/, '$2a') }));
  const reply: BcryptReply = { id, matches };
  parentPort?.postMessage(reply);
});
