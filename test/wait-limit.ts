/** Milliseconds after which what a test waits for is taken not to come: generous, since only failures cost it. */
export const WAIT_LIMIT_MS = 120_000;
