/** Base64 (RFC 4648, section 4), read strictly. */
import { Text } from "./text";

/** Value of a digit, or -1. */
@inline function digit(byte: u8): i32 {
  if (byte >= 0x41 && byte <= 0x5a) return byte - 0x41;
  if (byte >= 0x61 && byte <= 0x7a) return byte - 0x47;
  if (byte >= 0x30 && byte <= 0x39) return byte + 4;
  if (byte == 0x2b) return 62;
  return byte == 0x2f ? 63 : -1;
}

/**
 * Decodes base64. Returns null if the text has other characters, a wrong length, wrong padding, or unused bits that are set.
 *
 * @example
 * const bytes = decodeBase64(text("aGVsbG8=")); // hello
 * if (!bytes) return READY;
 */
export function decodeBase64(text: Text): Text | null {
  let digits = text.length;
  if (digits % 4 != 0) return null;
  if (digits > 0 && text.byteAt(digits - 1) == 0x3d) digits--;
  if (digits > 0 && digits < text.length && text.byteAt(digits - 1) == 0x3d) digits--;
  const ptr = heap.alloc(text.length + 1);
  let length = 0;
  let bits: u32 = 0;
  let held = 0;
  for (let i = 0; i < digits; i++) {
    const value = digit(text.byteAt(i));
    if (value < 0) return null;
    bits = (bits << 6) | <u32>value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      store<u8>(ptr + length++, <u8>(bits >> held));
    }
  }
  return held < 6 && (bits & ((1 << held) - 1)) == 0 ? new Text(ptr, length) : null;
}

/**
 * Reports whether the bytes are UTF-8 (RFC 3629): without overlong forms, surrogates, and values past the last
 * character.
 *
 * @example
 * const bytes = decodeBase64(Request.body());
 * const isText = bytes !== null && isUtf8(bytes);
 */
export function isUtf8(text: Text): bool {
  let i = 0;
  while (i < text.length) {
    const lead = text.byteAt(i);
    if (lead < 0x80) {
      i++;
      continue;
    }
    const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || i + more >= text.length) return false;
    const next = text.byteAt(i + 1);
    if (lead == 0xe0 && next < 0xa0) return false;
    if (lead == 0xed && next > 0x9f) return false;
    if (lead == 0xf0 && next < 0x90) return false;
    if (lead == 0xf4 && next > 0x8f) return false;
    for (let j = 1; j <= more; j++) if ((text.byteAt(i + j) & 0xc0) != 0x80) return false;
    i += more + 1;
  }
  return true;
}
