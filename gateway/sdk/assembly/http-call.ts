/** Whole HTTP calls through the egress guard; declare `host_http_call`. */
import * as host from "./host";
import { EMPTY, ROOM, Text, TextBuilder } from "./text";

/** No connection, or an answer that is not HTTP. */
export const CALL_FAILED: i32 = -1;
/** No answer in time. */
export const CALL_TIMEOUT: i32 = -2;
/** The egress guard, or the gateway's rule on plaintext, forbids it. */
export const CALL_REFUSED: i32 = -3;
/** The answer's body is longer than allowed. */
export const CALL_TOO_LARGE: i32 = -4;
/** The gateway has no room in memory for the answer's body. */
export const CALL_NO_ROOM: i32 = -5;
/** The circuit breaker is open; see `HttpCall.useBreaker`. */
export const CALL_CIRCUIT_OPEN: i32 = -6;

/** `HttpCall.jsonType`: the value is absent. */
export const JSON_ABSENT: i32 = -1;
/** The gateway has no room in memory for the parsed body. */
export const JSON_NO_ROOM: i32 = -2;
/** Parsing the answer's body would take too long. */
export const JSON_TOO_COSTLY: i32 = -3;

/**
 * A call to another server.
 *
 * @example
 * const call = new HttpCall(text("GET"), text("https://tenants.example/v1/acme"));
 * call.timeoutMs = 500;
 * if (call.send() != 200) return CONTINUE; // below 0: no answer, such as CALL_TIMEOUT
 * const plan = HttpCall.json(text("/plan"));
 */
export class HttpCall {
  private fields: TextBuilder = new TextBuilder();
  /** Sent with the call. */
  body: Text = EMPTY;
  /** Milliseconds for all of it. */
  timeoutMs: i32 = 5_000;
  /** Bytes of the answer's body; 0: the gateway's limit. */
  maxBytes: i32 = 0;
  /** Redirects to follow. */
  redirects: i32 = 0;

  /** A call that `send` makes. */
  constructor(
    /** Method, in capitals. */
    public method: Text,
    /** Absolute, `https:`, or `http:` if the gateway allows plaintext. */
    public url: Text,
  ) {}

  /** A value without line breaks. */
  header(name: Text, value: Text): HttpCall {
    this.fields.add(name).byte(0x3a).byte(0x20).add(value).byte(0x0a);
    return this;
  }

  /** Sends the request's body, which stays in the host, in place of `body`. Needs `request_body = "buffer"`. */
  static passBody(): void {
    host.http_call_body_pass();
  }

  /** Sends the request's headers, too, as `Upstream.stream` does; those of the call replace them. */
  static passHeaders(): void {
    host.http_call_headers_pass();
  }

  /**
   * The next call counts for the circuit breaker of this config and the call's server: after five in a row without an
   * answer it is open for 10 s, and calls are `CALL_CIRCUIT_OPEN` at once.
   */
  static useBreaker(): void {
    host.http_call_breaker_use();
  }

  /** After `CALL_CIRCUIT_OPEN`: seconds until a call may succeed. */
  static retryAfter(): i32 {
    return host.http_call_retry_after();
  }

  /** Waits for the answer: its status, or one of the failures above. */
  send(): i32 {
    const fields = this.fields.take();
    return host.host_http_call(
      this.method.ptr, this.method.length, this.url.ptr, this.url.length, fields.ptr, fields.length,
      this.body.ptr, this.body.length, this.timeoutMs, this.maxBytes, this.redirects,
    );
  }

  /** Returns a header of the last answer; null if it is absent. */
  static answerHeader(name: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.http_call_header_get(name.ptr, name.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.http_call_header_get(name.ptr, name.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Body of the last answer. */
  static answerBody(): Text {
    const length = host.http_call_body_length();
    const ptr = heap.alloc(length + 1);
    host.http_call_body_read(0, ptr, length);
    return new Text(ptr, length);
  }

  /**
   * Type of the value at a JSON pointer of the last answer; `JSON_ABSENT` also if that is not JSON, or repeats a
   * member; `JSON_NO_ROOM`, `JSON_TOO_COSTLY`.
   */
  static jsonType(pointer: Text): i32 {
    return host.http_call_json_type(pointer.ptr, pointer.length);
  }

  /** Returns the value there: strings as they are, all else as JSON text; null if absent. */
  static json(pointer: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.http_call_json_get(pointer.ptr, pointer.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.http_call_json_get(pointer.ptr, pointer.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Returns the number of elements of an array or members of an object there; 0 for other values. */
  static jsonCount(pointer: Text): i32 {
    return max(0, host.http_call_json_count(pointer.ptr, pointer.length));
  }

  /** Name of a member of the object there; null past the last. */
  static jsonKey(pointer: Text, index: i32): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.http_call_json_key(pointer.ptr, pointer.length, index, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.http_call_json_key(pointer.ptr, pointer.length, index, ptr, length);
    }
    return new Text(ptr, length);
  }

  /**
   * Sets headers of the answer that `respond` makes, in the place of others of their names: the members of the object
   * at a pointer of the last answer, each a string, number or boolean, or, with `lists`, a list of them. Those of the
   * connection are left out. Returns false if the value there is of another type, a header is not valid, or there are
   * too many.
   */
  static respondHeaders(pointer: Text, lists: bool): bool {
    return host.http_call_respond_headers(pointer.ptr, pointer.length, lists ? 1 : 0) >= 0;
  }

  /** The same for one header, with the list of its values at a pointer. */
  static respondHeader(name: Text, pointer: Text): bool {
    return host.http_call_respond_header(name.ptr, name.length, pointer.ptr, pointer.length) >= 0;
  }

  /**
   * Answers with those headers, and the string at a pointer of the last answer as the body, decoded if `base64`;
   * without a body if the value is absent or null. Return `ANSWERED` then. Returns false if the value is of another
   * type, or the string is not Base64.
   */
  static respond(status: i32, pointer: Text, base64: bool): bool {
    return host.http_call_respond(status, pointer.ptr, pointer.length, base64 ? 1 : 0) == 0;
  }
}
