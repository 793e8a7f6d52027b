/** Frames for the engine: numbers of 32 bits (little-endian), texts with their length before them. */
export class FrameWriter {
  #bytes: Buffer;
  #length = 0;

  /** `room`: bytes that are expected. */
  constructor(room = 4096) {
    this.#bytes = Buffer.allocUnsafe(room);
  }

  number(value: number): this {
    this.#grow(4);
    this.#bytes.writeUInt32LE(value, this.#length);
    this.#length += 4;
    return this;
  }

  /** One byte for each character, as headers and targets have them. */
  text(value: string): this {
    this.number(value.length);
    this.#grow(value.length);
    this.#bytes.write(value, this.#length, 'latin1');
    this.#length += value.length;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.number(value.length);
    return this.raw(value);
  }

  /** Part of a frame, without a length before it. */
  raw(value: Uint8Array): this {
    this.#grow(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  /** Writes the number of members, and each. */
  list<T>(members: readonly T[], write: (member: T) => void): this {
    this.number(members.length);
    for (const member of members) write(member);
    return this;
  }

  /** Returns what has been written: a view. */
  taken(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + more));
    larger.set(this.taken());
    this.#bytes = larger;
  }
}
