/** Tables of shared secrets that stay in the host; declare `host_hmac_verify`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * const code = decodeBase64(text("aGVsbG8="));
 * const index = code ? HmacKeys.verify(text("/keys"), text("ann"), Request.target(), code) : -1;
 */
export namespace HmacKeys {
  /**
   * Returns the index of the entry with this name, in the config table at a JSON pointer, if `code` is the message's
   * HMAC-SHA256 by its secret; else -1.
   */
  export function verify(table: Text, name: Text, message: Text, code: Text): i32 {
    return host.host_hmac_verify(
      table.ptr, table.length, name.ptr, name.length, message.ptr, message.length, code.ptr, code.length,
    );
  }
}
