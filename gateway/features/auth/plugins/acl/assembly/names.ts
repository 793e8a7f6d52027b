/** Sets of names as they stand in `x-auth-*` headers. */
import { addGroup, Config, encodedName, Text, TextBuilder } from "@gw/plugin-sdk/assembly";

const COMMA: u8 = 0x2c;

@unmanaged
export class Names {
  constructor(private names: StaticArray<Text>) {}

  static none(): Names {
    return new Names(new StaticArray<Text>(0));
  }

  /**
   * The array of strings at a pointer of the config, encoded as `x-auth-consumer` is, or as a member of
   * `x-auth-consumer-groups`. Decoding the headers instead would take a group that is called `%61dmin` for `admin`.
   */
  static read(pointer: string, inList: bool): Names {
    const list = Config.list(pointer);
    for (let i = 0; i < list.length; i++) list[i] = inAscii(inList ? member(list[i]) : encodedName(list[i]));
    return new Names(list);
  }

  get isEmpty(): bool {
    return this.names.length == 0;
  }

  has(name: Text): bool {
    for (let i = 0; i < this.names.length; i++) if (this.names[i].equals(name)) return true;
    return false;
  }

  /** Whether any of a list separated by commas is among them. */
  hasAny(list: Text): bool {
    if (this.names.length == 0) return false;
    let start = 0;
    while (start <= list.length) {
      const comma = list.indexOf(COMMA, start);
      const end = comma < 0 ? list.length : comma;
      if (this.has(list.slice(start, end).trim())) return true;
      start = end + 1;
    }
    return false;
  }
}

function member(name: Text): Text {
  const out = new TextBuilder(64);
  addGroup(out, name);
  return out.take();
}

/** As the host has it in a header: percent-encoded beyond printable ASCII. */
function inAscii(name: Text): Text {
  const out = new TextBuilder(64);
  for (let i = 0; i < name.length; i++) {
    const byte = name.byteAt(i);
    if (byte >= 0x20 && byte <= 0x7e) out.byte(byte);
    else out.percent(byte);
  }
  return out.take();
}
