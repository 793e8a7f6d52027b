/**
 * Reads the messages of a WebSocket out of its frames as they pass, without delaying them. Its input comes from a
 * FrameScanner: valid frames, whose heads are never cut.
 */
import { CLOSE, FIN, headSize, payloadLength } from '../../../../kit.ts';

const LEAST_HELD = 4096;

export interface EventReaderOptions {
  /** Bytes of a message; a larger one is not read. */
  readonly limit: number;
  message(payload: Buffer): void;
  tooLarge(): void;
}

/** Reads the frames of a server, which are unmasked. */
export class EventReader {
  readonly #options: EventReaderOptions;
  /** A message that came in pieces; as large as its received part, since each piece may be a byte. */
  #held: Buffer | null = null;
  #bytes = 0;
  #isTooLarge = false;
  /** Bytes left of the current frame. */
  #left = 0;
  #isData = false;
  #final = true;

  constructor(options: EventReaderOptions) {
    this.#options = options;
  }

  read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#left === 0) at += this.#begin(bytes, at);
      const end = at + Math.min(this.#left, bytes.length - at);
      this.#left -= end - at;
      const isWhole = this.#left === 0;
      if (this.#isData) this.#take(bytes.subarray(at, end), isWhole && this.#final);
      at = end;
    }
  }

  /** A frame begins: bytes of its head. */
  #begin(bytes: Buffer, at: number): number {
    const first = bytes[at] as number;
    this.#left = payloadLength(bytes, at);
    this.#isData = (first & 0x0f) < CLOSE;
    this.#final = (first & FIN) !== 0;
    return headSize(bytes, at, bytes.length - at);
  }

  #take(piece: Buffer, isLast: boolean): void {
    const { limit, message } = this.#options;
    if (this.#bytes + piece.length > limit) this.#drop();
    else if (!this.#isTooLarge) {
      if (isLast && this.#bytes === 0) message(piece);
      else if (piece.length > 0) this.#hold(piece);
    }
    if (!isLast) return;
    if (this.#bytes > 0) message((this.#held as Buffer).subarray(0, this.#bytes));
    this.#held = null;
    this.#bytes = 0;
    this.#isTooLarge = false;
  }

  #drop(): void {
    this.#held = null;
    this.#bytes = 0;
    if (!this.#isTooLarge) this.#options.tooLarge();
    this.#isTooLarge = true;
  }

  #hold(piece: Buffer): void {
    const bytes = this.#bytes + piece.length;
    if (this.#held === null || bytes > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#options.limit, Math.max(LEAST_HELD, 2 * bytes)));
      this.#held?.copy(larger, 0, 0, this.#bytes);
      this.#held = larger;
    }
    piece.copy(this.#held, this.#bytes);
    this.#bytes = bytes;
  }
}
