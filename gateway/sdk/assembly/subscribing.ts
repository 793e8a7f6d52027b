/** Shared parts of dispatchers that stream messages of brokers: refusals. */
import { Response } from "./response";
import { Text, text } from "./text";

const FAILED = text("upstream-failed");
const FAILED_TITLE = text("Bad gateway");
const FAILED_DETAIL = text("The broker could not be read from.");
const TIMEOUT = text("upstream-timeout");
const TIMEOUT_TITLE = text("Gateway timeout");
const TIMEOUT_DETAIL = text("The broker did not answer in time.");
const UNAVAILABLE_TITLE = text("Service unavailable");
const UNAVAILABLE = text("upstream-unavailable");
const UNAVAILABLE_DETAIL = text("The broker has failed several times in a row. Try again later.");
const OVERLOADED = text("overloaded");
const OVERLOADED_DETAIL = text("As many clients stream this already as may. Try again later.");
const INVALID = text("validation-failed");
const INVALID_TITLE = text("Request validation failed");
const INVALID_DETAIL = text("The Last-Event-ID is not one of this stream. Leave it out to begin with what comes.");

/**
 * @example
 * Subscribing.refuse(-1, 1);
 * return ANSWERED;
 */
export namespace Subscribing {
  /** The host streams from now on: return `HANDED_OFF`. */
  export const STREAMS: i32 = 0;

  /** Answers according to a result below 0; `retryAfter` in seconds. */
  export function refuse(result: i32, retryAfter: i32): void {
    if (result == -2) return Response.problem(504, TIMEOUT, TIMEOUT_TITLE, TIMEOUT_DETAIL);
    if (result == -3) return later(UNAVAILABLE, UNAVAILABLE_DETAIL, retryAfter);
    if (result == -4) return later(OVERLOADED, OVERLOADED_DETAIL, retryAfter);
    if (result == -5) return Response.problem(400, INVALID, INVALID_TITLE, INVALID_DETAIL);
    Response.problem(502, FAILED, FAILED_TITLE, FAILED_DETAIL);
  }

  function later(type: Text, detail: Text, seconds: i32): void {
    Response.setRetryAfter(seconds);
    Response.problem(503, type, UNAVAILABLE_TITLE, detail);
  }
}
