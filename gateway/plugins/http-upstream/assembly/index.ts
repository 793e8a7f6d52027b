import { ANSWERED, Config, EMPTY, HANDED_OFF, READY, Request, Response, Text, text, TextBuilder, Upstream } from "@gw/plugin-sdk/assembly";

@unmanaged
class Segment {
  /** Text as it goes out, or the name of a path parameter. */
  constructor(
    public value: Text,
    public isParam: bool,
    public next: Segment | null,
  ) {}
}

const URL = text("/url");
const VALIDATION_FAILED = text("validation-failed");
const VALIDATION_TITLE = text("Request validation failed");
const NOT_A_SEGMENT = text("a path parameter would leave its place in the upstream's path");

let timeoutMs: i32 = 30_000;
let first: Segment | null = null;
let last: Segment | null = null;
let hasQuery = false;

export function init(): i32 {
  timeoutMs = <i32>max(1.0, Config.number("/timeout", 30) * 1000);
  if (!Config.has("/path")) return READY;
  const path = Config.get("/path");
  hasQuery = path.indexOf(0x3f) >= 0;
  return parse(path) ? READY : Config.refuse("path: a parameter is written {name}, with both braces");
}

export function dispatch(): i32 {
  const template = first;
  let path = EMPTY;
  if (template) {
    const filled = fill(template);
    if (!filled) {
      Response.problem(400, VALIDATION_FAILED, VALIDATION_TITLE, NOT_A_SEGMENT);
      return ANSWERED;
    }
    path = filled;
  }
  Upstream.stream(URL, path, timeoutMs);
  return HANDED_OFF;
}

function append(value: Text, isParam: bool): void {
  const segment = new Segment(value, isParam, null);
  const before = last;
  if (before) before.next = segment;
  else first = segment;
  last = segment;
}

function parse(path: Text): bool {
  let from = 0;
  while (from < path.length) {
    const open = path.indexOf(0x7b, from);
    const literal = path.slice(from, open < 0 ? path.length : open);
    if (literal.indexOf(0x7d) >= 0) return false;
    if (!literal.isEmpty) append(encoded(literal), false);
    if (open < 0) return true;
    const close = path.indexOf(0x7d, open);
    if (close < open + 2) return false;
    const name = path.slice(open + 1, close);
    append(name.byteAt(name.length - 1) == 0x2b ? name.slice(0, name.length - 1) : name, true);
    from = close + 1;
  }
  return true;
}

/** Percent-encodes what a path or query cannot hold; what is encoded already stays. */
function encoded(literal: Text): Text {
  const out = new TextBuilder();
  for (let i = 0; i < literal.length; i++) {
    const byte = literal.byteAt(i);
    if (byte > 0x20 && byte < 0x7f && byte != 0x22 && byte != 0x3c && byte != 0x3e && byte != 0x5c && byte != 0x5e && byte != 0x60 && byte != 0x7c) out.byte(byte);
    else out.percent(byte);
  }
  return out.take();
}

/** The path and query to send; null where a value would climb out of its place. */
function fill(template: Segment): Text | null {
  const out = new TextBuilder(512);
  let segment: Segment | null = template;
  while (segment !== null) {
    if (segment.isParam) {
      const value = Request.pathParam(segment.value);
      if (value) addParam(out, value, isGreedy(segment.value));
      // Ends the call: an upstream path with a hole in it would be another one.
      else Config.refuse("path names {" + segment.value.toString() + "}, which the operation does not have");
    } else {
      out.add(segment.value);
    }
    segment = segment.next;
  }
  const path = out.take();
  if (climbs(path)) return null;
  const query = Request.query();
  if (!query) return path;
  return new TextBuilder(path.length + query.length + 1).add(path).byte(hasQuery ? 0x26 : 0x3f).add(query).take();
}

/** Whether the operation declares the parameter as `{name+}`: then its slashes are its own. */
function isGreedy(name: Text): bool {
  const path = Request.operationPath();
  for (let at = path.indexOf(0x7b); at >= 0; at = path.indexOf(0x7b, at + 1)) {
    const end = at + 1 + name.length;
    if (end + 1 < path.length && path.byteAt(end) == 0x2b && path.byteAt(end + 1) == 0x7d && path.slice(at + 1, end).equals(name)) return true;
  }
  return false;
}

/** RFC 3986: unreserved characters stay, and slashes of greedy parameters; all else is percent-encoded. */
function addParam(out: TextBuilder, value: Text, greedy: bool): void {
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (isUnreserved(byte) || (greedy && byte == 0x2f)) out.byte(byte);
    else out.percent(byte);
  }
}

@inline function isUnreserved(byte: u8): bool {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte == 0x2d || byte == 0x2e || byte == 0x5f || byte == 0x7e;
}

/** Whether a segment of the path is `.` or `..`, which upstreams resolve. */
function climbs(path: Text): bool {
  const mark = path.indexOf(0x3f);
  const end = mark < 0 ? path.length : mark;
  let start = 0;
  for (let i = 0; i <= end; i++) {
    if (i < end && path.byteAt(i) != 0x2f) continue;
    const length = i - start;
    if (length >= 1 && length <= 2 && path.byteAt(start) == 0x2e && path.byteAt(i - 1) == 0x2e) return true;
    start = i + 1;
  }
  return false;
}
