/** The gateway's log; declare `host_log`. */
import * as host from "./host";
import { Text } from "./text";

export namespace Log {
  export function debug(message: Text): void {
    host.host_log(1, message.ptr, message.length);
  }
  export function info(message: Text): void {
    host.host_log(2, message.ptr, message.length);
  }
  export function warn(message: Text): void {
    host.host_log(3, message.ptr, message.length);
  }
  export function error(message: Text): void {
    host.host_log(4, message.ptr, message.length);
  }
}
