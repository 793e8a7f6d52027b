/** Random bytes of the gateway's cryptographic generator, and identifiers from them. */
import { now } from "./clock";
import * as host from "./host";
import { Text } from "./text";

/**
 * Fills memory; at most 1,024 bytes, and not in `init`.
 *
 * @example
 * const bytes = heap.alloc(16);
 * randomBytes(bytes, 16);
 */
export function randomBytes(ptr: usize, length: i32): void {
  host.random_get(ptr, length);
}

/**
 * @example
 * Request.setHeader(text("x-attempt"), Uuid.v7());
 */
export namespace Uuid {
  /** A random UUID (RFC 9562, section 5.4). */
  export function v4(): Text {
    const bytes = heap.alloc(16);
    randomBytes(bytes, 16);
    return written(bytes, 0x40);
  }

  /** A UUID that sorts by the time it was made, in milliseconds (RFC 9562, section 5.7). */
  export function v7(): Text {
    const bytes = heap.alloc(16);
    randomBytes(bytes, 16);
    const time = <u64>now();
    for (let i = 0; i < 6; i++) store<u8>(bytes + i, <u8>(time >>> (40 - 8 * i)));
    return written(bytes, 0x70);
  }

  function written(bytes: usize, version: u8): Text {
    store<u8>(bytes, (load<u8>(bytes, 6) & 0x0f) | version, 6);
    store<u8>(bytes, (load<u8>(bytes, 8) & 0x3f) | 0x80, 8);
    const ptr = heap.alloc(36);
    let at = ptr;
    for (let i = 0; i < 16; i++) {
      if (i == 4 || i == 6 || i == 8 || i == 10) store<u8>(at++, 0x2d);
      const byte = load<u8>(bytes + i);
      store<u8>(at++, digit(byte >> 4));
      store<u8>(at++, digit(byte & 15));
    }
    return new Text(ptr, 36);
  }
}

@inline function digit(value: u8): u8 {
  return value < 10 ? 0x30 + value : 0x57 + value;
}
