/** Handing the handshake of a WebSocket off to an upstream; declare `host_websocket_upgrade`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * return WebSocket.upgrade(text("/url"), Request.target(), 5_000, 60_000, 1 << 20);
 */
export namespace WebSocket {
  /**
   * The host makes the handshake with the upstream with the URL in the config at a JSON pointer, and relays frames from
   * then on; return this result from `dispatch`: it has answered if the request is not a valid handshake (400, 426).
   * `path`, with query, goes after that URL's own path; empty: as the client sent it. An idle time-out of 0 means no
   * limit.
   */
  export function upgrade(pointer: Text, path: Text, connectTimeoutMs: i32, idleTimeoutMs: i32, maxMessageBytes: i32): i32 {
    return host.host_websocket_upgrade(pointer.ptr, pointer.length, path.ptr, path.length, connectTimeoutMs, idleTimeoutMs, maxMessageBytes);
  }
}
