/** What tests wait for is a condition, and how long they do is said in one place: machines stand still for seconds. */
import { setTimeout as pause } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from './wait-limit.ts';

/** Milliseconds between looks: so many times what a look takes, that waiting costs no more than what is waited for. */
const TIMES = 4;
const [LEAST_MS, MOST_MS] = [25, 1000];

/** Looks again until `look` does not throw, nor is `false`: what it returns. What it threw last is the failure. */
export async function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const from = performance.now();
    try {
      const seen = await look();
      if (seen === false) throw new Error(`it does not hold: ${look}`);
      return seen;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await pause(Math.min(MOST_MS, Math.max(LEAST_MS, TIMES * (performance.now() - from))));
  }
}
