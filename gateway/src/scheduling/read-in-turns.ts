/**
 * Reads a connection so that no peer takes a turn of the event loop for itself: 64 KiB hold 10,000 of the shortest
 * frames or lines, and one turn brings up to 32 such reads.
 */
import type { Duplex } from 'node:stream';

/** Bytes that are read at a time if each frame or line is costly. */
export const SLICE = 4 << 10;
/** Milliseconds of a connection in one turn of the event loop. */
const TURN_MS = 2;
/** Bytes that are worked through so quickly that they need no look at the clock. */
const SHORT = 1 << 10;

export interface TurnReading {
  /** Bytes that `read` gets at most. Default: all that has come. */
  readonly sliceBytes?: number;
  /** Processes a slice. It may pause the stream, and must then resume it. */
  read(slice: Buffer): void;
  /** Resumes the stream in the next turn, unless it waits for something else. */
  readOn(): void;
}

/** The stream flows when it is resumed. */
export function readInTurns(
  stream: Duplex,
  { sliceBytes = Number.POSITIVE_INFINITY, read, readOn }: TurnReading,
): void {
  let began: number | null = null;
  const endTurn = () => {
    began = null;
  };
  stream.on('data', (chunk: Buffer) => {
    if (began === null && chunk.length > SHORT) {
      began = performance.now();
      setImmediate(endTurn);
    }
    for (let at = 0; at < chunk.length; ) {
      read(at === 0 && chunk.length <= sliceBytes ? chunk : chunk.subarray(at, at + sliceBytes));
      at += sliceBytes;
      if (stream.destroyed) return;
      const isPaused = stream.isPaused();
      const isOver = began !== null && performance.now() - began > TURN_MS;
      if (!isOver && !isPaused) continue;
      stream.pause();
      if (at < chunk.length) stream.unshift(chunk.subarray(at));
      if (!isPaused) setImmediate(readOn);
      return;
    }
  });
}

/** Yields slices of a chunk, in turns. The caller has processed a slice when it takes the next. */
export async function* slicesInTurns(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  let began = performance.now();
  for (let at = 0; at < chunk.length; at += SLICE) {
    if (performance.now() - began > TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    }
    yield chunk.subarray(at, at + SLICE);
  }
}
