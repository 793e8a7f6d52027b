/** Counts, logs and traces requests; declare `host_observation_open` and `host_observation_add`. */
import * as host from "./host";

/**
 * @example
 * Observation.open(); // in init
 * Observation.add();
 */
export namespace Observation {
  /** In `init`: reads the whole config as `observability` has it. */
  export function open(): void {
    host.host_observation_open();
  }

  /** Has this request observed, whatever answers it. */
  export function add(): void {
    host.host_observation_add();
  }
}
