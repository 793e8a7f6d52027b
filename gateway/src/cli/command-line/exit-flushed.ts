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
