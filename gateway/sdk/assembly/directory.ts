/** Names and passwords that a directory knows; declare `host_directory_open` and `host_directory_verify`. */
import * as host from "./host";
import { EMPTY, ROOM, Text } from "./text";

/** The directory accepts them: `Directory.dn` and the following functions can be read. */
export const DIRECTORY_VERIFIED: i32 = 0;
/** The directory rejects them: clients are not told why. */
export const DIRECTORY_REJECTED: i32 = 1;
/** It cannot be asked. */
export const DIRECTORY_UNAVAILABLE: i32 = 2;

/**
 * @example
 * Directory.open(); // in init
 * if (Directory.verify(text("ann"), text("secret")) != DIRECTORY_VERIFIED) return ANSWERED;
 */
export namespace Directory {
  /** In `init`: reads the whole config as `ldap-auth` has it. */
  export function open(): void {
    host.host_directory_open();
  }

  /** Verifies; waits if the directory has to be asked. */
  export function verify(name: Text, password: Text): i32 {
    return host.host_directory_verify(name.ptr, name.length, password.ptr, password.length);
  }

  function field(number: i32): Text {
    let ptr = heap.alloc(ROOM);
    const length = host.directory_user_get(number, ptr, ROOM);
    if (length < 0) return EMPTY;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.directory_user_get(number, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Returns the distinguished name of the last verified user. */
  export function dn(): Text {
    return field(0);
  }

  /** Value of `user_attr`, or the name that was sent. */
  export function consumer(): Text {
    return field(1);
  }

  /** Returns the number of groups of the last verified user. */
  export function groupCount(): i32 {
    return host.directory_group_count();
  }

  /** Name of a group, below `groupCount`. */
  export function group(index: i32): Text {
    let ptr = heap.alloc(ROOM);
    const length = host.directory_group_get(index, ptr, ROOM);
    if (length < 0) return EMPTY;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.directory_group_get(index, ptr, length);
    }
    return new Text(ptr, length);
  }
}
