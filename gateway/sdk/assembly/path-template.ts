/** Paths with `{param}` in them, which path parameters of the request are filled into (RFC 3986, section 2). */
import { Config } from "./config";
import { isUnreserved } from "./percent";
import { Request } from "./request";
import { Text, TextBuilder } from "./text";

const OPEN: u8 = 0x7b;
const CLOSE: u8 = 0x7d;
const SLASH: u8 = 0x2f;
const MARK: u8 = 0x3f;

@unmanaged
class Segment {
  /** Text as it goes out, or the name of a path parameter. */
  constructor(
    public value: Text,
    public isParam: bool,
    /** Stands behind a `?` of the template. */
    public inQuery: bool,
    public next: Segment | null,
  ) {}
}

/**
 * A path with parameters in it.
 *
 * @example
 * const template = PathTemplate.parse(text("/v2/books/{id}"))!; // in init
 * Upstream.stream(text("/url"), template.fill(), 5_000);
 * return HANDED_OFF;
 */
@unmanaged
export class PathTemplate {
  private first: Segment | null;
  private last: Segment | null;
  private inQuery: bool;

  /** @internal */
  constructor() {
    this.first = null;
    this.last = null;
    this.inQuery = false;
  }

  /**
   * Returns null if braces do not pair. A parameter that the operation declares as `{name+}` is `{name}` or `{name+}`.
   */
  static parse(path: Text): PathTemplate | null {
    const template = new PathTemplate();
    let from = 0;
    while (from < path.length) {
      const open = path.indexOf(OPEN, from);
      const literal = path.slice(from, open < 0 ? path.length : open);
      if (literal.indexOf(CLOSE) >= 0) return null;
      if (!literal.isEmpty) template.append(encoded(literal), false);
      if (open < 0) break;
      const close = path.indexOf(CLOSE, open);
      if (close < open + 2) return null;
      const name = path.slice(open + 1, close);
      template.append(name.byteAt(name.length - 1) == 0x2b ? name.slice(0, name.length - 1) : name, true);
      from = close + 1;
    }
    return template;
  }

  private append(value: Text, isParam: bool): void {
    const segment = new Segment(value, isParam, this.inQuery, null);
    if (!isParam && value.indexOf(MARK) >= 0) this.inQuery = true;
    const before = this.last;
    if (before) before.next = segment;
    else this.first = segment;
    this.last = segment;
  }

  /**
   * Fills in the request's parameters: in the path as the client sent them, so that an encoded slash stays one, in the
   * query percent-encoded; slashes of greedy ones stay. Ends the call if a parameter is unknown.
   */
  fill(): Text {
    const out = new TextBuilder(512);
    let segment = this.first;
    while (segment !== null) {
      if (!segment.isParam) {
        out.add(segment.value);
      } else if (segment.inQuery) {
        const value = Request.pathParam(segment.value);
        if (value) addParam(out, value, isGreedy(segment.value));
        else unknown(segment.value);
      } else {
        const value = Request.pathParamSent(segment.value);
        if (value) out.add(encoded(value));
        else unknown(segment.value);
      }
      segment = segment.next;
    }
    return out.take();
  }
}

/** A path with a hole in it would be another one. */
function unknown(name: Text): void {
  Config.refuse("path names {" + name.toString() + "}, which the operation does not have");
}

/**
 * Percent-encodes characters that a path or query cannot hold; encoded ones stay.
 *
 * @example
 * const path = encoded(text("/a b/%20")); // /a%20b/%20
 */
export function encoded(literal: Text): Text {
  const out = new TextBuilder();
  for (let i = 0; i < literal.length; i++) {
    const byte = literal.byteAt(i);
    if (byte > 0x20 && byte < 0x7f && byte != 0x22 && byte != 0x3c && byte != 0x3e && byte != 0x5c && byte != 0x5e && byte != 0x60 && byte != 0x7c) out.byte(byte);
    else out.percent(byte);
  }
  return out.take();
}

/** Reports whether the operation declares the parameter as `{name+}`: then its slashes are its own. */
function isGreedy(name: Text): bool {
  const path = Request.operationPath();
  for (let at = path.indexOf(OPEN); at >= 0; at = path.indexOf(OPEN, at + 1)) {
    const end = at + 1 + name.length;
    if (end + 1 < path.length && path.byteAt(end) == 0x2b && path.byteAt(end + 1) == CLOSE && path.slice(at + 1, end).equals(name)) return true;
  }
  return false;
}

/** Unreserved characters stay, and slashes of greedy parameters; all else is percent-encoded. */
function addParam(out: TextBuilder, value: Text, greedy: bool): void {
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (isUnreserved(byte) || (greedy && byte == SLASH)) out.byte(byte);
    else out.percent(byte);
  }
}

/**
 * Whether a segment of the path is `.` or `..`, also percent-encoded, which upstreams resolve.
 *
 * @example
 * if (climbs(Request.path())) return ANSWERED;
 */
export function climbs(path: Text): bool {
  const mark = path.indexOf(0x3f);
  const end = mark < 0 ? path.length : mark;
  let dots = 0;
  let others = false;
  for (let i = 0; i <= end; i++) {
    const byte = i < end ? path.byteAt(i) : 0x2f;
    if (byte == 0x2f) {
      if (!others && (dots == 1 || dots == 2)) return true;
      dots = 0;
      others = false;
    } else if (byte == 0x2e) {
      dots++;
    } else if (byte == 0x25 && i + 2 < end && path.byteAt(i + 1) == 0x32 && (path.byteAt(i + 2) | 0x20) == 0x65) {
      dots++;
      i += 2;
    } else {
      others = true;
    }
  }
  return false;
}
