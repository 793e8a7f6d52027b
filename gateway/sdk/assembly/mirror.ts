/** Copies of requests for another server; declare `host_mirror_open` and `host_mirror_add`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * Mirror.open(); // in init
 * Mirror.add(Request.target());
 */
export namespace Mirror {
  /** In `init`: reads the whole config as `fire-and-forget` has it. */
  export function open(): void {
    host.host_mirror_open();
  }

  /**
   * Has a copy of the request sent when that goes to its dispatcher, without waiting for it. `path`: below the server's
   * URL, with a query or without; empty: that of the request, whose query is added in any case.
   */
  export function add(path: Text): void {
    host.host_mirror_add(path.ptr, path.length);
  }
}
