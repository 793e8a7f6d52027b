/**
 * Reads a connection so that no peer takes a turn of the event loop for itself: 64 KiB hold 10,000 of the shortest
 * frames or lines, and one read brings them all.
 */

/** Bytes that are read at a time. */
const SLICE = 4 << 10;
/** Milliseconds of a connection in one turn of the event loop. */
const TURN_MS = 2;

/** Slices of a chunk, in turns. Whoever takes one has worked it through when it takes the next. */
export async function* slicesInTurns(chunk: Buffer): AsyncGenerator<Buffer> {
  let began = performance.now();
  for (let at = 0; at < chunk.length; at += SLICE) {
    if (performance.now() - began > TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    }
    yield chunk.subarray(at, at + SLICE);
  }
}
