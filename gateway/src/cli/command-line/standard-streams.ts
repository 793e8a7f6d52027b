/** Standard input and output of a command line. */
import { readWhole } from '../../streams/read-whole.ts';

/** Reads standard input as a whole; rejects if it is too long. */
export function readStandardInput(input: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  return readWhole(input, most, () => new Error(`standard input is longer than ${most} bytes`));
}

/** Ends quietly when the reader of the output stops early, as `head` does. */
export function endOnBrokenPipe(streams: readonly NodeJS.WriteStream[], exit: (code: number) => void): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => exit(error.code === 'EPIPE' ? 0 : 1));
  }
}

/** Ends the process once all of its output has gone: a pipe takes 64 KiB at a time, and `process.exit` drops the rest. */
export function exitFlushed(
  streams: readonly NodeJS.WriteStream[],
  exit: (code: number) => void,
): (code: number) => void {
  return (code) => {
    let open = streams.length;
    for (const stream of streams) {
      stream.write('', () => {
        open--;
        if (open === 0) exit(code);
      });
    }
  };
}
