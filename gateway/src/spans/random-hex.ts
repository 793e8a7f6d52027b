/** Identifiers of requests and spans. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.allocUnsafeSlow(8192);
let used = pool.length;

/** Random bytes as hexadecimal text, from a pool, for identifiers (not for secrets). */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  used += bytes;
  return text;
}
