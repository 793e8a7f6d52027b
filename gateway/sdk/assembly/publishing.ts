/** Shared parts of dispatchers that publish to brokers: headers of messages, acknowledgements, refusals. */
import { Config } from "./config";
import { Request } from "./request";
import { Response } from "./response";
import { EMPTY, Text, text, TextBuilder } from "./text";

const CONTENT_TYPE = text("content-type");
const JSON_TYPE = text("application/json");
const ACCEPTED: i32 = 202;

const FAILED = text("upstream-failed");
const FAILED_TITLE = text("Bad gateway");
const FAILED_DETAIL = text("The message could not be published.");
const TIMEOUT = text("upstream-timeout");
const TIMEOUT_TITLE = text("Gateway timeout");
const TIMEOUT_DETAIL = text("The broker did not acknowledge the message in time: it may have been published.");
const UNAVAILABLE_TITLE = text("Service unavailable");
const UNAVAILABLE = text("upstream-unavailable");
const UNAVAILABLE_DETAIL = text("The broker has failed several times in a row. Try again later.");
const OVERLOADED = text("overloaded");
const OVERLOADED_DETAIL = text("Too many messages are waiting for the broker. Try again.");
const TOO_LARGE = text("payload-too-large");
const TOO_LARGE_TITLE = text("Payload Too Large");
const TOO_LARGE_DETAIL = text("The broker does not accept messages of this size.");

const IN_PROGRESS = text("request-in-progress");
const IN_PROGRESS_TITLE = text("Conflict");
const IN_PROGRESS_DETAIL = text("The request with this Idempotency-Key has not been answered yet. Try again.");
const REUSED = text("idempotency-key-reused");
const REUSED_TITLE = text("Unprocessable content");
const REUSED_DETAIL = text("This Idempotency-Key was used for another request. Use a new one for each request.");
const STATE = text("state-unavailable");
const STATE_DETAIL = text("It cannot be determined whether the request was answered before. Try again.");
const INVALID = text("validation-failed");
const INVALID_TITLE = text("Request validation failed");
const INVALID_DETAIL = text("Send an Idempotency-Key of 1 to 255 printable ASCII characters, without a space at either end.");
const REPLAYED_HEADER = text("idempotent-replayed");
const TRUE = text("true");

/**
 * Headers of a message.
 *
 * @example
 * const headers = new MessageHeaders().add(text("source"), text("gateway"));
 */
export class MessageHeaders {
  private lines: TextBuilder = new TextBuilder();

  /** Without line breaks in it. */
  add(name: Text, value: Text): MessageHeaders {
    this.lines.add(name).byte(0x3a).byte(0x20).add(value).byte(0x0a);
    return this;
  }

  /** Adds the request's headers of these names, if present, with the names spelt as given. */
  addFromRequest(names: StaticArray<Text>): MessageHeaders {
    for (let i = 0; i < names.length; i++) {
      const value = Request.header(names[i]);
      if (value) this.add(names[i], value);
    }
    return this;
  }

  /** The request's content type, under this name. */
  addContentType(name: Text): MessageHeaders {
    const value = Request.header(CONTENT_TYPE);
    return value ? this.add(name, value) : this;
  }

  /** The headers as host functions take them. */
  take(): Text {
    return this.lines.take();
  }
}

/**
 * The answer to a message that is in the broker: `ack_response` of the config, or a body of the plugin's.
 *
 * @example
 * const acknowledged = new AckResponse(); // in init
 * acknowledged.send(0);
 * return ANSWERED;
 */
export class AckResponse {
  private names: StaticArray<Text>;
  private values: StaticArray<Text>;
  private body: Text | null;

  /** In `init`. */
  constructor() {
    const count = Config.count("/ack_response/headers");
    this.body = Config.at(text("/ack_response/body"));
    this.names = new StaticArray<Text>(count);
    this.values = new StaticArray<Text>(count);
    for (let i = 0; i < count; i++) {
      const name = Config.key("/ack_response/headers", i);
      if (!name) continue;
      this.names[i] = name;
      this.values[i] = Config.get("/ack_response/headers/" + name.toString().replaceAll("~", "~0").replaceAll("/", "~1"));
    }
  }

  /** Reports whether the config has a body of its own. */
  get hasBody(): bool {
    return this.body !== null;
  }

  /** Answers 202 to a result of 0 or above; `otherwise` is the body if the config has none. */
  send(result: i32, otherwise: Text = EMPTY): void {
    if (result == Publishing.REPLAYED) Response.setHeader(REPLAYED_HEADER, TRUE);
    Response.setHeader(CONTENT_TYPE, JSON_TYPE);
    for (let i = 0; i < this.names.length; i++) Response.setHeader(this.names[i], this.values[i]);
    const body = this.body;
    Response.send(ACCEPTED, body ? body : otherwise);
  }
}

/**
 * @example
 * Publishing.refuse(-1, 1);
 * return ANSWERED;
 */
export namespace Publishing {
  /** The broker has acknowledged the message. */
  export const PUBLISHED: i32 = 0;
  /** The broker has acknowledged the message of an earlier request with the same `Idempotency-Key`. */
  export const REPLAYED: i32 = 1;

  /** Answers according to a result below 0; `retryAfter` in seconds. */
  export function refuse(result: i32, retryAfter: i32): void {
    if (result == -2) return Response.problem(504, TIMEOUT, TIMEOUT_TITLE, TIMEOUT_DETAIL);
    if (result == -3) return later(UNAVAILABLE, UNAVAILABLE_DETAIL, retryAfter);
    if (result == -4) return later(OVERLOADED, OVERLOADED_DETAIL, retryAfter);
    if (result == -5) return Response.problem(413, TOO_LARGE, TOO_LARGE_TITLE, TOO_LARGE_DETAIL);
    if (result == -6) return conflict(retryAfter);
    if (result == -7) return Response.problem(422, REUSED, REUSED_TITLE, REUSED_DETAIL);
    if (result == -8) return later(STATE, STATE_DETAIL, retryAfter);
    if (result == -9) return Response.problem(400, INVALID, INVALID_TITLE, INVALID_DETAIL);
    Response.problem(502, FAILED, FAILED_TITLE, FAILED_DETAIL);
  }

  function conflict(seconds: i32): void {
    Response.setRetryAfter(seconds);
    Response.problem(409, IN_PROGRESS, IN_PROGRESS_TITLE, IN_PROGRESS_DETAIL);
  }

  function later(type: Text, detail: Text, seconds: i32): void {
    Response.setRetryAfter(seconds);
    Response.problem(503, type, UNAVAILABLE_TITLE, detail);
  }
}
