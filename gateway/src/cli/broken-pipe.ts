/** Whoever reads the output may stop before its end, as `head` does: that is no failure. */
export function endOnBrokenPipe(streams: readonly NodeJS.WriteStream[], exit: (code: number) => void): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => exit(error.code === 'EPIPE' ? 0 : 1));
  }
}
