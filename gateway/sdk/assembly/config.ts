/** The plugin's config, by JSON pointer (RFC 6901). Read it in `init`, and keep values in global variables. */
import * as host from "./host";
import { numberOf } from "./json-number";
import { EMPTY, ROOM, Text, text, TextBuilder } from "./text";

/**
 * @example
 * const greeting = Config.get("/greeting", "hello");
 * const quota = <i32>Config.number("/quota", 100);
 * if (quota < 1) return Config.refuse("quota must be at least 1");
 */
export namespace Config {
  /** Returns the value: strings as they are, all else as JSON text; null if absent. */
  export function at(pointer: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.config_get(pointer.ptr, pointer.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.config_get(pointer.ptr, pointer.length, ptr, length);
    }
    // Frees the unused rest: the memory that `init` leaves is restored before every call.
    return new Text(heap.realloc(ptr, length), length);
  }

  /**
   * Like `at`, into memory of the caller's: for long lists, since memory is not freed. Returns null also if it does not
   * fit.
   */
  export function read(pointer: Text, ptr: usize, room: i32): Text | null {
    const length = host.config_get(pointer.ptr, pointer.length, ptr, room);
    return length < 0 || length > room ? null : new Text(ptr, length);
  }

  /** The value at a pointer, or `otherwise`. */
  export function get(pointer: string, otherwise: string = ""): Text {
    const value = at(text(pointer));
    return value ? value : text(otherwise);
  }

  /** Returns true if there is a value at the pointer. */
  export function has(pointer: string): bool {
    const at = text(pointer);
    return host.config_get(at.ptr, at.length, 0, 0) >= 0;
  }

  /** A boolean. */
  export function flag(pointer: string): bool {
    return get(pointer).equals(text("true"));
  }

  /** A number, or `otherwise`. */
  export function number(pointer: string, otherwise: f64 = 0): f64 {
    const value = at(text(pointer));
    return value && value.length > 0 ? numberOf(value) : otherwise;
  }

  /** Returns the number of elements of an array or members of an object; 0 for other values. */
  export function countAt(pointer: Text): i32 {
    return max(0, host.config_count(pointer.ptr, pointer.length));
  }

  /** Like `countAt`, for a pointer that is a string. */
  export function count(pointer: string): i32 {
    return countAt(text(pointer));
  }

  /** Name of an object's member. */
  export function key(pointer: string, index: i32): Text | null {
    const at = text(pointer);
    let ptr = heap.alloc(ROOM);
    const length = host.config_key(at.ptr, at.length, index, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.config_key(at.ptr, at.length, index, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** The array of strings at a pointer. */
  export function list(pointer: string): StaticArray<Text> {
    const size = count(pointer);
    const items = new StaticArray<Text>(size);
    const prefix = text(pointer + "/");
    const place = new TextBuilder(prefix.length + 12);
    for (let i = 0; i < size; i++) {
      const value = at(place.clear().add(prefix).integer(i).take());
      items[i] = value ? value : EMPTY;
    }
    return items;
  }

  /** Refuses the config with a reason; return its result from `init`. */
  export function refuse(why: string): i32 {
    const message = text(why);
    host.fail(message.ptr, message.length);
    return 1;
  }
}
