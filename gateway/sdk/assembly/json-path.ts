/** JSON pointers (RFC 6901) as a chain of their tokens; in a path, `*` stands for every element and member. */
import { Text, TextBuilder } from "./text";

const SLASH: u8 = 0x2f;
const TILDE: u8 = 0x7e;
const STAR: u8 = 0x2a;

@unmanaged
export class JsonPath {
  /** The element of a list that the token names, or -1. */
  index: i32;

  private constructor(
    /** The token, unescaped. */
    public name: Text,
    /** Any element or member. */
    public isAny: bool,
    public rest: JsonPath | null,
  ) {
    this.index = indexOf(name);
  }

  /** Null for the empty pointer, which names the whole value. Without `hasAny`, `*` is a name like others. */
  static parse(path: Text, hasAny: bool): JsonPath | null {
    let rest: JsonPath | null = null;
    let end = path.length;
    for (let at = path.length - 1; at >= 0; at--) {
      if (path.byteAt(at) != SLASH) continue;
      const token = path.slice(at + 1, end);
      rest = new JsonPath(unescapedToken(token), hasAny && token.length == 1 && token.byteAt(0) == STAR, rest);
      end = at;
    }
    return rest;
  }
}

/** Digits without leading zeros (RFC 6901, section 4). */
function indexOf(token: Text): i32 {
  if (token.isEmpty || token.length > 9 || (token.length > 1 && token.byteAt(0) == 0x30)) return -1;
  let index = 0;
  for (let i = 0; i < token.length; i++) {
    const byte = token.byteAt(i);
    if (byte < 0x30 || byte > 0x39) return -1;
    index = index * 10 + <i32>(byte - 0x30);
  }
  return index;
}

function unescapedToken(token: Text): Text {
  if (token.indexOf(TILDE) < 0) return token;
  const out = new TextBuilder(token.length);
  for (let i = 0; i < token.length; i++) {
    if (token.byteAt(i) != TILDE || i + 1 == token.length) out.byte(token.byteAt(i));
    else out.byte(token.byteAt(++i) == 0x31 ? SLASH : TILDE);
  }
  return out.take();
}
