import type { Steps } from '../gateway/src/scheduling/cooperative-scheduling.ts';

/** Does work that yields without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
