/** Counts the DATA frames of HTTP/2 streams that carry next to nothing: each costs a thousand times its length. */
import type { Readable } from 'node:stream';

/** Bytes below which a frame is tiny. */
const TINY = 64;
/** Tiny frames that may come at once, and how many a second gives back. */
const BURST = 4000;
const PER_SECOND = 2000;

/** Tiny frames of a connection, or of a stream. */
export class TinyFrames {
  #left = BURST;
  #at = performance.now();

  /** Returns false if there were too many lately. */
  take(): boolean {
    this.#left--;
    if (this.#left >= 0) return true;
    const now = performance.now();
    this.#left += Math.min(BURST, ((now - this.#at) / 1000) * PER_SECOND);
    this.#at = now;
    return this.#left >= 0;
  }
}

/**
 * Calls `tooMany` when a stream has had more tiny frames than `frames` admits. The stream is destroyed then: the rest
 * of its body must not look whole.
 */
export function countTinyFrames(stream: Readable, frames: TinyFrames, tooMany: () => void): void {
  const push = stream.push;
  // A listener for "data" would begin to read the stream before its reader is there.
  stream.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk !== null && chunk.length < TINY && !frames.take()) {
      if (!stream.destroyed) tooMany();
      stream.destroy(new Error('too many tiny frames'));
      return false;
    }
    return push.call(stream, chunk, encoding);
  };
}
