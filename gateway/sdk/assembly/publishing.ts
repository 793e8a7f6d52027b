/** What dispatchers that publish to brokers have in common: headers of messages, acknowledgements, refusals. */
import { Config } from "./config";
import { Request } from "./request";
import { Response } from "./response";
import { EMPTY, Text, text, TextBuilder } from "./text";

const CONTENT_TYPE = text("content-type");
const JSON_TYPE = text("application/json");
const RETRY_AFTER = text("retry-after");
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
const OVERLOADED_DETAIL = text("Too many messages wait for the broker. Try again.");
const TOO_LARGE = text("payload-too-large");
const TOO_LARGE_TITLE = text("Payload Too Large");
const TOO_LARGE_DETAIL = text("The broker takes no message of this size.");

/** Headers of a message. */
export class MessageHeaders {
  private lines: TextBuilder = new TextBuilder();

  /** Without line breaks in it. */
  add(name: Text, value: Text): MessageHeaders {
    this.lines.add(name).byte(0x3a).byte(0x20).add(value).byte(0x0a);
    return this;
  }

  /** The request's headers of these names, where it has them, under the names as they are written here. */
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

  take(): Text {
    return this.lines.take();
  }
}

/** The answer to a message that is in the broker: `ack_response` of the config, or a body of the plugin's. */
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

  /** Whether the config has a body of its own. */
  get hasBody(): bool {
    return this.body !== null;
  }

  /** Answers 202; `otherwise` is the body where the config has none. */
  send(otherwise: Text = EMPTY): void {
    Response.setHeader(CONTENT_TYPE, JSON_TYPE);
    for (let i = 0; i < this.names.length; i++) Response.setHeader(this.names[i], this.values[i]);
    const body = this.body;
    Response.send(ACCEPTED, body ? body : otherwise);
  }
}

export namespace Publishing {
  /** The broker has acknowledged the message. */
  export const PUBLISHED: i32 = 0;

  /** Answers with what a result below 0 means; `retryAfter` in seconds. */
  export function refuse(result: i32, retryAfter: i32): void {
    if (result == -2) return Response.problem(504, TIMEOUT, TIMEOUT_TITLE, TIMEOUT_DETAIL);
    if (result == -3) return later(UNAVAILABLE, UNAVAILABLE_DETAIL, retryAfter);
    if (result == -4) return later(OVERLOADED, OVERLOADED_DETAIL, retryAfter);
    if (result == -5) return Response.problem(413, TOO_LARGE, TOO_LARGE_TITLE, TOO_LARGE_DETAIL);
    Response.problem(502, FAILED, FAILED_TITLE, FAILED_DETAIL);
  }

  function later(type: Text, detail: Text, seconds: i32): void {
    Response.setHeader(RETRY_AFTER, new TextBuilder(16).integer(seconds).take());
    Response.problem(503, type, UNAVAILABLE_TITLE, detail);
  }
}
