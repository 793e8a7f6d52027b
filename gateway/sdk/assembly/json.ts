/** JSON of any text: bodies, answers of HTTP calls, headers. Reads in place and keeps every digit of numbers. */
import { numberOf } from "./json-number";
import { JsonPath } from "./json-path";
import { JsonScanner } from "./json-scanner";
import { unescaped } from "./json-string";
import { MemberNames } from "./member-names";
import { EMPTY, Text } from "./text";

const BACKSLASH: u8 = 0x5c;
/** Moves through values that are known to be valid. */
const scanner = new JsonScanner(EMPTY);

/** Types of `Json.type` and `HttpCall.jsonType`. */
export const JSON_NULL: i32 = 0;
/** `true` or `false`. */
export const JSON_BOOLEAN: i32 = 1;
/** A number. */
export const JSON_NUMBER: i32 = 2;
/** A string. */
export const JSON_TEXT: i32 = 3;
/** A list. */
export const JSON_ARRAY: i32 = 4;
/** An object. */
export const JSON_OBJECT: i32 = 5;

/** Most nested objects and lists that `Json.parse` reads. */
export const JSON_MOST_DEPTH: i32 = 1000;

/**
 * A value of a JSON text: a view, which copies nothing. A value that is returned takes 32 bytes of the plugin's memory.
 *
 * @example
 * const order = Json.parse(Request.body());
 * if (!order) return CONTINUE;
 * const city = order.at(text("/customer/city"));
 * if (city && city.type == JSON_TEXT) Response.setHeader(text("x-city"), city.text());
 * const emails = order.matches(text("/customers/*\/email"));
 */
@unmanaged
export class Json {
  private constructor(
    /** The value as it stands in the text, byte for byte. */
    public raw: Text,
    /** The name before it, with its quotes; empty for elements and for the whole text. */
    private key: Text,
    /** End of the value that contains it. */
    private end: usize,
  ) {}

  /**
   * Reads a text, with or without a byte order mark. Returns null if it is not valid JSON in UTF-8, has an object with a
   * member twice, as the gateway refuses in bodies of requests, or is deeper than 1000 levels (`JSON_MOST_DEPTH`).
   *
   * @example const tenant = Json.parse(HttpCall.answerBody());
   */
  static parse(json: Text): Json | null {
    scanner.begin(json);
    scanner.skipMark();
    scanner.skipSpace();
    const start = scanner.at;
    scanner.skipValue(JSON_MOST_DEPTH, new MemberNames());
    const raw = json.slice(start, scanner.at);
    scanner.skipSpace();
    return scanner.failed || scanner.at != json.length ? null : new Json(raw, EMPTY, raw.ptr + raw.length);
  }

  /** One of JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_TEXT, JSON_ARRAY and JSON_OBJECT. */
  get type(): i32 {
    const byte = this.raw.byteAt(0);
    if (byte == 0x22) return JSON_TEXT;
    if (byte == 0x7b) return JSON_OBJECT;
    if (byte == 0x5b) return JSON_ARRAY;
    if (byte == 0x6e) return JSON_NULL;
    return byte == 0x74 || byte == 0x66 ? JSON_BOOLEAN : JSON_NUMBER;
  }

  /** The characters of a string, without quotes and escapes; any other value as JSON. */
  text(): Text {
    return this.raw.byteAt(0) == 0x22 ? unescaped(this.raw) : this.raw;
  }

  /**
   * The number, or `otherwise` if the value is not a number. Exact for whole numbers up to 2^53 and decimals of up to 15
   * digits; `raw` has all digits.
   */
  number(otherwise: f64 = NaN): f64 {
    return this.type == JSON_NUMBER ? numberOf(this.raw) : otherwise;
  }

  /** Returns true if the value is `true`. */
  get isTrue(): bool {
    return this.raw.byteAt(0) == 0x74;
  }

  /** The name of a member, without quotes and escapes; empty for elements of a list and for the whole text. */
  get name(): Text {
    return this.key.isEmpty ? EMPTY : unescaped(this.key);
  }

  /** Elements of a list or members of an object; 0 for other values. */
  count(): i32 {
    const each = this.first();
    if (each === null) return 0;
    let count = 1;
    while (each.advance()) count++;
    return count;
  }

  /**
   * The elements of a list or the members of an object, in order; empty for other values.
   *
   * @example
   * const items = Json.parse(text("[1, 2]"))!.entries();
   * for (let i = 0; i < items.length; i++) Log.info(items[i].raw);
   */
  entries(): Json[] {
    const entries: Json[] = [];
    const each = this.first();
    if (each !== null) {
      do entries.push(each.copy());
      while (each.advance());
    }
    return entries;
  }

  /** The member of an object that has this name; null if the value is not an object, or has no such member. */
  member(name: Text): Json | null {
    if (this.type != JSON_OBJECT) return null;
    const each = this.first();
    if (each !== null) {
      do if (each.isNamed(name)) return each;
      while (each.advance());
    }
    return null;
  }

  /**
   * The value at a JSON pointer (RFC 6901), such as `/customer/name`; this value at the empty one. Returns null if no
   * value is there.
   */
  at(pointer: Text): Json | null {
    const found: Json[] = [];
    this.collect(JsonPath.parse(pointer, false), found);
    return found.length > 0 ? found[0] : null;
  }

  /**
   * All values at a path, in the order of the text: a JSON pointer in which `*` stands for every element of a list and
   * every member of an object. Returns an empty list if the path has no values.
   *
   * @example
   * const numbers = Json.parse(Response.body())!.matches(text("/users/*\/ssn"));
   */
  matches(path: Text): Json[] {
    const found: Json[] = [];
    this.collect(JsonPath.parse(path, true), found);
    return found;
  }

  private first(): Json | null {
    const byte = this.raw.byteAt(0);
    if (byte != 0x7b && byte != 0x5b) return null;
    const entry = new Json(new Text(this.raw.ptr, 0), EMPTY, this.raw.ptr + this.raw.length - 1);
    return entry.read(this.raw.ptr + 1, byte == 0x7b) ? entry : null;
  }

  private copy(): Json {
    return new Json(new Text(this.raw.ptr, this.raw.length), this.key, this.end);
  }

  /** Becomes the entry that follows; false after the last. */
  private advance(): bool {
    const from = this.raw.ptr + this.raw.length;
    scanner.begin(new Text(from, <i32>(this.end - from)));
    scanner.skipSpace();
    return scanner.at < scanner.json.length && this.read(from + scanner.at + 1, !this.key.isEmpty);
  }

  /** Becomes the entry that begins behind a bracket or a comma; false if no entry follows. */
  private read(from: usize, isMember: bool): bool {
    scanner.begin(new Text(from, <i32>(this.end - from)));
    scanner.skipSpace();
    if (scanner.at == scanner.json.length) return false;
    if (isMember) this.key = scanner.skipName();
    scanner.skipSpace();
    const start = scanner.at;
    scanner.skipValue();
    this.raw.ptr = from + start;
    this.raw.length = scanner.at - start;
    return true;
  }

  private isNamed(name: Text): bool {
    const key = this.key;
    if (key.indexOf(BACKSLASH) >= 0) return unescaped(key).equals(name);
    return key.length == name.length + 2 && memory.compare(key.ptr + 1, name.ptr, name.length) == 0;
  }

  /** Recurses as deep as the path is long. */
  private collect(path: JsonPath | null, found: Json[]): void {
    if (path === null) {
      found.push(this.copy());
      return;
    }
    const each = this.first();
    if (each === null) return;
    const isList = this.type == JSON_ARRAY;
    let index = 0;
    do {
      if (path.isAny || (isList ? path.index == index : each.isNamed(path.name))) {
        each.collect(path.rest, found);
        if (!path.isAny) return;
      }
      index++;
    } while (each.advance());
  }
}
