/** Puts the frames of Kafka's protocol together: a length of four bytes, then so many. */

const LENGTH_BYTES = 4;
/** Least bytes of an answer: the number of the request that it belongs to. */
const LEAST = 4;
/** Bytes of one answer; the metadata of 100,000 partitions has some 5 MB. */
const MOST = 16 << 20;

export class Frames {
  readonly #awaited: () => boolean;
  readonly #length = Buffer.alloc(LENGTH_BYTES);
  /** Bytes of the length that have come. */
  #have = 0;
  #parts: Buffer[] = [];
  /** Bytes of the frame that are yet to come. */
  #left = 0;

  /** `awaited`: reports, before a frame is gathered, whether one is expected. */
  constructor(awaited: () => boolean) {
    this.#awaited = awaited;
  }

  /** Returns the frames that the chunk completes, without their lengths. Throws if a frame is not one of an answer. */
  *add(chunk: Buffer): Generator<Buffer> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left === 0) {
        this.#length[this.#have++] = chunk[at++] as number;
        if (this.#have === LENGTH_BYTES) this.#begin();
        continue;
      }
      const part = chunk.subarray(at, at + this.#left);
      this.#parts.push(part);
      this.#left -= part.length;
      at += part.length;
      if (this.#left > 0) continue;
      const frame = this.#parts.length === 1 ? part : Buffer.concat(this.#parts);
      this.#parts = [];
      yield frame;
    }
  }

  #begin(): void {
    this.#have = 0;
    const length = this.#length.readInt32BE(0);
    if (length < LEAST || length > MOST) throw new Error('an answer of the broker is too large');
    if (!this.#awaited()) throw new Error('the broker answers more than it is asked');
    this.#left = length;
  }
}
