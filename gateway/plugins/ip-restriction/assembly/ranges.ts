/** Lists of addresses and CIDR ranges, flat in memory. */
import { Text } from "@gw/plugin-sdk/assembly";
import { Address, parseAddress } from "./address";

/** Bytes of a range: the masked address and the mask, of two words each, and the address family. */
const SIZE: usize = 40;

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

  /** Takes in `10.0.0.0/8`, or one address; false for what is neither. There must be room. */
  add(text: Text): bool {
    const slash = text.indexOf(0x2f);
    const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
    if (!address) return false;
    const writtenAsIPv4 = text.indexOf(0x3a) < 0;
    const most = writtenAsIPv4 ? 32 : 128;
    let bits = slash < 0 ? most : prefixLength(text.slice(slash + 1));
    if (bits < 0 || bits > most) return false;
    if (writtenAsIPv4) bits += 96;

    const high = bits >= 64 ? u64.MAX_VALUE : leading(bits);
    const low = bits <= 64 ? 0 : leading(bits - 64);
    const at = this.ptr + <usize>this.count * SIZE;
    store<u64>(at, address.high & high);
    store<u64>(at, address.low & low, 8);
    store<u64>(at, high, 16);
    store<u64>(at, low, 24);
    store<u64>(at, address.isIPv4 && bits >= 96 ? 1 : 0, 32);
    this.count++;
    return true;
  }

  /** A range of IPv6, `::/0` too, has no IPv4 in it. */
  has(address: Address): bool {
    const family: u64 = address.isIPv4 ? 1 : 0;
    const end = this.ptr + <usize>this.count * SIZE;
    for (let at = this.ptr; at < end; at += SIZE) {
      const differs =
        ((address.high & load<u64>(at, 16)) ^ load<u64>(at)) | ((address.low & load<u64>(at, 24)) ^ load<u64>(at, 8));
      if (differs == 0 && family == load<u64>(at, 32)) return true;
    }
    return false;
  }
}

/** A word whose first `bits` are set: 0 to 64. */
function leading(bits: i32): u64 {
  return bits == 0 ? 0 : u64.MAX_VALUE << (64 - bits);
}

/** -1 for what is no number of up to three digits. */
function prefixLength(text: Text): i32 {
  if (text.length == 0 || text.length > 3) return -1;
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const byte = text.byteAt(i);
    if (byte < 0x30 || byte > 0x39) return -1;
    bits = bits * 10 + (byte - 0x30);
  }
  return bits;
}
