/** Percent-encoding (RFC 3986, section 2.1) and the encoding of forms, which queries use. */
import { Text, TextBuilder } from "./text";

const PERCENT: u8 = 0x25;
const PLUS: u8 = 0x2b;

/** Returns true for letters, digits and `-._~`, which mean the same encoded or not. */
@inline export function isUnreserved(byte: u8): bool {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte == 0x2d || byte == 0x2e || byte == 0x5f || byte == 0x7e;
}

/**
 * Encodes everything but letters, digits and `-._~`, for one segment of a path, or one name or value of a query.
 *
 * @example percentEncode(text("a/b c")) // a%2Fb%20c
 */
export function percentEncode(value: Text): Text {
  const out = new TextBuilder(value.length + 32);
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (isUnreserved(byte)) out.byte(byte);
    else out.percent(byte);
  }
  return out.take();
}

/**
 * Decodes `%XX`. Returns null if a percent sign is not followed by two hexadecimal digits. The result may hold any byte:
 * check it with `isUtf8` before you put it into JSON.
 *
 * @example percentDecode(text("a%2Fb+c")) // a/b+c
 */
export function percentDecode(value: Text): Text | null {
  return decoded(value, false);
}

/**
 * Decodes a name or value of a query as forms encode it: `+` is a space. Returns null as `percentDecode` does.
 *
 * @example
 * const name = formDecode(text("Ann+Lee%21")); // Ann Lee!
 */
export function formDecode(value: Text): Text | null {
  return decoded(value, true);
}

function decoded(value: Text, plusIsSpace: bool): Text | null {
  if (value.indexOf(PERCENT) < 0 && (!plusIsSpace || value.indexOf(PLUS) < 0)) return value;
  const out = new TextBuilder(value.length);
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (byte == PLUS && plusIsSpace) out.byte(0x20);
    else if (byte != PERCENT) out.byte(byte);
    else {
      if (i + 2 >= value.length) return null;
      const high = hexValue(value.byteAt(i + 1));
      const low = hexValue(value.byteAt(i + 2));
      if (high < 0 || low < 0) return null;
      out.byte(<u8>((high << 4) | low));
      i += 2;
    }
  }
  return out.take();
}

/** Value of a hexadecimal digit, or -1. */
export function hexValue(byte: u8): i32 {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter: u8 = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
