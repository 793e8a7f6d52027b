/** Long bodies in pieces, so that a reader's progress shows between them, and no more of them waits than must. */
import type { Writable } from 'node:stream';

/** Bytes. */
const PIECE = 64 << 10;

/** Ends `sink` with the body; each piece is written when those before it have left. */
export function endInPieces(sink: Writable, body: Uint8Array): void {
  let at = 0;
  function next(): void {
    while (at + PIECE < body.length) {
      const goesOn = sink.write(body.subarray(at, at + PIECE));
      at += PIECE;
      if (!goesOn) return void sink.once('drain', next);
    }
    sink.end(body.subarray(at));
  }
  next();
}
