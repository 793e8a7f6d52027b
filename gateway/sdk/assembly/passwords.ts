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
   * Returns the index of the entry with this name and password, in the config table at a JSON pointer, -1, or
   * PASSWORDS_BUSY. Waits if the password is hashed.
   */
  export function verify(table: Text, name: Text, password: Text): i32 {
    return host.host_password_verify(table.ptr, table.length, name.ptr, name.length, password.ptr, password.length);
  }
}
