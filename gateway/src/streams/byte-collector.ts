/** Bytes of a piece from which on it is kept as it came. */
export const SMALL_PIECE = 1024;
/** Bytes that small pieces are copied into at once, at least and at most. */
const LEAST_ROOM = 1024;
const MOST_ROOM = 64 << 10;

/**
 * Collects bytes that arrive in pieces. A Buffer takes some 140 bytes besides its content, so small pieces are copied
 * together: a million pieces of one byte take a megabyte, and not 140 of them.
 */
export class ByteCollector {
  #pieces: Uint8Array[] = [];
  /** Buffer into which small pieces are copied; null if there is no room to fill. */
  #room: Buffer | null = null;
  #filled = 0;
  #length = 0;

  /** Bytes. */
  get length(): number {
    return this.#length;
  }

  /** The piece must not change later. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    const isFirst = this.#length === 0;
    this.#length += piece.length;
    // The first piece is most often the only one.
    if (piece.length >= SMALL_PIECE || isFirst) {
      this.#closeRoom();
      this.#pieces.push(piece);
    } else this.#copy(piece);
  }

  #copy(piece: Uint8Array): void {
    if (this.#room !== null && this.#filled + piece.length > this.#room.length) this.#closeRoom();
    // Rooms grow with the content, so that few small pieces take little.
    this.#room ??= Buffer.allocUnsafeSlow(Math.min(MOST_ROOM, Math.max(LEAST_ROOM, this.#length)));
    this.#room.set(piece, this.#filled);
    this.#filled += piece.length;
  }

  #closeRoom(): void {
    if (this.#room !== null) this.#pieces.push(this.#room.subarray(0, this.#filled));
    this.#room = null;
    this.#filled = 0;
  }

  /** Takes the collected bytes, in pieces, and empties the collector. */
  take(): readonly Uint8Array[] {
    this.#closeRoom();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#length = 0;
    return pieces;
  }

  /** Takes the collected bytes, in one piece, and empties the collector. */
  takeWhole(): Buffer {
    const length = this.#length;
    const pieces = this.take();
    const [first] = pieces;
    if (pieces.length === 1 && first !== undefined) return asBuffer(first);
    return Buffer.concat(pieces, length);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
