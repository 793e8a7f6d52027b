/**
 * A body in chunks that are signed each (`aws-chunked`, STREAMING-AWS4-HMAC-SHA256-PAYLOAD): a body streamed to a store
 * in plaintext arrives whole and unchanged, without being held in memory.
 */
import { createHash } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';

const CHUNK_BYTES = 65_536;
const EXTENSION = ';chunk-signature=';
const SIGNATURE = 64;
/** Line ends behind size and data. */
const LINE_ENDS = 4;

/** Bytes that a body of this length has in chunks. */
export function chunkedLength(length: number): number {
  const rest = length % CHUNK_BYTES;
  const whole = (length - rest) / CHUNK_BYTES;
  return whole * framed(CHUNK_BYTES) + (rest === 0 ? 0 : framed(rest)) + framed(0);
}

function framed(length: number): number {
  return length.toString(16).length + EXTENSION.length + SIGNATURE + LINE_ENDS + length;
}

/** The signature of a chunk by its SHA-256 and the signature of the chunk before it, all in hex. */
export type SignChunk = (digest: string, before: string) => Promise<string>;

export class SignedChunks extends Transform {
  readonly #sign: SignChunk;
  /** Signature of the previous chunk, or of the request. */
  #signature: string;
  /** Pieces of the chunk that is not full yet; never copied into one. */
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(seed: string, sign: SignChunk) {
    super();
    this.#signature = seed;
    this.#sign = sign;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#add(piece).then(() => done(), done);
  }

  override _flush(done: TransformCallback): void {
    this.#end().then(() => done(), done);
  }

  async #add(piece: Buffer): Promise<void> {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + CHUNK_BYTES - this.#bytes);
      at += part.length;
      this.#pieces.push(part);
      this.#bytes += part.length;
      if (this.#bytes === CHUNK_BYTES) await this.#send();
    }
  }

  async #end(): Promise<void> {
    if (this.#bytes > 0) await this.#send();
    // One without data is the last.
    await this.#send();
  }

  async #send(): Promise<void> {
    const pieces = this.#pieces;
    const size = this.#bytes.toString(16);
    this.#pieces = [];
    this.#bytes = 0;
    const digest = createHash('sha256');
    for (const piece of pieces) digest.update(piece);
    this.#signature = await this.#sign(digest.digest('hex'), this.#signature);
    this.push(`${size}${EXTENSION}${this.#signature}\r\n`);
    for (const piece of pieces) this.push(piece);
    this.push('\r\n');
  }
}
