/** The headers as the client sent them, also those that the operation does not admit; declare `host_request_raw`. */
import * as host from "./host";
import { ROOM, Text } from "./text";

/**
 * @example
 * let index = 0;
 * while (RawRequest.headerName(index)) index++;
 */
export namespace RawRequest {
  function part(index: i32, which: i32): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.host_request_raw(index, which, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.host_request_raw(index, which, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Name of header number `index`, spelled as the client did; null past the last. */
  export function headerName(index: i32): Text | null {
    return part(index, 0);
  }

  /** Value of header number `index`; null past the last. */
  export function headerValue(index: i32): Text | null {
    return part(index, 1);
  }
}
