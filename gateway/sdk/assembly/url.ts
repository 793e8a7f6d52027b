/** Absolute URLs and references to them (RFC 3986). */
import { hexValue } from "./percent";
import { EMPTY, Text, TextBuilder } from "./text";

const SLASH: u8 = 0x2f;
const COLON: u8 = 0x3a;
const MARK: u8 = 0x3f;
const HASH: u8 = 0x23;
const AT: u8 = 0x40;
const DOT: u8 = 0x2e;
const NO_PORT: i32 = -1;

/**
 * The parts of a URL with a host, as it stands: nothing is decoded.
 *
 * @example
 * const url = Url.parse(text("https://shop.example:8443/books?page=1"));
 * if (!url || !url.host.equals(text("shop.example"))) return CONTINUE;
 * const next = url.resolve(text("../authors")); // https://shop.example:8443/authors
 */
export class Url {
  private constructor(
    /** Lower case, without the colon. */
    public scheme: Text,
    /** User and password before `@`; null without `@`. */
    public userinfo: Text | null,
    /** Lower case; an IPv6 address with its brackets. */
    public host: Text,
    /** The port that is written, or -1. */
    public port: i32,
    /** Begins with `/`, or is empty. */
    public path: Text,
    /** Without `?`; empty if the URL has no query. */
    public query: Text,
    /** Without `#`; empty if the URL has no fragment. */
    public fragment: Text,
    private hasQuery: bool,
    private hasFragment: bool,
  ) {}

  /**
   * Reads an absolute URL. Returns null if it has no scheme or no host, holds a character that RFC 3986 does not allow
   * (blanks, control characters, backslashes, anything that is not ASCII), a percent sign without two hexadecimal digits,
   * or a port above 65535.
   */
  static parse(url: Text): Url | null {
    const colon = schemeEnd(url);
    if (colon < 1 || !isValid(url)) return null;
    if (!isAuthorityAt(url, colon + 1)) return null;
    return read(url.slice(0, colon).lower(), url, colon + 3);
  }

  /** Scheme, host and port, as in the header `Origin`. Ports that the scheme implies are left out. */
  get origin(): Text {
    const out = new TextBuilder(this.host.length + 24).add(this.scheme).byte(COLON).byte(SLASH).byte(SLASH).add(this.host);
    if (this.port != NO_PORT && this.port != impliedPort(this.scheme)) out.byte(COLON).integer(this.port);
    return out.take();
  }

  /** The port that connections use: the one that is written, else that of http (80) or https (443), else -1. */
  get effectivePort(): i32 {
    return this.port != NO_PORT ? this.port : impliedPort(this.scheme);
  }

  /**
   * The URL that a reference in a document at this URL leads to (RFC 3986, section 5.2), such as the value of `Location`.
   * Returns null if the reference is not valid, or leads to a URL without a host, such as `mailto:`.
   */
  resolve(reference: Text): Url | null {
    if (!isValid(reference)) return null;
    if (schemeEnd(reference) > 0) {
      const url = Url.parse(reference);
      return url ? url.withPath(withoutDots(url.path)) : null;
    }
    if (isAuthorityAt(reference, 0)) {
      const url = read(this.scheme, reference, 2);
      return url ? url.withPath(withoutDots(url.path)) : null;
    }
    const pathEnd = endOfPath(reference, 0);
    const path = reference.slice(0, pathEnd);
    const url = this.withPath(
      path.isEmpty ? this.path : withoutDots(path.byteAt(0) == SLASH ? path : merged(this.path, path)),
    );
    url.readRest(reference, pathEnd, path.isEmpty);
    return url;
  }

  /** The URL as text. */
  take(): Text {
    const out = new TextBuilder(256).add(this.scheme).byte(COLON).byte(SLASH).byte(SLASH);
    const userinfo = this.userinfo;
    if (userinfo) out.add(userinfo).byte(AT);
    out.add(this.host);
    if (this.port != NO_PORT) out.byte(COLON).integer(this.port);
    out.add(this.path);
    if (this.hasQuery || !this.query.isEmpty) out.byte(MARK).add(this.query);
    if (this.hasFragment || !this.fragment.isEmpty) out.byte(HASH).add(this.fragment);
    return out.take();
  }

  /** @internal */
  static of(scheme: Text, userinfo: Text | null, host: Text, port: i32, path: Text): Url {
    return new Url(scheme, userinfo, host, port, path, EMPTY, EMPTY, false, false);
  }

  private withPath(path: Text): Url {
    return new Url(
      this.scheme, this.userinfo, this.host, this.port, path, this.query, this.fragment, this.hasQuery, this.hasFragment,
    );
  }

  /** @internal Reads the part after the path. `keepsQuery`: for a reference without one. */
  readRest(url: Text, from: i32, keepsQuery: bool): void {
    const hash = url.indexOf(HASH, from);
    const end = hash < 0 ? url.length : hash;
    const hasQuery = from < end && url.byteAt(from) == MARK;
    if (hasQuery || !keepsQuery) {
      this.hasQuery = hasQuery;
      this.query = hasQuery ? url.slice(from + 1, end) : EMPTY;
    }
    this.hasFragment = hash >= 0;
    this.fragment = hash < 0 ? EMPTY : url.slice(hash + 1);
  }
}

/** Reads the part after `//`. */
function read(scheme: Text, url: Text, from: i32): Url | null {
  let end = from;
  while (end < url.length && !endsAuthority(url.byteAt(end))) end++;
  let authority = url.slice(from, end);
  let userinfo: Text | null = null;
  const at = authority.indexOf(AT);
  if (at >= 0) {
    userinfo = authority.slice(0, at);
    authority = authority.slice(at + 1);
  }
  const hostEnd = endOfHost(authority);
  if (hostEnd < 1) return null;
  const port = portOf(authority.slice(hostEnd));
  if (port < NO_PORT) return null;
  const pathEnd = endOfPath(url, end);
  const read = Url.of(scheme, userinfo, authority.slice(0, hostEnd).lower(), port, url.slice(end, pathEnd));
  read.readRest(url, pathEnd, false);
  return read;
}

/** Length of the host that an authority begins with; 0 if it has no valid host. */
function endOfHost(authority: Text): i32 {
  if (!authority.isEmpty && authority.byteAt(0) == 0x5b) {
    const close = authority.indexOf(0x5d);
    for (let i = 1; i < close; i++) {
      const byte = authority.byteAt(i);
      if (hexValue(byte) < 0 && byte != COLON && byte != DOT) return 0;
    }
    return close + 1;
  }
  let end = 0;
  for (; end < authority.length && authority.byteAt(end) != COLON; end++) {
    const byte = authority.byteAt(end);
    if (byte == 0x5b || byte == 0x5d || byte == AT) return 0;
  }
  return end;
}

/** Returns the port of `:8443`; -1 for an empty text or a colon alone, -2 if it is not a port. */
function portOf(text: Text): i32 {
  if (text.isEmpty || (text.length == 1 && text.byteAt(0) == COLON)) return NO_PORT;
  if (text.byteAt(0) != COLON || text.length > 6) return -2;
  let port = 0;
  for (let i = 1; i < text.length; i++) {
    const byte = text.byteAt(i);
    if (byte < 0x30 || byte > 0x39) return -2;
    port = port * 10 + <i32>(byte - 0x30);
  }
  return port <= 65_535 ? port : -2;
}

/** Returns the position of the scheme's colon; -1 if the text does not begin with a scheme. */
function schemeEnd(url: Text): i32 {
  for (let i = 0; i < url.length; i++) {
    const byte = url.byteAt(i);
    const letter: u8 = byte | 0x20;
    if (letter >= 0x61 && letter <= 0x7a) continue;
    if (i > 0 && byte == COLON) return i;
    if (i == 0 || !((byte >= 0x30 && byte <= 0x39) || byte == 0x2b || byte == 0x2d || byte == DOT)) return -1;
  }
  return -1;
}

function isAuthorityAt(url: Text, from: i32): bool {
  return from + 1 < url.length && url.byteAt(from) == SLASH && url.byteAt(from + 1) == SLASH;
}

function endsAuthority(byte: u8): bool {
  return byte == SLASH || byte == MARK || byte == HASH;
}

function endOfPath(url: Text, from: i32): i32 {
  let end = from;
  while (end < url.length && url.byteAt(end) != MARK && url.byteAt(end) != HASH) end++;
  return end;
}

/** Reports whether all characters are allowed in a URL (RFC 3986, section 2). */
function isValid(url: Text): bool {
  let hashes = 0;
  for (let i = 0; i < url.length; i++) {
    const byte = url.byteAt(i);
    if (byte <= 0x20 || byte >= 0x7f || byte == 0x22 || byte == 0x3c || byte == 0x3e || byte == 0x5c || byte == 0x5e || byte == 0x60 || (byte >= 0x7b && byte <= 0x7d)) return false;
    if (byte == HASH && ++hashes > 1) return false;
    if (byte == 0x25 && (i + 2 >= url.length || hexValue(url.byteAt(i + 1)) < 0 || hexValue(url.byteAt(i + 2)) < 0)) return false;
  }
  return true;
}

function impliedPort(scheme: Text): i32 {
  if (scheme.equals(HTTP)) return 80;
  return scheme.equals(HTTPS) ? 443 : NO_PORT;
}

const HTTP = Text.of("http");
const HTTPS = Text.of("https");

/** RFC 3986, section 5.2.3. */
function merged(base: Text, path: Text): Text {
  let end = base.length;
  while (end > 0 && base.byteAt(end - 1) != SLASH) end--;
  const out = new TextBuilder(end + path.length + 1);
  if (base.isEmpty) out.byte(SLASH);
  return out.add(base.slice(0, end)).add(path).take();
}

/** Without segments `.` and `..` (RFC 3986, section 5.2.4), also if their dots are percent-encoded. */
function withoutDots(path: Text): Text {
  if (path.isEmpty) return path;
  const out = new TextBuilder(path.length);
  let at = 0;
  while (at < path.length) {
    // A segment with the slash before it.
    let end = path.indexOf(SLASH, at + 1);
    if (end < 0) end = path.length;
    const dots = dotsOf(path.slice(at + 1, end));
    if (dots == 0) out.add(path.slice(at, end));
    else if (dots == 2) out.shorten(lastSlash(out));
    if (dots > 0 && end == path.length) out.byte(SLASH);
    at = end;
  }
  return out.take();
}

function lastSlash(out: TextBuilder): i32 {
  const built = out.take();
  let end = built.length - 1;
  while (end > 0 && built.byteAt(end) != SLASH) end--;
  return max(end, 0);
}

/** 1 for `.`, 2 for `..`, else 0. */
function dotsOf(segment: Text): i32 {
  let dots = 0;
  for (let i = 0; i < segment.length; i++) {
    if (segment.byteAt(i) == 0x25) {
      if (segment.byteAt(i + 1) != 0x32 || (segment.byteAt(i + 2) | 0x20) != 0x65) return 0;
      i += 2;
    } else if (segment.byteAt(i) != DOT) return 0;
    dots++;
  }
  return dots <= 2 ? dots : 0;
}
