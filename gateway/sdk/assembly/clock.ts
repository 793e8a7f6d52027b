import * as host from "./host";

/** Milliseconds since the epoch. */
export function now(): f64 {
  return host.time_now();
}
