/**
 * UTF-8 text in memory: a pointer and a length, without AssemblyScript's UTF-16 strings and their conversions. Memory
 * is never freed: the host restores all of it after every call.
 */

/** Room that a value is read into before it is known how long it is. */
export const ROOM: i32 = 256;

/**
 * UTF-8 text: a pointer and a length.
 *
 * @example
 * const name = text("  Ann ");
 * const trimmed = name.trim(); // a view, which copies nothing
 * const isAnn = trimmed.equalsIgnoreCase(text("ANN"));
 */
@unmanaged
export class Text {
  /** A view of bytes in memory. */
  constructor(
    /** Address of its first byte in memory. */
    public ptr: usize,
    /** Bytes. */
    public length: i32,
  ) {}

  /** Encodes a string. Do it once, in a global variable or in `init`. */
  static of(text: string): Text {
    const size = String.UTF8.byteLength(text);
    const ptr = heap.alloc(size + 1);
    String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, ptr);
    return new Text(ptr, size);
  }

  /** The byte at an index that is less than `length`. */
  @inline byteAt(index: i32): u8 {
    return load<u8>(this.ptr + index);
  }

  /** Returns true if the text has no bytes. */
  @inline get isEmpty(): bool {
    return this.length == 0;
  }

  /** Returns true if both have the same bytes. */
  equals(other: Text): bool {
    return this.length == other.length && memory.compare(this.ptr, other.ptr, this.length) == 0;
  }

  /** Reports whether both are equal but for the case of ASCII letters. */
  equalsIgnoreCase(other: Text): bool {
    if (this.length != other.length) return false;
    for (let i = 0; i < this.length; i++) {
      if (lowerByte(this.byteAt(i)) != lowerByte(other.byteAt(i))) return false;
    }
    return true;
  }

  /** Returns true if the text begins with another. */
  startsWith(other: Text): bool {
    return this.length >= other.length && memory.compare(this.ptr, other.ptr, other.length) == 0;
  }

  /** Returns true if the text ends with another. */
  endsWith(other: Text): bool {
    return (
      this.length >= other.length &&
      memory.compare(this.ptr + (this.length - other.length), other.ptr, other.length) == 0
    );
  }

  /** Index of a byte at or after `from`, or -1. */
  indexOf(byte: u8, from: i32 = 0): i32 {
    for (let i = from; i < this.length; i++) if (this.byteAt(i) == byte) return i;
    return -1;
  }

  /** A view of a part; copies nothing. */
  slice(start: i32, end: i32 = i32.MAX_VALUE): Text {
    const stop = min(end, this.length);
    return new Text(this.ptr + start, max(0, stop - start));
  }

  /** A view without spaces and tabs at both ends. */
  trim(): Text {
    let start = 0;
    let end = this.length;
    while (start < end && isBlank(this.byteAt(start))) start++;
    while (end > start && isBlank(this.byteAt(end - 1))) end--;
    return this.slice(start, end);
  }

  /** A copy with ASCII letters in lower case. */
  lower(): Text {
    const ptr = heap.alloc(this.length + 1);
    for (let i = 0; i < this.length; i++) store<u8>(ptr + i, lowerByte(this.byteAt(i)));
    return new Text(ptr, this.length);
  }

  /** As an AssemblyScript string. */
  toString(): string {
    return String.UTF8.decodeUnsafe(this.ptr, this.length);
  }
}

@inline function isBlank(byte: u8): bool {
  return byte == 0x20 || byte == 0x09;
}

/**
 * An ASCII letter in lower case; any other byte as it is.
 *
 * @example
 * const letter = lowerByte(0x41); // 0x61, a
 */
@inline export function lowerByte(byte: u8): u8 {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

/**
 * Encodes a string.
 *
 * @example
 * const name = text("x-name"); // once, in a global constant or in init
 */
export function text(value: string): Text {
  return Text.of(value);
}

/**
 * Text that grows.
 *
 * @example
 * const greeting = new TextBuilder().add(text("hello ")).json(Request.method()).byte(0x21).take();
 */
@unmanaged
export class TextBuilder {
  private ptr: usize;
  private used: i32;
  private room: i32;

  /** `room`: initial capacity in bytes. */
  constructor(room: i32 = ROOM) {
    this.ptr = heap.alloc(room);
    this.used = 0;
    this.room = room;
  }

  private reserve(more: i32): void {
    const want = this.used + more;
    if (want <= this.room) return;
    const room = max(want, this.room * 2);
    const ptr = heap.alloc(room);
    memory.copy(ptr, this.ptr, this.used);
    this.ptr = ptr;
    this.room = room;
  }

  /** Adds text. */
  add(part: Text): TextBuilder {
    this.reserve(part.length);
    memory.copy(this.ptr + this.used, part.ptr, part.length);
    this.used += part.length;
    return this;
  }

  /** Adds a byte. */
  byte(value: u8): TextBuilder {
    this.reserve(1);
    store<u8>(this.ptr + this.used, value);
    this.used++;
    return this;
  }

  /** A whole number in decimal. */
  integer(value: i64): TextBuilder {
    if (value < 0) {
      this.byte(0x2d);
      value = -value;
    }
    let unit: i64 = 1;
    while (value / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) this.byte(0x30 + <u8>((value / unit) % 10));
    return this;
  }

  /** A byte as `%XX`. */
  percent(value: u8): TextBuilder {
    return this.byte(0x25).byte(hexDigit(value >> 4)).byte(hexDigit(value & 15));
  }

  /** Text as it stands between the quotes of a JSON string. */
  json(part: Text): TextBuilder {
    for (let i = 0; i < part.length; i++) {
      const byte = part.byteAt(i);
      if (byte == 0x22 || byte == 0x5c) this.byte(0x5c).byte(byte);
      else if (byte >= 0x20) this.byte(byte);
      else this.byte(0x5c).byte(0x75).byte(0x30).byte(0x30).byte(hexDigit(byte >> 4)).byte(hexDigit(byte & 15));
    }
    return this;
  }

  /** Bytes that were built. */
  get length(): i32 {
    return this.used;
  }

  /** Drops the bytes past `length`. */
  shorten(length: i32): void {
    this.used = min(this.used, length);
  }

  /** Begins anew in the same memory: texts taken before are overwritten. */
  clear(): TextBuilder {
    this.used = 0;
    return this;
  }

  /** Returns the built text as a view, so do not use this builder any further. */
  take(): Text {
    return new Text(this.ptr, this.used);
  }
}

@inline function hexDigit(value: u8): u8 {
  return value < 10 ? 0x30 + value : 0x37 + value;
}

/** The empty text. */
export const EMPTY: Text = new Text(0, 0);
