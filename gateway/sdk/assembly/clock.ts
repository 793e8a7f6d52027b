import * as host from "./host";

/**
 * Milliseconds since the epoch.
 *
 * @example
 * const seconds = <i64>(now() / 1000);
 */
export function now(): f64 {
  return host.time_now();
}
