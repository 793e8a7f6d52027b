/** Primitive types of Kafka's protocol (kafka.apache.org/protocol#protocol_types). */

/** Puts a request together. */
export class RequestWriter {
  readonly #parts: Buffer[] = [];

  int8(value: number): this {
    return this.#number(1, (bytes) => bytes.writeInt8(value));
  }

  int16(value: number): this {
    return this.#number(2, (bytes) => bytes.writeInt16BE(value));
  }

  int32(value: number): this {
    return this.#number(4, (bytes) => bytes.writeInt32BE(value));
  }

  int64(value: bigint): this {
    return this.#number(8, (bytes) => bytes.writeBigInt64BE(value));
  }

  text(value: string | null): this {
    if (value === null) return this.int16(-1);
    const bytes = Buffer.from(value);
    this.int16(bytes.length).#parts.push(bytes);
    return this;
  }

  bytes(value: Buffer): this {
    this.int32(value.length).#parts.push(value);
    return this;
  }

  list<T>(items: readonly T[], write: (item: T) => unknown): this {
    this.int32(items.length);
    for (const item of items) write(item);
    return this;
  }

  /** Returns all of it, with its length before it. */
  framed(): Buffer {
    const length = Buffer.alloc(4);
    length.writeInt32BE(this.#parts.reduce((sum, part) => sum + part.length, 0));
    return Buffer.concat([length, ...this.#parts]);
  }

  #number(size: number, write: (bytes: Buffer) => unknown): this {
    const bytes = Buffer.allocUnsafe(size);
    write(bytes);
    this.#parts.push(bytes);
    return this;
  }
}

/** Reads an answer of a broker that may lie. Throws RangeError past the end. */
export class AnswerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int8(): number {
    return this.#bytes.readInt8(this.#move(1));
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#move(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#move(4));
  }

  int64(): bigint {
    return this.#bytes.readBigInt64BE(this.#move(8));
  }

  /** Empty for null. */
  text(): string {
    return this.#slice(this.int16()).toString();
  }

  /** Empty for null. */
  bytes(): Buffer {
    return this.#slice(this.int32());
  }

  /** Empty for null. Each item has to have bytes. */
  list<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.int32(); left > 0; left--) {
      const before = this.#at;
      items.push(read());
      if (this.#at === before) throw new RangeError('a list has items without bytes');
    }
    return items;
  }

  skip(length: number): void {
    this.#move(length);
  }

  #slice(length: number): Buffer {
    if (length <= 0) return this.#bytes.subarray(0, 0);
    const at = this.#move(length);
    return this.#bytes.subarray(at, this.#at);
  }

  #move(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError('an answer is shorter than it says');
    return at;
  }
}
