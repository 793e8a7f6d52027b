/** Identifiers of requests and spans. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.allocUnsafeSlow(8192);
/** The bytes of the pool as text, all at once: a part of a text costs less than bytes made into one. */
let text = '';
let used = 0;

/** Random bytes as hexadecimal text, from a pool, for identifiers (not for secrets). */
export function randomHex(bytes: number): string {
  const length = bytes * 2;
  if (used + length > text.length) {
    text = randomFillSync(pool).toString('hex');
    used = 0;
  }
  used += length;
  return text.slice(used - length, used);
}
