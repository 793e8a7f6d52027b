import { ANSWERED, Config, EMPTY, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

/** What a part of the body is. */
const LITERAL = 0;
const METHOD = 1;
const PATH = 2;
const QUERY = 3;
const CLIENT_IP = 4;
const HEADER = 5;
const PATH_PARAM = 6;

@unmanaged
class Part {
  /** `written` is the part as it stands in the config; `name` the header's or parameter's. */
  constructor(
    public kind: i32,
    public written: Text,
    public name: Text,
    public next: Part | null,
  ) {}
}

@unmanaged
class Header {
  constructor(
    public name: Text,
    public value: Text,
    public next: Header | null,
  ) {}
}

let status: i32 = 200;
let first: Part | null = null;
let last: Part | null = null;
let constant = true;
let json = false;
let headers: Header | null = null;

const CONTENT_TYPE = text("content-type");

export function init(): i32 {
  status = <i32>Config.number("/status", 200);
  const contentType = Config.get("/content_type", "application/json");
  json = isJson(contentType);
  const count = Config.count("/headers");
  for (let i = count - 1; i >= 0; i--) {
    const name = Config.key("/headers", i);
    if (!name) continue;
    const value = Config.get("/headers/" + name.toString().replaceAll("~", "~0").replaceAll("/", "~1"));
    headers = new Header(name, value, headers);
  }
  // A content type among the headers is set after this one, and wins.
  if (!contentType.isEmpty) headers = new Header(CONTENT_TYPE, contentType, headers);
  parse(Config.get("/body"));
  return READY;
}

export function dispatch(): i32 {
  let header = headers;
  while (header !== null) {
    Response.setHeader(header.name, header.value);
    header = header.next;
  }
  const part = first;
  if (!part) Response.send(status);
  else if (constant && !part.next) Response.send(status, part.written);
  else Response.send(status, render(part));
  return ANSWERED;
}

/** `application/json` and `…+json`: there, what is filled in is escaped as in a JSON string. */
function isJson(contentType: Text): bool {
  const end = contentType.indexOf(0x3b);
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().lower();
  return type.endsWith(text("/json")) || type.endsWith(text("+json"));
}

function append(part: Part): void {
  const before = last;
  if (before) before.next = part;
  else first = part;
  last = part;
}

function parse(body: Text): void {
  let from = 0;
  let at = 0;
  while (at + 1 < body.length) {
    if (body.byteAt(at) != 0x7b || body.byteAt(at + 1) != 0x7b) {
      at++;
      continue;
    }
    const end = closing(body, at + 2);
    if (end < 0) break;
    const part = placeholder(body.slice(at + 2, end).trim(), body.slice(at, end + 2));
    if (!part) {
      at++;
      continue;
    }
    if (at > from) append(new Part(LITERAL, body.slice(from, at), EMPTY, null));
    append(part);
    constant = false;
    at = end + 2;
    from = at;
  }
  if (from < body.length) append(new Part(LITERAL, body.slice(from), EMPTY, null));
}

function closing(body: Text, from: i32): i32 {
  for (let i = from; i + 1 < body.length; i++) {
    if (body.byteAt(i) == 0x7d && body.byteAt(i + 1) == 0x7d) return i;
  }
  return -1;
}

function placeholder(name: Text, written: Text): Part | null {
  if (name.equals(text("request.method"))) return new Part(METHOD, written, EMPTY, null);
  if (name.equals(text("request.path"))) return new Part(PATH, written, EMPTY, null);
  if (name.equals(text("request.query"))) return new Part(QUERY, written, EMPTY, null);
  if (name.equals(text("request.client_ip"))) return new Part(CLIENT_IP, written, EMPTY, null);
  if (name.startsWith(text("headers."))) return new Part(HEADER, written, name.slice(8), null);
  if (name.startsWith(text("path_params."))) return new Part(PATH_PARAM, written, name.slice(12), null);
  return null;
}

function render(start: Part): Text {
  const out = new TextBuilder(1024);
  let part: Part | null = start;
  while (part !== null) {
    const value = valueOf(part);
    if (part.kind == LITERAL || !value) out.add(part.written);
    else if (json) out.json(value);
    else out.add(value);
    part = part.next;
  }
  return out.take();
}

function valueOf(part: Part): Text | null {
  switch (part.kind) {
    case METHOD:
      return Request.method();
    case PATH:
      return Request.path();
    case QUERY:
      return Request.query();
    case CLIENT_IP:
      return Request.clientIp();
    case HEADER:
      return Request.header(part.name);
    case PATH_PARAM:
      return Request.pathParam(part.name);
    default:
      return null;
  }
}
