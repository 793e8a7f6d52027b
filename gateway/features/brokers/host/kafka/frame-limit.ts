/**
 * Watches the frames of Kafka's protocol as they come: a length of four bytes, then so many, of which the first four
 * identify the request that is answered.
 */

/** Least bytes of a frame; the client library throws an uncaught error for a shorter answer. */
const LEAST = 4;

/** Bytes of one answer; the metadata of 100,000 partitions has some 5 MB. */
const MOST = 16 << 20;

export class FrameLimit {
  /** Frames that have begun. */
  frames = 0;
  readonly #length = Buffer.alloc(4);
  #have = 0;
  #left = 0;

  /** Returns false if a frame announces less than an answer has, or more than the client library may gather. */
  admits(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
        continue;
      }
      this.#length[this.#have++] = chunk[at++] as number;
      if (this.#have < 4) continue;
      this.#have = 0;
      this.frames++;
      this.#left = this.#length.readInt32BE(0);
      if (this.#left < LEAST || this.#left > MOST) return false;
    }
    return true;
  }
}
