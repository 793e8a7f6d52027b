/** Messages between plugins about a request, and values that one plugin keeps between its hooks. */
import * as host from "./host";
import { ROOM, Text } from "./text";

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

  export function set(key: Text, value: Text): void {
    host.context_set(key.ptr, key.length, value.ptr, value.length);
  }
}

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

  export function set(key: Text, value: Text): void {
    host.state_set(key.ptr, key.length, value.ptr, value.length);
  }
}
