/** Random bytes. */
import { randomFillSync } from 'node:crypto';
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';

/** Most bytes of one call. */
const MAX = 1024;

/** Filled many calls ahead, since each filling costs as much as thousands of bytes do. No byte is used twice. */
const pool = Buffer.alloc(8 * MAX);
let used = pool.length;

function take(length: number): Uint8Array {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  return pool.subarray(used - length, used);
}

export const randomFunctions: HostFunctions = {
  random_get: {
    signature: 'ii:',
    make: (call) => (pointer, length) => {
      if (length >>> 0 > MAX) throw new HostCallError(`random_get: more than ${MAX} bytes`);
      if (call.hook === 'init') throw new HostCallError('random_get in init would give every call the same bytes');
      call.charge(length);
      call.memory.check(pointer, length);
      call.memory.writeFrom(take(length), 0, pointer, length);
    },
  },
};
