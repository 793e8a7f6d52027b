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

  constructor(
    public method: Text,
    public url: Text,
  ) {}

  /** A value without line breaks. */
  header(name: Text, value: Text): HttpCall {
    this.fields.add(name).byte(0x3a).byte(0x20).add(value).byte(0x0a);
    return this;
  }

  /** Waits for the answer: its status, or one of the failures above. */
  send(): i32 {
    const fields = this.fields.take();
    return host.host_http_call(
      this.method.ptr, this.method.length, this.url.ptr, this.url.length, fields.ptr, fields.length,
      this.body.ptr, this.body.length, this.timeoutMs, this.maxBytes, this.redirects,
    );
  }

  /** A header of the last answer; null where it is absent. */
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
}
