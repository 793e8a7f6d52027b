/** The head of a frame (RFC 6455, section 5.2). */

export const FIN = 0x80;
export const MASK = 0x80;
export const CLOSE = 0x8;

/** Bytes of the head at `at`, as far as those that are there tell. */
export function headSize(bytes: Buffer, at: number, available: number): number {
  if (available < 2) return 2;
  const second = bytes[at + 1] as number;
  const short = second & 0x7f;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + ((second & MASK) !== 0 ? 4 : 0);
}

/** Bytes of the payload behind a head that is whole. */
export function payloadLength(bytes: Buffer, at: number): number {
  const short = (bytes[at + 1] as number) & 0x7f;
  return short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
}
