/** Entries about requests, sent in batches over HTTP; declare `host_request_log_open` and `host_request_log_add`. */
import * as host from "./host";

/**
 * @example
 * RequestLog.open(); // in init
 * RequestLog.add();
 */
export namespace RequestLog {
  /** In `init`: reads the whole config as `http-log` has it. */
  export function open(): void {
    host.host_request_log_open();
  }

  /** Has an entry made when the request has ended, whatever answers it. */
  export function add(): void {
    host.host_request_log_add();
  }
}
