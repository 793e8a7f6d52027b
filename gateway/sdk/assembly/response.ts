/** Answers requests, and changes responses before they are sent. */
import * as host from "./host";
import { EMPTY, ROOM, Text, text, TextBuilder } from "./text";

/**
 * @example
 * Response.problem(403, text("forbidden"), text("Forbidden"), text("say your name"));
 * return ANSWERED;
 */
export namespace Response {
  /** Answers; return `ANSWERED` from the hook. */
  export function send(status: i32, body: Text = EMPTY): void {
    host.respond(status, body.ptr, body.length);
  }

  /** Answers with a problem document: `type` without its URN prefix, `members` a JSON object or empty. */
  export function problem(status: i32, type: Text, title: Text, detail: Text = EMPTY, members: Text = EMPTY): void {
    host.respond_problem(
      status, type.ptr, type.length, title.ptr, title.length, detail.ptr, detail.length, members.ptr, members.length,
    );
  }

  /** Before there is a response: for whatever it will be. In `on_response`: at once. */
  export function setHeader(name: Text, value: Text): void {
    host.response_header_change(0, name.ptr, name.length, value.ptr, value.length);
  }

  /** Adds a header to those of its name. */
  export function addHeader(name: Text, value: Text): void {
    host.response_header_change(1, name.ptr, name.length, value.ptr, value.length);
  }

  /** Removes all headers of a name. */
  export function removeHeader(name: Text): void {
    host.response_header_change(2, name.ptr, name.length, 0, 0);
  }

  /** `Retry-After` in seconds. */
  export function setRetryAfter(seconds: i64): void {
    setHeader(text("retry-after"), new TextBuilder(16).integer(seconds).take());
  }

  /** In `on_response`. */
  export function status(): i32 {
    return host.response_status();
  }

  /** In `on_response`: changes the status, 200 to 599. */
  export function setStatus(status: i32): void {
    host.response_status_set(status);
  }

  /** In `on_response`; returns null if it is absent. */
  export function header(name: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.response_header_get(name.ptr, name.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.response_header_get(name.ptr, name.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** In `init`, with `response_body = "buffer"`: this config needs no body, so that it streams as if undeclared. */
  export function passBody(): void {
    host.response_body_pass();
  }

  /** In `on_response`; needs `response_body = "buffer"`. */
  export function bodyLength(): i32 {
    return host.response_body_length();
  }

  /** In `on_response`; needs `response_body = "buffer"`. */
  export function body(): Text {
    const length = host.response_body_length();
    const ptr = heap.alloc(length + 1);
    host.response_body_read(0, ptr, length);
    return new Text(ptr, length);
  }

  /** In `on_response`: replaces the body. Needs `response_body = "buffer"`. */
  export function setBody(body: Text): void {
    host.response_body_set(body.ptr, body.length);
  }
}
