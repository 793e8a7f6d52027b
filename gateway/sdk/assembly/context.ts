/** Messages between plugins about a request, and values that one plugin keeps between its hooks. */
import * as host from "./host";
import { ROOM, Text } from "./text";

/**
 * @example
 * Context.set(text("shop.tenant"), text("acme"));
 * const tenant = Context.get(text("shop.tenant"));
 */
export namespace Context {
  /** Returns the value set by an earlier plugin of this request; null if it is unset. */
  export function get(key: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.context_get(key.ptr, key.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.context_get(key.ptr, key.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Keeps a value under a key, in place of an earlier one. */
  export function set(key: Text, value: Text): void {
    host.context_set(key.ptr, key.length, value.ptr, value.length);
  }
}

/**
 * @example
 * State.set(text("began"), new TextBuilder().integer(<i64>now()).take()); // in on_request
 * const began = State.get(text("began")); // in on_response
 */
export namespace State {
  /** Returns the value set by an earlier hook of this plugin for this request; null if it is unset. */
  export function get(key: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.state_get(key.ptr, key.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.state_get(key.ptr, key.length, ptr, length);
    }
    return new Text(ptr, length);
  }
/** Keeps a value under a key, in place of an earlier one. */

  /** Keeps a value under a key for later hooks of this plugin, in place of an earlier one. */
  export function set(key: Text, value: Text): void {
    host.state_set(key.ptr, key.length, value.ptr, value.length);
  }
}
