/** Queries of URLs: `name=value` pairs joined by `&`, encoded as forms are. */
import { isUtf8 } from "./base64";
import { formDecode, percentEncode } from "./percent";
import { EMPTY, Text, TextBuilder } from "./text";

const AMPERSAND: u8 = 0x26;
const EQUALS: u8 = 0x3d;
const PLUS: u8 = 0x2b;

/**
 * A query, without `?`. `Request.queryParam` reads that of the request; this is for other URLs, such as `Location`.
 *
 * @example
 * const query = new Query(text("page=1&sort=name"));
 * const page = query.get(text("page")); // 1
 * const next = query.set(text("page"), text("2")).take(); // sort=name&page=2
 */
export class Query {
  /** `pairs`: a query without `?`. */
  constructor(private pairs: Text = EMPTY) {}

  /** Returns the first value of a parameter, decoded, or unchanged if its encoding is malformed; null if absent. */
  get(name: Text): Text | null {
    for (let at = 0; at < this.pairs.length; ) {
      const pair = this.pairAt(at);
      if (isNamed(pair, name)) {
        const equals = pair.indexOf(EQUALS);
        return equals < 0 ? EMPTY : lenient(pair.slice(equals + 1));
      }
      at += pair.length + 1;
    }
    return null;
  }

  /** Returns true if there is a parameter of this name. */
  has(name: Text): bool {
    return this.get(name) !== null;
  }

  /** Adds a parameter behind the others; both parts are encoded. */
  add(name: Text, value: Text): Query {
    const out = new TextBuilder(this.pairs.length + name.length + value.length + 32).add(this.pairs);
    if (out.length > 0) out.byte(AMPERSAND);
    this.pairs = out.add(percentEncode(name)).byte(EQUALS).add(percentEncode(value)).take();
    return this;
  }

  /** Removes all parameters of a name; the others stay byte for byte. */
  remove(name: Text): Query {
    const out = new TextBuilder(this.pairs.length);
    let isFirst = true;
    for (let at = 0; at <= this.pairs.length; ) {
      const pair = this.pairAt(at);
      at += pair.length + 1;
      if (isNamed(pair, name)) continue;
      if (!isFirst) out.byte(AMPERSAND);
      isFirst = false;
      out.add(pair);
    }
    this.pairs = out.take();
    return this;
  }

  /** Removes all parameters of a name, and adds one. */
  set(name: Text, value: Text): Query {
    return this.remove(name).add(name, value);
  }

  /** The query, without `?`. */
  take(): Text {
    return this.pairs;
  }

  private pairAt(at: i32): Text {
    const end = this.pairs.indexOf(AMPERSAND, at);
    return this.pairs.slice(at, end < 0 ? this.pairs.length : end);
  }
}

function isNamed(pair: Text, name: Text): bool {
  const equals = pair.indexOf(EQUALS);
  if (pair.isEmpty) return false;
  return lenient(equals < 0 ? pair : pair.slice(0, equals)).equals(name);
}

/** Returns malformed encodings unchanged, except for `+`, as in `Request.queryParam`. */
function lenient(encoded: Text): Text {
  const value = formDecode(encoded);
  if (value && isUtf8(value)) return value;
  const out = new TextBuilder(encoded.length);
  for (let i = 0; i < encoded.length; i++) out.byte(encoded.byteAt(i) == PLUS ? 0x20 : encoded.byteAt(i));
  return out.take();
}
