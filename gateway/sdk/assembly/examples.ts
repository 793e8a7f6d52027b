/** Answers out of the operation's API description; declare `host_example_respond`. */
import * as host from "./host";

/**
 * @example
 * if (Examples.respond(200)) return ANSWERED;
 */
export namespace Examples {
  /**
   * Answers with the response that the description has for this status: its examples, or values made from its schema.
   * Returns false without an answer if the status is not described.
   */
  export function respond(status: i32): bool {
    return host.host_example_respond(status) != 0;
  }
}
