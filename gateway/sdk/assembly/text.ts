/**
 * UTF-8 text in memory: a pointer and a length, without AssemblyScript's UTF-16 strings and their conversions.
 * Nothing is ever freed: the host puts the whole memory back after every call.
 */

/** Room that a value is read into before it is known how long it is. */
export const ROOM: i32 = 256;

@unmanaged
export class Text {
  constructor(
    public ptr: usize,
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

  @inline get isEmpty(): bool {
    return this.length == 0;
  }

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

  startsWith(other: Text): bool {
    return this.length >= other.length && memory.compare(this.ptr, other.ptr, other.length) == 0;
  }

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

@inline export function lowerByte(byte: u8): u8 {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

/** Encodes a string. */
export function text(value: string): Text {
  return Text.of(value);
}

/** Text that grows. */
@unmanaged
export class TextBuilder {
  private ptr: usize;
  private used: i32;
  private room: i32;

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

  add(part: Text): TextBuilder {
    this.reserve(part.length);
    memory.copy(this.ptr + this.used, part.ptr, part.length);
    this.used += part.length;
    return this;
  }

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

  get length(): i32 {
    return this.used;
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

/** Nothing. */
export const EMPTY: Text = new Text(0, 0);
