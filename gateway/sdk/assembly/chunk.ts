/** A body as it passes, in `on_request_chunk`, `on_response_chunk` and their `…_end`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * const bytes = Chunk.read();
 * Chunk.write(bytes.lower());
 * return REPLACED;
 */
export namespace Chunk {
  /** Returns the chunk that passes; empty in `…_end`. */
  export function read(): Text {
    const length = host.chunk_length();
    const ptr = heap.alloc(length + 1);
    host.chunk_read(0, ptr, length);
    return new Text(ptr, length);
  }

  /** Appends to the chunk's replacement; return `REPLACED` from the hook. */
  export function write(bytes: Text): void {
    host.chunk_write(bytes.ptr, bytes.length);
  }
}
