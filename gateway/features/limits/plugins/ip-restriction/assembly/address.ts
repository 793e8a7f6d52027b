/** IP addresses as 128 bits. IPv4 has the form that IPv6 maps it to, so that both spellings of one are the same. */
import { lowerByte } from "@gw/plugin-sdk/assembly";

/** The address that `parseAddress` has read last: kept here, since memory that it took would not be freed. */
export let high: u64 = 0;
export let low: u64 = 0;

/** Whether it is IPv4, or IPv4 mapped into IPv6 (RFC 4291, section 2.5.5.2). */
export function isIPv4(): bool {
  return high == 0 && low >>> 32 == 0xffff;
}

const COLON: u8 = 0x3a;
const DOT: u8 = 0x2e;
const GROUPS: usize = heap.alloc(16);

/** False if the text is not an address, has a zone, or is IPv4 with leading zeros, which readers differ on. */
export function parseAddress(ptr: usize, length: i32): bool {
  for (let i = 0; i < length; i++) if (load<u8>(ptr + i) == COLON) return parseIPv6(ptr, length);
  const address = parseIPv4(ptr, length);
  high = 0;
  low = 0xffff_0000_0000 | <u64>address;
  return address >= 0;
}

/** -1 if the text is not an IPv4 address. */
function parseIPv4(ptr: usize, length: i32): i64 {
  let address: i64 = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < length; i++) {
    const byte = load<u8>(ptr + i);
    if (byte == DOT) {
      if (digits == 0 || ++dots > 3) return -1;
      address = (address << 8) | octet;
      octet = digits = 0;
      continue;
    }
    if (byte < 0x30 || byte > 0x39 || (digits > 0 && octet == 0)) return -1;
    octet = octet * 10 + (byte - 0x30);
    digits++;
    if (octet > 255) return -1;
  }
  return dots == 3 && digits > 0 ? (address << 8) | octet : -1;
}

function parseIPv6(ptr: usize, end: i32): bool {
  let count = 0;
  let gap = -1;
  let at = 0;
  if (end >= 2 && load<u8>(ptr) == COLON) {
    if (load<u8>(ptr, 1) != COLON) return false;
    gap = 0;
    at = 2;
  }
  while (at < end) {
    if (count == 8) return false;
    const start = at;
    let group: i32 = 0;
    for (; at < end && at - start < 4; at++) {
      const digit = hexValue(load<u8>(ptr + at));
      if (digit < 0) break;
      group = (group << 4) | digit;
    }
    if (at == start) return false;
    if (at < end && load<u8>(ptr + at) == DOT) {
      const tail = count > 6 ? -1 : parseIPv4(ptr + start, end - start);
      if (tail < 0) return false;
      put(count++, <i32>(tail >>> 16));
      put(count++, <i32>(tail & 0xffff));
      break;
    }
    put(count++, group);
    if (at == end) break;
    if (load<u8>(ptr + at++) != COLON || at == end) return false;
    if (load<u8>(ptr + at) == COLON) {
      if (gap >= 0) return false;
      gap = count;
      at++;
    }
  }
  if (gap < 0 ? count != 8 : count > 7) return false;
  high = low = 0;
  const missing = 8 - count;
  for (let i = 0; i < 8; i++) {
    const index = gap < 0 || i < gap ? i : i < gap + missing ? -1 : i - missing;
    high = (high << 16) | (low >>> 48);
    low = (low << 16) | (index < 0 ? 0 : <u64>load<u16>(GROUPS + (<usize>index << 1)));
  }
  return true;
}

@inline function put(index: i32, group: i32): void {
  store<u16>(GROUPS + (<usize>index << 1), <u16>group);
}

/** -1 if the byte is not a hexadecimal digit. */
function hexValue(byte: u8): i32 {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = lowerByte(byte);
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
