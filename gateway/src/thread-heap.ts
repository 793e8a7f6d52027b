/** Limits of a worker thread's heap. */

/** Share of the process's memory: when memory runs out, the thread must end, and not the process. */
const SHARE = 1 / 2;

/** Returns MiB: as many as wanted, and at most half of the limit of the process's container, if it has one. */
export function threadHeapMb(wanted: number): number {
  // Without a limit it is 0, or more than any machine has.
  const bytes = process.constrainedMemory();
  return bytes > 0 ? Math.min(wanted, Math.floor((bytes * SHARE) / (1 << 20))) : wanted;
}
