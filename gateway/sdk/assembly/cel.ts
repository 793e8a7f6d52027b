/** Conditions in the Common Expression Language; declare the two host functions and `request_body = "buffer"`. */
// @ts-nocheck
import { Text } from "./text";

// Not those of ./host: the order of a module's imports follows their declarations, and so does the hash of plugin cel.
@external("gw_abi_1", "host_cel_compile") declare function host_cel_compile(p: usize, n: i32): i32;
@external("gw_abi_1", "host_cel_evaluate") declare function host_cel_evaluate(handle: i32): i32;

/**
 * Result of an evaluation.
 *
 * @example
 * const match: Match = Condition.evaluate(0);
 * if (match < 0) return ANSWERED;
 */
export enum Match {
  /** The body is there and cannot be read, or makes the evaluation too long; the host has logged why. */
  Unreadable = -2,
  /** It could not be evaluated; the host has logged why. */
  Failed = -1,
  /** The condition does not hold. */
  No = 0,
  /** The condition holds. */
  Yes = 1,
}

/**
 * @example
 * const condition = Condition.compile(text("request.method == 'GET'")); // in init
 * if (Condition.evaluate(condition) != Match.Yes) return CONTINUE;
 */
export namespace Condition {
  /** In `init`: a handle, or -1 if the expression is not valid; then return 1, the host knows why. */
  export function compile(expression: Text): i32 {
    return host_cel_compile(expression.ptr, expression.length);
  }

  /** Waits for the body if the expression reads it. */
  export function evaluate(handle: i32): Match {
    return host_cel_evaluate(handle);
  }
}
