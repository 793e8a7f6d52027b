/** Exponential back-off with full jitter: the delay in milliseconds before attempt `n` (0 is the first retry). */
export function backoff(n: number, baseMs: number, maxMs: number, random: () => number = Math.random): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(n, 30));
  // Never below half: retries of a burst must spread, but not return at once.
  return ceiling / 2 + (ceiling / 2) * random();
}

/** Resolves after `ms`, or at once when the signal aborts. Does not hold the process. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
