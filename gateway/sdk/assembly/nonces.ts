/** Nonces of signatures that all instances share; declare `host_nonce_enter`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * const result = Nonces.enter(text("ann"), text("n-1"), <i64>(now() / 1000), 300);
 */
export namespace Nonces {
  /** The signature was not used before, and now it was. */
  export const NEW: i32 = 1;
  export const USED: i32 = 0;
  /** The store is away. */
  export const UNAVAILABLE: i32 = -1;
  /** The signature is older than the store's memory: it may have been used. */
  export const FORGOTTEN: i32 = -2;

  /**
   * Enters the nonce of a signature that was verified before. `created`: when it was signed, Unix time in seconds;
   * `keep`: for how many seconds after that it could hold. May wait.
   */
  export function enter(credential: Text, nonce: Text, created: i64, keep: i32): i32 {
    return host.host_nonce_enter(credential.ptr, credential.length, nonce.ptr, nonce.length, <f64>created, keep);
  }
}
