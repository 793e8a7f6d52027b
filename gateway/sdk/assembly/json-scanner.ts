/** Reads the grammar of JSON (RFC 8259) from bytes, without recursion: deep nesting needs no stack. */
import { Text } from "./text";
import { MemberNames } from "./member-names";

const QUOTE: u8 = 0x22;
const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
const BACKSLASH: u8 = 0x5c;
const OPEN_LIST: u8 = 0x5b;
const CLOSE_LIST: u8 = 0x5d;
const OPEN_OBJECT: u8 = 0x7b;
const CLOSE_OBJECT: u8 = 0x7d;

const TRUE = Text.of("true");
const FALSE = Text.of("false");
const NULL = Text.of("null");

/** For each open level a bit: 1 for an object, 0 for a list. Shared: no value is read within another one. */
let kinds: usize = heap.alloc(1024 >> 3);
let levels: i32 = 1024;

@unmanaged
export class JsonScanner {
  at: i32 = 0;
  failed: bool = false;

  constructor(public json: Text) {}

  /** Begins anew with another text. */
  begin(json: Text): void {
    this.json = json;
    this.at = 0;
    this.failed = false;
  }

  /** Returns the current byte, or 0 at the end. */
  @inline peek(): u8 {
    return this.at < this.json.length ? this.json.byteAt(this.at) : 0;
  }

  fail(): void {
    this.failed = true;
    this.at = this.json.length;
  }

  /** Passes over a byte order mark. */
  skipMark(): void {
    const json = this.json;
    if (json.length >= 3 && json.byteAt(0) == 0xef && json.byteAt(1) == 0xbb && json.byteAt(2) == 0xbf) this.at = 3;
  }

  skipSpace(): void {
    while (this.at < this.json.length && isSpace(this.json.byteAt(this.at))) this.at++;
  }

  /** Passes over a name and its colon, and the blanks around them; returns the name with its quotes. */
  skipName(): Text {
    this.skipSpace();
    const start = this.at;
    if (this.peek() != QUOTE) this.fail();
    else this.skipString();
    const name = this.json.slice(start, this.at);
    this.skipSpace();
    if (this.peek() != COLON) this.fail();
    else this.at++;
    return name;
  }

  /**
   * Passes over a value. Fails if it is not valid or deeper than `most` levels; with `names`, also if an object has a
   * member twice.
   */
  skipValue(most: i32 = i32.MAX_VALUE, names: MemberNames | null = null): void {
    let depth = 0;
    for (;;) {
      this.skipSpace();
      const byte = this.peek();
      if (byte == QUOTE) this.skipString();
      else if (byte == OPEN_OBJECT || byte == OPEN_LIST) {
        const isObject = byte == OPEN_OBJECT;
        if (depth == most) return this.fail();
        this.at++;
        this.skipSpace();
        if (this.peek() != (isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
          enter(depth++, isObject);
          if (isObject) {
            if (names !== null) names.begin();
            this.member(names);
          }
          if (this.failed) return;
          continue;
        }
        this.at++;
      } else this.skipScalar();
      // The value has ended, and so have all lists and objects that it was the last entry of.
      for (;;) {
        if (this.failed || depth == 0) return;
        this.skipSpace();
        const isObject = isObjectAt(depth - 1);
        const after = this.peek();
        if (after == COMMA) {
          this.at++;
          if (isObject) this.member(names);
          break;
        }
        if (after != (isObject ? CLOSE_OBJECT : CLOSE_LIST)) return this.fail();
        this.at++;
        depth--;
        if (isObject && names !== null && names.end()) return this.fail();
      }
    }
  }

  private member(names: MemberNames | null): void {
    const name = this.skipName();
    if (names !== null && !this.failed) names.add(name);
  }

  /** Passes over a number or a literal; fails for anything else, such as NaN or a comment. */
  private skipScalar(): void {
    const start = this.at;
    while (this.at < this.json.length && isOfScalar(this.json.byteAt(this.at))) this.at++;
    const scalar = this.json.slice(start, this.at);
    const first: u8 = scalar.isEmpty ? 0 : scalar.byteAt(0);
    const valid =
      first == 0x74 ? scalar.equals(TRUE) : first == 0x66 ? scalar.equals(FALSE) : first == 0x6e ? scalar.equals(NULL) : isNumber(scalar);
    if (!valid) this.fail();
  }

  skipString(): void {
    this.at++;
    while (this.at < this.json.length) {
      const byte = this.json.byteAt(this.at++);
      if (byte == QUOTE) return;
      if (byte < 0x20) break;
      if (byte == BACKSLASH && !this.skipEscape()) break;
      if (byte >= 0x80 && !this.skipCharacter(byte)) break;
    }
    this.fail();
  }

  private skipEscape(): bool {
    const byte = this.peek();
    this.at++;
    if (byte != 0x75) return isEscape(byte);
    for (let i = 0; i < 4; i++) {
      const digit = this.peek();
      const letter: u8 = digit | 0x20;
      if (!(digit >= 0x30 && digit <= 0x39) && !(letter >= 0x61 && letter <= 0x66)) return false;
      this.at++;
    }
    return true;
  }

  /** Passes over the rest of a character of several bytes of UTF-8 (RFC 3629, section 4). */
  private skipCharacter(first: u8): bool {
    const rest = first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 0;
    if (rest == 0) return false;
    const second = this.peek();
    if (first == 0xe0 && second < 0xa0) return false;
    if (first == 0xed && second > 0x9f) return false;
    if (first == 0xf0 && second < 0x90) return false;
    if (first == 0xf4 && second > 0x8f) return false;
    for (let i = 0; i < rest; i++) {
      if ((this.peek() & 0xc0) != 0x80) return false;
      this.at++;
    }
    return true;
  }
}

function enter(depth: i32, isObject: bool): void {
  if (depth == levels) {
    const larger = heap.alloc(levels >> 2);
    memory.copy(larger, kinds, levels >> 3);
    kinds = larger;
    levels *= 2;
  }
  const place = kinds + (depth >> 3);
  const bit = 1 << (depth & 7);
  store<u8>(place, isObject ? load<u8>(place) | bit : load<u8>(place) & ~bit);
}

function isObjectAt(depth: i32): bool {
  return (load<u8>(kinds + (depth >> 3)) & (1 << (depth & 7))) != 0;
}

/** Whether a byte may follow a backslash, besides `u`. */
function isEscape(byte: u8): bool {
  return byte == QUOTE || byte == BACKSLASH || byte == 0x2f || byte == 0x62 || byte == 0x66 || byte == 0x6e || byte == 0x72 || byte == 0x74;
}

function isSpace(byte: u8): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

function isOfScalar(byte: u8): bool {
  return !isSpace(byte) && byte != COMMA && byte != COLON && byte != QUOTE && byte != OPEN_LIST && byte != CLOSE_LIST && byte != OPEN_OBJECT && byte != CLOSE_OBJECT;
}

/** RFC 8259, section 6. */
function isNumber(scalar: Text): bool {
  if (scalar.isEmpty) return false;
  let at = scalar.byteAt(0) == 0x2d ? 1 : 0;
  const whole = digitsAt(scalar, at);
  if (whole == 0 || (whole > 1 && scalar.byteAt(at) == 0x30)) return false;
  at += whole;
  if (at < scalar.length && scalar.byteAt(at) == 0x2e) {
    const fraction = digitsAt(scalar, at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (at < scalar.length && (scalar.byteAt(at) | 0x20) == 0x65) {
    at++;
    if (at < scalar.length && (scalar.byteAt(at) == 0x2b || scalar.byteAt(at) == 0x2d)) at++;
    const exponent = digitsAt(scalar, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == scalar.length;
}

function digitsAt(scalar: Text, from: i32): i32 {
  let at = from;
  while (at < scalar.length && scalar.byteAt(at) >= 0x30 && scalar.byteAt(at) <= 0x39) at++;
  return at - from;
}
