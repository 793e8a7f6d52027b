/** Handing a request off to an upstream; declare `host_http_stream`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * Upstream.stream(text("/url"), Request.target(), 30_000);
 * return HANDED_OFF;
 */
export namespace Upstream {
  /**
   * The host proxies the request to the upstream with the URL in the config at a JSON pointer; return `HANDED_OFF` from
   * `dispatch`. `path`, with query, goes after that URL's own path; empty: as the client sent it.
   */
  export function stream(pointer: Text, path: Text, timeoutMs: i32): void {
    host.host_http_stream(pointer.ptr, pointer.length, path.ptr, path.length, timeoutMs);
  }
}
