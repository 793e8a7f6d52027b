/** A body as it passes, in chunk hooks. */
import type { Call } from '../call/call.ts';
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';

/** Largest replacement of a chunk, in bytes: as much as an instance's memory by default. */
const MAX_WRITTEN = 16 << 20;

function inChunkHook(call: Call): Call {
  if (!call.hook.endsWith('_chunk') && !call.hook.endsWith('_end')) {
    throw new HostCallError(`there is no chunk in ${call.hook}`);
  }
  return call;
}

export const chunkFunctions: HostFunctions = {
  chunk_length: { signature: ':i', make: (call) => () => inChunkHook(call).chunk.length },
  chunk_read: {
    signature: 'iii:i',
    make: (call) => (offset, buf, cap) => {
      call.charge(cap);
      return call.memory.writeFrom(inChunkHook(call).chunk, offset, buf, cap);
    },
  },
  chunk_write: {
    signature: 'ii:',
    make: (call) => (pointer, length) => {
      call.charge(length);
      const bytes = inChunkHook(call).memory.copy(pointer, length);
      call.writtenBytes += bytes.length;
      call.written ??= [];
      if (call.writtenBytes > MAX_WRITTEN || call.written.length >= 65_536) {
        throw new HostCallError(`more than ${MAX_WRITTEN} bytes in a chunk's place`);
      }
      call.written.push(bytes);
    },
  },
};
