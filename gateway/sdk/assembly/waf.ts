/** Inspection by the rules of a firewall; declare `host_waf_open`, `host_waf_request` and `host_waf_response`, and `buffer` of both bodies. */
import * as host from "./host";

/**
 * @example
 * Waf.open(); // in init
 * if (Waf.request()) return ANSWERED; // in on_request
 */
export namespace Waf {
  /** In `init`: loads the rules that the whole config names, as `waf` has it. */
  export function open(): void {
    host.host_waf_open();
  }

  /** In `on_request`: returns true if the request is refused, and has its answer. */
  export function request(): bool {
    return host.host_waf_request() != 0;
  }

  /** In `on_response`: returns true if the response is refused, and another stands in its place. */
  export function response(): bool {
    return host.host_waf_response() != 0;
  }
}
