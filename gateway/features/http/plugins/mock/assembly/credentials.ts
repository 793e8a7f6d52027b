/** `credentials` of the config: what a request must carry, or it is answered with 401. */
import { Config, cookieOf, decodeBase64, EMPTY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const HEADER: i32 = 0;
const QUERY: i32 = 1;
const COOKIE: i32 = 2;

const COOKIES = text("cookie");
const BASIC = text("basic");
const UNAUTHORIZED = text("unauthorized");
const TITLE = text("Unauthorized");
const WWW_AUTHENTICATE = text("www-authenticate");

/** One credential, and the one that the same alternative needs beside it. */
@unmanaged
class Credential {
  constructor(
    private place: i32,
    private name: Text,
    /** Of `Authorization`; empty: any value. */
    private scheme: Text,
    public next: Credential | null,
  ) {}

  /** Returns true if the request has it, whatever its value says: nobody can check it. */
  isSent(): bool {
    if (this.place == QUERY) return isText(Request.queryParam(this.name));
    if (this.place == COOKIE) {
      const cookies = Request.header(COOKIES);
      return cookies !== null && isText(cookieOf(cookies, this.name));
    }
    const value = Request.header(this.name);
    return value !== null && (this.scheme.isEmpty ? !value.isEmpty : hasScheme(value, this.scheme));
  }

  /** As people read it: `X-API-Key in the header`. */
  describe(out: TextBuilder): void {
    out.add(this.name);
    if (!this.scheme.isEmpty) out.add(text(": ")).add(this.scheme).add(text(" …"));
    out.add(this.place == HEADER ? text(" in the header") : this.place == QUERY ? text(" in the query") : text(" in a cookie"));
  }

  challenge(out: TextBuilder): void {
    if (out.length > 0) out.byte(0x2c).byte(0x20);
    if (!this.scheme.isEmpty) {
      out.add(this.scheme).add(text(' realm="api"'));
      return;
    }
    const place = this.place == HEADER ? text("header") : this.place == QUERY ? text("query") : text("cookie");
    out.add(text('ApiKey realm="api", in="')).add(place).add(text('", name="'));
    for (let i = 0; i < this.name.length; i++) {
      const byte = this.name.byteAt(i);
      // A quoted string of RFC 9110, within ASCII.
      if (byte == 0x22 || byte == 0x5c) out.byte(0x5c).byte(byte);
      else out.byte(byte >= 0x20 && byte < 0x7f ? byte : 0x3f);
    }
    out.byte(0x22);
  }
}

@unmanaged
class Alternative {
  constructor(
    public first: Credential | null,
    public next: Alternative | null,
  ) {}
}

/** Credentials that requests must carry; read in `init`. */
@unmanaged
export class Demand {
  private first: Alternative | null = null;
  private challenge: Text = EMPTY;
  private detail: Text = EMPTY;

  /** Reads the config; returns null if it demands no credentials. */
  static read(): Demand | null {
    const count = Config.count("/credentials");
    if (count == 0) return null;
    const demand = new Demand();
    const challenge = new TextBuilder();
    const detail = new TextBuilder().add(text("The API description asks for "));
    for (let i = count - 1; i >= 0; i--) demand.first = new Alternative(credentialsAt(i), demand.first);
    let alternative = demand.first;
    while (alternative !== null) {
      if (alternative !== demand.first) detail.add(text(", or "));
      let credential = alternative.first;
      while (credential !== null) {
        if (credential !== alternative.first) detail.add(text(" and "));
        credential.describe(detail);
        credential.challenge(challenge);
        credential = credential.next;
      }
      alternative = alternative.next;
    }
    demand.challenge = challenge.take();
    demand.detail = detail.byte(0x2e).take();
    return demand;
  }

  /** Returns true if the request has all of one alternative. */
  isMet(): bool {
    let alternative = this.first;
    while (alternative !== null) {
      let credential = alternative.first;
      while (credential !== null && credential.isSent()) credential = credential.next;
      if (credential === null) return true;
      alternative = alternative.next;
    }
    return false;
  }

  /** Completes the described answer for 401, or answers with a problem document if the description has no such answer. */
  answer(described: bool): void {
    Response.setHeader(WWW_AUTHENTICATE, this.challenge);
    if (!described) Response.problem(401, UNAUTHORIZED, TITLE, this.detail);
  }
}

function credentialsAt(alternative: i32): Credential | null {
  const list = "/credentials/" + alternative.toString();
  let first: Credential | null = null;
  for (let i = Config.count(list) - 1; i >= 0; i--) {
    const entry = list + "/" + i.toString();
    const place = Config.get(entry + "/in");
    const number = place.equals(text("query")) ? QUERY : place.equals(text("cookie")) ? COOKIE : HEADER;
    first = new Credential(number, Config.get(entry + "/name"), Config.get(entry + "/scheme"), first);
  }
  return first;
}

function isText(value: Text | null): bool {
  return value !== null && !value.isEmpty;
}

function hasScheme(value: Text, scheme: Text): bool {
  const space = value.indexOf(0x20);
  if (space < 0 || !value.slice(0, space).equalsIgnoreCase(scheme)) return false;
  const credentials = value.slice(space + 1).trim();
  if (credentials.isEmpty || !scheme.equalsIgnoreCase(BASIC)) return !credentials.isEmpty;
  const decoded = decodeBase64(credentials);
  return decoded !== null && decoded.indexOf(0x3a) >= 0;
}
