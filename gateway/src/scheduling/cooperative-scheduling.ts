/** Work that may be long, such as matching many patterns: it takes turns with other requests. */

/** Milliseconds without a pause. */
const TURN_MS = 5;

/** Work that yields if it can pause. */
export type Steps<T> = Generator<undefined, T>;

/** Returns at once if the work is quick. `steps` yields if it can pause; it stops there once `wanted` returns false. */
export function inTurns<T>(steps: Steps<T>, wanted: () => boolean): T | Promise<T> {
  const from = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - from > TURN_MS) return later(steps, wanted);
  }
}

async function later<T>(steps: Steps<T>, wanted: () => boolean): Promise<T> {
  await new Promise((resolve) => setImmediate(resolve));
  if (!wanted()) throw new Error('nobody waits for it any more');
  return inTurns(steps, wanted);
}

/** For work that goes on piece by piece, and may never wait for anything by itself. */
export class Turns {
  #from = performance.now();

  /** Between two pieces: others have their turn, if it was this one's for long. */
  async next(): Promise<void> {
    if (performance.now() - this.#from < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#from = performance.now();
  }
}
