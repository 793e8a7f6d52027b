/** How long a stopping gateway accepts connections (docs/reference/gateway.md#drain, docs/decisions.md#drain-delay). */
import { longestDrain } from '../options/options.ts';

/** Milliseconds without a new connection after which no more are expected; `drainDelay` if that is shorter. */
const QUIET_MS = 2000;

/** Milliseconds by which a timer is late only if this process got no CPU, or had other work. */
const LATE_MS = 20;

/** Milliseconds in which connections are accepted that came while this process stood still. */
const CATCH_UP_MS = 100;

const timer = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits also until connections are accepted that came while this process stood still: timers run before them. */
async function sleep(ms: number): Promise<void> {
  for (let wait = ms; ; wait = CATCH_UP_MS) {
    const end = performance.now() + wait;
    await timer(wait);
    if (performance.now() - end < LATE_MS) return;
  }
}

export interface Drained {
  /** Milliseconds beyond the delay; 0 if no connection extended it. */
  readonly extraMs: number;
  /** Connections still arrived at the end. */
  readonly routed: boolean;
}

/**
 * Resolves after the delay, once no connection has come for a moment: load balancers may learn later than the delay
 * that this gateway stops. `lastConnection`: time of the latest one, as `performance.now()`.
 */
export async function drained(delayMs: number, lastConnection: () => number): Promise<Drained> {
  const begin = performance.now();
  const end = begin + longestDrain(delayMs);
  await sleep(delayMs);
  const waitedFrom = performance.now();
  for (let now = waitedFrom; ; now = performance.now()) {
    const quietMs = lastConnection() + Math.min(QUIET_MS, delayMs) - now;
    if (quietMs <= 0 || now >= end) {
      return { extraMs: now === waitedFrom ? 0 : now - begin - delayMs, routed: quietMs > 0 };
    }
    await sleep(Math.ceil(Math.min(quietMs, end - now)));
  }
}
