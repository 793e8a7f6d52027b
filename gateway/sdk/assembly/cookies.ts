/** Cookies of the request, and cookies for the client (RFC 6265). */
import { Request } from "./request";
import { Response } from "./response";
import { Text, text, TextBuilder } from "./text";
import { formatHttpDate } from "./dates";

const SEMICOLON: u8 = 0x3b;
const EQUALS: u8 = 0x3d;
const QUOTE: u8 = 0x22;
const COOKIE = text("cookie");
const SET_COOKIE = text("set-cookie");

/**
 * Cookies that the request sends. List `cookie` in `request_headers` of plugin.toml.
 *
 * @example
 * const session = Cookies.get(text("session"));
 * if (!session) return CONTINUE;
 */
export namespace Cookies {
  /**
   * The value of a cookie of the request, without the quotes around it; null if the request does not have it. Of several with
   * this name, the first counts.
   *
   * @example const session = Cookies.get(text("session"));
   */
  export function get(name: Text): Text | null {
    const header = Request.header(COOKIE);
    return header ? cookieOf(header, name) : null;
  }
}

/**
 * The value of a cookie in the value of a header `Cookie`, as `Cookies.get` returns it.
 *
 * @example
 * const theme = cookieOf(text('theme="dark"; lang=en'), text("theme")); // dark
 */
export function cookieOf(header: Text, name: Text): Text | null {
  for (let at = 0; at < header.length; ) {
    let end = header.indexOf(SEMICOLON, at);
    if (end < 0) end = header.length;
    const pair = header.slice(at, end).trim();
    const equals = pair.indexOf(EQUALS);
    if (equals > 0 && pair.slice(0, equals).trim().equals(name)) return unquoted(pair.slice(equals + 1).trim());
    at = end + 1;
  }
  return null;
}

function unquoted(value: Text): Text {
  const last = value.length - 1;
  return last > 0 && value.byteAt(0) == QUOTE && value.byteAt(last) == QUOTE ? value.slice(1, last) : value;
}

/**
 * A cookie for the client. It is a session cookie of this host, for all paths, unless a method says otherwise.
 *
 * @example
 * const cookie = new SetCookie(text("session"), Uuid.v4()).httpOnly().secure().sameSite(text("Lax")).maxAge(3600);
 * if (!cookie.send()) Log.error(text("the session is not a valid cookie"));
 */
export class SetCookie {
  private out: TextBuilder = new TextBuilder();
  private valid: bool;

  /** `value`: without blanks, quotes, commas, semicolons and backslashes; encode others, such as by `percentEncode`. */
  constructor(name: Text, value: Text) {
    this.valid = isToken(name) && isCookieValue(value);
    this.out.add(name).byte(EQUALS).add(value);
  }

  /** Paths that the cookie is sent for, such as `/shop`. */
  path(path: Text): SetCookie {
    return this.attribute("; Path=", path);
  }

  /** A domain with hosts that get the cookie, too. */
  domain(domain: Text): SetCookie {
    return this.attribute("; Domain=", domain);
  }

  /** Seconds until the client drops it; 0 or less drops it now. */
  maxAge(seconds: i64): SetCookie {
    this.out.add(text("; Max-Age=")).integer(seconds);
    return this;
  }

  /** When the client drops it, in milliseconds since the epoch. `maxAge` takes precedence. */
  expires(ms: f64): SetCookie {
    return this.attribute("; Expires=", formatHttpDate(ms));
  }

  /** `Strict`, `Lax` or `None`; browsers take `None` only with `secure`. */
  sameSite(policy: Text): SetCookie {
    if (!policy.equals(text("Strict")) && !policy.equals(text("Lax")) && !policy.equals(text("None"))) this.valid = false;
    return this.attribute("; SameSite=", policy);
  }

  /** Only over HTTPS. */
  secure(): SetCookie {
    this.out.add(text("; Secure"));
    return this;
  }

  /** Hides the cookie from scripts of pages. */
  httpOnly(): SetCookie {
    this.out.add(text("; HttpOnly"));
    return this;
  }

  private attribute(name: string, value: Text): SetCookie {
    if (value.isEmpty || !isAttributeValue(value)) this.valid = false;
    this.out.add(text(name)).add(value);
    return this;
  }

  /**
   * The value of a header `Set-Cookie`. Returns null if a part holds a character that would end it, such as a semicolon or
   * a line break, or is otherwise not valid: then no cookie may be sent.
   */
  take(): Text | null {
    return this.valid ? this.out.take() : null;
  }

  /** Adds the cookie to the response. Returns false, and adds nothing, if `take` would return null. */
  send(): bool {
    const value = this.take();
    if (value) Response.addHeader(SET_COOKIE, value);
    return value !== null;
  }
}

/** RFC 9110, section 5.6.2. */
function isToken(name: Text): bool {
  for (let i = 0; i < name.length; i++) {
    const byte = name.byteAt(i);
    if (byte <= 0x20 || byte >= 0x7f || SEPARATORS.indexOf(byte) >= 0) return false;
  }
  return !name.isEmpty;
}

const SEPARATORS = text('()<>@,;:\\"/[]?={}');

/** `cookie-octet` of RFC 6265, section 4.1.1. */
function isCookieValue(value: Text): bool {
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (byte <= 0x20 || byte >= 0x7f || byte == QUOTE || byte == 0x2c || byte == SEMICOLON || byte == 0x5c) return false;
  }
  return true;
}

function isAttributeValue(value: Text): bool {
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (byte < 0x20 || byte >= 0x7f || byte == SEMICOLON) return false;
  }
  return true;
}
