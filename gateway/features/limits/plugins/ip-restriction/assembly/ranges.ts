/**
 * Lists of addresses and CIDR ranges, flat in memory. Of two ranges either one is in the other or they have nothing in
 * common; so once they are sorted and those within others left out, only the last that does not begin behind an address
 * can have it.
 */
import { Text } from "@gw/plugin-sdk/assembly";
import { high as addressHigh, isIPv4, low as addressLow, parseAddress } from "./address";

/** Bytes of a range: address family, masked address and mask, the latter two of two words each. */
const SIZE: usize = 40;
const HIGH: usize = 8;
const LOW: usize = 16;
const MASK_HIGH: usize = 24;
const MASK_LOW: usize = 32;

@unmanaged
export class Ranges {
  private ptr: usize;
  private count: i32;

  constructor(room: i32) {
    this.ptr = heap.alloc(<usize>room * SIZE);
    this.count = 0;
  }

  get isEmpty(): bool {
    return this.count == 0;
  }

  /** Takes in `10.0.0.0/8`, or one address; false for what is neither. There must be room; `sort` follows the last. */
  add(text: Text): bool {
    const slash = text.indexOf(0x2f);
    if (!parseAddress(text.ptr, slash < 0 ? text.length : slash)) return false;
    const writtenAsIPv4 = text.indexOf(0x3a) < 0;
    const most = writtenAsIPv4 ? 32 : 128;
    let bits = slash < 0 ? most : prefixLength(text, slash + 1);
    if (bits < 0 || bits > most) return false;
    if (writtenAsIPv4) bits += 96;

    const high = bits >= 64 ? u64.MAX_VALUE : leading(bits);
    const low = bits <= 64 ? 0 : leading(bits - 64);
    const at = this.at(this.count++);
    store<u64>(at, isIPv4() && bits >= 96 ? 4 : 6);
    store<u64>(at, addressHigh & high, HIGH);
    store<u64>(at, addressLow & low, LOW);
    store<u64>(at, high, MASK_HIGH);
    store<u64>(at, low, MASK_LOW);
    return true;
  }

  @inline private at(index: i32): usize {
    return this.ptr + <usize>index * SIZE;
  }

  /** Makes it ready for `has`. */
  sort(): void {
    // A heap, the largest first; then each in turn to its end. In place, since memory is not freed.
    for (let i = this.count / 2 - 1; i >= 0; i--) this.sink(i, this.count);
    for (let end = this.count - 1; end > 0; end--) {
      this.swap(0, end);
      this.sink(0, end);
    }
    let kept = 0;
    for (let i = 0; i < this.count; i++) {
      const range = this.at(i);
      const before = this.at(kept - 1);
      if (kept > 0 && load<u64>(before) == load<u64>(range) && matches(before, load<u64>(range, HIGH), load<u64>(range, LOW))) continue;
      memory.copy(this.at(kept++), range, SIZE);
    }
    this.count = kept;
  }

  private sink(from: i32, end: i32): void {
    let parent = from;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= end) return;
      if (child + 1 < end && compareRanges(this.at(child), this.at(child + 1)) < 0) child++;
      if (compareRanges(this.at(parent), this.at(child)) >= 0) return;
      this.swap(parent, child);
      parent = child;
    }
  }

  private swap(a: i32, b: i32): void {
    const one = this.at(a);
    const other = this.at(b);
    for (let word: usize = 0; word < SIZE; word += 8) {
      const value = load<u64>(one + word);
      store<u64>(one + word, load<u64>(other + word));
      store<u64>(other + word, value);
    }
  }

  /** Whether it has the address that was parsed last. A range of IPv6, `::/0` too, has no IPv4 in it. */
  has(): bool {
    const family: u64 = isIPv4() ? 4 : 6;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (beginsBehind(this.at(middle), family)) high = middle;
      else low = middle + 1;
    }
    if (low == 0) return false;
    const range = this.at(low - 1);
    return load<u64>(range) == family && matches(range, addressHigh, addressLow);
  }
}

/** Whether a range begins behind the address that was parsed last. */
function beginsBehind(range: usize, family: u64): bool {
  const its = load<u64>(range);
  if (its != family) return its > family;
  const high = load<u64>(range, HIGH);
  return high != addressHigh ? high > addressHigh : load<u64>(range, LOW) > addressLow;
}

@inline function matches(range: usize, high: u64, low: u64): bool {
  return (
    (((high & load<u64>(range, MASK_HIGH)) ^ load<u64>(range, HIGH)) | ((low & load<u64>(range, MASK_LOW)) ^ load<u64>(range, LOW))) == 0
  );
}

/** By address; of two that begin alike, the larger range first. */
function compareRanges(a: usize, b: usize): i32 {
  for (let word: usize = 0; word < SIZE; word += 8) {
    const one = load<u64>(a + word);
    const other = load<u64>(b + word);
    if (one != other) return one < other ? -1 : 1;
  }
  return 0;
}

/** A word whose first `bits` are set: 0 to 64. */
function leading(bits: i32): u64 {
  return bits == 0 ? 0 : u64.MAX_VALUE << (64 - bits);
}

/** The number at the end of a text; -1 if it is not a number of one to three digits. */
function prefixLength(text: Text, from: i32): i32 {
  const digits = text.length - from;
  if (digits == 0 || digits > 3) return -1;
  let bits = 0;
  for (let i = from; i < text.length; i++) {
    const byte = text.byteAt(i);
    if (byte < 0x30 || byte > 0x39) return -1;
    bits = bits * 10 + (byte - 0x30);
  }
  return bits;
}
