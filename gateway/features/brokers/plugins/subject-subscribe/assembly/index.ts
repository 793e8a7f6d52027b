import { ANSWERED, Config, EMPTY, HANDED_OFF, Nats, READY, Request, Response, Subscribing, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const BAD_REQUEST = text("validation-failed");
const BAD_REQUEST_TITLE = text("Request validation failed");
const BAD_TOKEN = text("A path parameter cannot be part of a subject: send 1 to 128 printable ASCII characters without space, \".\", \"*\" and \">\".");

const DOT: u8 = 0x2e;
const MOST_TOKEN: i32 = 128;
const MOST_SUBJECT: i32 = 512;

/** Of the config's subject; the name alone of one in braces. */
let tokens: StaticArray<Text> = new StaticArray<Text>(0);
let isParam: StaticArray<bool> = new StaticArray<bool>(0);

export function init(): i32 {
  Nats.openStreams();
  readSubject(Config.get("/subject"));
  return READY;
}

function readSubject(subject: Text): void {
  let count = 1;
  for (let i = 0; i < subject.length; i++) if (subject.byteAt(i) == DOT) count++;
  tokens = new StaticArray<Text>(count);
  isParam = new StaticArray<bool>(count);
  let from = 0;
  for (let i = 0; i < count; i++) {
    let end = from;
    while (end < subject.length && subject.byteAt(end) != DOT) end++;
    isParam[i] = subject.byteAt(from) == 0x7b;
    tokens[i] = isParam[i] ? subject.slice(from + 1, end - 1) : subject.slice(from, end);
    from = end + 1;
  }
}

export function dispatch(): i32 {
  const subject = subjectOfRequest();
  if (!subject) {
    Response.problem(400, BAD_REQUEST, BAD_REQUEST_TITLE, BAD_TOKEN);
    return ANSWERED;
  }
  const result = Nats.subscribe(subject);
  if (result == Subscribing.STREAMS) return HANDED_OFF;
  Subscribing.refuse(result, Nats.retryAfter());
  return ANSWERED;
}

/** Null where a parameter is no token: clients choose no wildcards, and no more tokens than the config has. */
function subjectOfRequest(): Text | null {
  const out = new TextBuilder(128);
  for (let i = 0; i < tokens.length; i++) {
    if (i > 0) out.byte(DOT);
    if (!isParam[i]) {
      out.add(tokens[i]);
      continue;
    }
    const value = Request.pathParam(tokens[i]);
    if (!value || !isToken(value)) return null;
    out.add(value);
  }
  const subject = out.take();
  return subject.length > MOST_SUBJECT ? null : subject;
}

function isToken(value: Text): bool {
  if (value.length == 0 || value.length > MOST_TOKEN) return false;
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (byte <= 0x20 || byte >= 0x7f || byte == DOT || byte == 0x2a || byte == 0x3e) return false;
  }
  return true;
}
