/** Ends quietly when the reader of the output stops early, as `head` does. */
export function endOnBrokenPipe(streams: readonly NodeJS.WriteStream[], exit: (code: number) => void): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => exit(error.code === 'EPIPE' ? 0 : 1));
  }
}
