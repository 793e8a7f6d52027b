/** Tables of credentials that stay in the host; declare `host_credential_find`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * const key = Request.header(text("x-api-key"));
 * const index = key ? Credentials.find(text("/keys"), key) : -1;
 */
export namespace Credentials {
  /**
   * Returns the index of the entry, in the config table at a JSON pointer, whose marked property equals `value`, or -1.
   */
  export function find(table: Text, value: Text): i32 {
    return host.host_credential_find(table.ptr, table.length, value.ptr, value.length);
  }
}
