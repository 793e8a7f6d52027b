/**
 * Fragments that are sought in a text, whatever their number and the text: sorted, and none the beginning of another
 * (what holds the longer one holds the shorter, too). So at each place of the text only one can match, the last that
 * does not sort behind it.
 */
import { Config, Text } from "@gw/plugin-sdk/assembly";

@unmanaged
export class Fragments {
  constructor(
    private sorted: StaticArray<Text>,
    private count: i32,
    /** Bytes that fragments begin with, as 256 flags. */
    private begins: usize,
  ) {}

  static none(): Fragments {
    return new Fragments(new StaticArray<Text>(0), 0, 0);
  }

  /** The array of strings at a pointer of the config, in lower case. */
  static read(pointer: string): Fragments {
    const list = Config.list(pointer);
    for (let i = 0; i < list.length; i++) insert(list, i, list[i].lower());
    const begins = heap.alloc(256);
    memory.fill(begins, 0, 256);
    let count = 0;
    for (let i = 0; i < list.length; i++) {
      if (list[i].isEmpty || (count > 0 && list[i].startsWith(list[count - 1]))) continue;
      list[count++] = list[i];
      store<u8>(begins + list[i].byteAt(0), 1);
    }
    return new Fragments(list, count, begins);
  }

  get isEmpty(): bool {
    return this.count == 0;
  }

  /** Whether any of them is part of a text, which is in lower case. */
  anyIn(text: Text): bool {
    if (this.count == 0) return false;
    for (let i = 0; i < text.length; i++) {
      if (load<u8>(this.begins + text.byteAt(i)) != 0 && this.anyAt(text.ptr + i, text.length - i)) return true;
    }
    return false;
  }

  private anyAt(ptr: usize, length: i32): bool {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const middling = this.sorted[middle];
      if (order(middling.ptr, middling.length, ptr, length) <= 0) low = middle + 1;
      else high = middle;
    }
    if (low == 0) return false;
    const last = this.sorted[low - 1];
    return last.length <= length && memory.compare(last.ptr, ptr, last.length) == 0;
  }
}

/** Puts a text in its place among the first `count` of a list, which are sorted. */
function insert(list: StaticArray<Text>, count: i32, text: Text): void {
  let at = count;
  for (; at > 0 && order(text.ptr, text.length, list[at - 1].ptr, list[at - 1].length) < 0; at--) list[at] = list[at - 1];
  list[at] = text;
}

/** Less than 0, 0 or more, as the first sorts before, with or behind the second. */
function order(a: usize, aLength: i32, b: usize, bLength: i32): i32 {
  const differs = memory.compare(a, b, min(aLength, bLength));
  return differs != 0 ? differs : aLength - bLength;
}
