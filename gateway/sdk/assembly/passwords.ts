/** Tables of users and passwords that stay in the host; declare `host_password_verify`. */
import * as host from "./host";
import { Text } from "./text";

/** Too many passwords wait to be verified. */
export const PASSWORDS_BUSY: i32 = -2;

/**
 * @example
 * const index = Passwords.verify(text("/users"), text("ann"), text("secret"));
 * if (index == PASSWORDS_BUSY) return ANSWERED;
 */
export namespace Passwords {
  /**
   * Index of the entry of the config table at a JSON pointer whose name and password they are, -1, or PASSWORDS_BUSY.
   * Waits where the password is hashed.
   */
  export function verify(table: Text, name: Text, password: Text): i32 {
    return host.host_password_verify(table.ptr, table.length, name.ptr, name.length, password.ptr, password.length);
  }
}
