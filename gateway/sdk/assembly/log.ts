/** The gateway's log; declare `host_log`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * Log.info(text("the tenant is unknown"));
 */
export namespace Log {
  /** Logs a message at level debug. */
  export function debug(message: Text): void {
    host.host_log(1, message.ptr, message.length);
  }
  /** Logs a message at level info. */
  export function info(message: Text): void {
    host.host_log(2, message.ptr, message.length);
  }
  /** Logs a message at level warn. */
  export function warn(message: Text): void {
    host.host_log(3, message.ptr, message.length);
  }
  /** Logs a message at level error. */
  export function error(message: Text): void {
    host.host_log(4, message.ptr, message.length);
  }
}
