/** Strings of JSON texts (RFC 8259, section 7). */
import { Text, TextBuilder } from "./text";

const BACKSLASH: u8 = 0x5c;
const LETTER_U: u8 = 0x75;
/** Replaces malformed characters. */
const REPLACEMENT: i32 = 0xfffd;

/**
 * Returns the text of a JSON string, given with its quotes. Half of a surrogate pair is U+FFFD, as in any text of the
 * gateway; with `keepsHalves`, it has bytes of its own, by which names can be compared.
 */
export function unescaped(json: Text, keepsHalves: bool = false): Text {
  const inner = json.slice(1, json.length - 1);
  if (inner.indexOf(BACKSLASH) < 0) return inner;
  const out = new TextBuilder(inner.length);
  for (let i = 0; i < inner.length; i++) {
    const byte = inner.byteAt(i);
    if (byte != BACKSLASH || i + 1 >= inner.length) {
      out.byte(byte);
      continue;
    }
    const letter = inner.byteAt(++i);
    if (letter == LETTER_U) {
      let code = hexOf(inner, i + 1);
      i += 4;
      if (code >= 0xd800 && code < 0xdc00) {
        const low = lowHalfAt(inner, i + 1);
        if (low > 0) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        }
      }
      if (code >= 0xd800 && code < 0xe000 && !keepsHalves) code = REPLACEMENT;
      addUtf8(out, code);
    } else if (letter == 0x6e) out.byte(0x0a);
    else if (letter == 0x74) out.byte(0x09);
    else if (letter == 0x72) out.byte(0x0d);
    else if (letter == 0x62) out.byte(0x08);
    else if (letter == 0x66) out.byte(0x0c);
    else out.byte(letter);
  }
  return out.take();
}

/** The second half of a surrogate pair, if it is escaped here; else 0. */
function lowHalfAt(text: Text, at: i32): i32 {
  if (at + 6 > text.length || text.byteAt(at) != BACKSLASH || text.byteAt(at + 1) != LETTER_U) return 0;
  const code = hexOf(text, at + 2);
  return code >= 0xdc00 && code < 0xe000 ? code : 0;
}

/** Four hexadecimal digits. */
function hexOf(text: Text, from: i32): i32 {
  let value = 0;
  for (let i = from; i < from + 4; i++) {
    const byte: u8 = i < text.length ? text.byteAt(i) | 0x20 : 0x30;
    value = (value << 4) | (byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : (byte - 0x10) & 15);
  }
  return value;
}

function addUtf8(out: TextBuilder, code: i32): void {
  if (code < 0x80) out.byte(<u8>code);
  else if (code < 0x800) out.byte(<u8>(0xc0 | (code >> 6))).byte(<u8>(0x80 | (code & 63)));
  else if (code < 0x10000) {
    out.byte(<u8>(0xe0 | (code >> 12))).byte(<u8>(0x80 | ((code >> 6) & 63))).byte(<u8>(0x80 | (code & 63)));
  } else {
    out.byte(<u8>(0xf0 | (code >> 18))).byte(<u8>(0x80 | ((code >> 12) & 63)));
    out.byte(<u8>(0x80 | ((code >> 6) & 63))).byte(<u8>(0x80 | (code & 63)));
  }
}
