/** Reads the records of a batch (kafka.apache.org/documentation/#record). */

export interface KafkaRecord {
  readonly offset: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[];
}

/** Bytes of a varint of 32 and of 64 bits. */
const [INT_BYTES, LONG_BYTES] = [5, 10];

export class RecordReader {
  readonly #bytes: Buffer;
  readonly #offset: number;
  readonly #timestamp: number;
  #at = 0;

  /** `offset` and `timestamp` are those of the batch. */
  constructor(bytes: Buffer, offset: number, timestamp: number) {
    this.#bytes = bytes;
    this.#offset = offset;
    this.#timestamp = timestamp;
  }

  /** Throws if there is no whole record. */
  next(): KafkaRecord {
    const length = this.#varint(INT_BYTES);
    const end = this.#at + length;
    if (length < 1 || end > this.#bytes.length) throw new RangeError('a record is cut off');
    this.#at++;
    const timestamp = this.#timestamp + this.#varint(LONG_BYTES);
    const offset = this.#offset + this.#varint(INT_BYTES);
    const [key, value] = [this.#slice(), this.#slice()];
    const headers: [string, Buffer | null][] = [];
    for (let left = this.#varint(INT_BYTES); left > 0; left--)
      headers.push([String(this.#slice() ?? ''), this.#slice()]);
    if (this.#at > end) throw new RangeError('a record is longer than it says');
    this.#at = end;
    return { offset, timestamp, key, value, headers };
  }

  #slice(): Buffer | null {
    const length = this.#varint(INT_BYTES);
    if (length < 0) return null;
    const begin = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError('a record is cut off');
    return this.#bytes.subarray(begin, this.#at);
  }

  /** Zigzag; past 53 bits it is inexact, which times and offsets never are. */
  #varint(mostBytes: number): number {
    let value = 0;
    let unit = 1;
    for (let bytes = 0; bytes < mostBytes; bytes++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError('a record is cut off');
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      unit *= 128;
    }
    throw new RangeError('a number of a record is too long');
  }
}
