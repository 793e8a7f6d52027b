/**
 * CPU time that plugins have in a turn of the event loop, all of them together: about one slice
 * (docs/decisions.md#slices-shared). Calls that find it spent wait, and go on first come, first served.
 */

/** Milliseconds. */
export const SLICE_MS = 1;
/** Milliseconds; shorter calls are not counted, and cost nothing to count. */
const NOTABLE_MS = 0.05;

const waiting: (() => void)[] = [];
let head = 0;
/** In this turn. */
let spentMs = 0;
let scheduled = false;

/** Reports whether this turn's time is spent, with `more` milliseconds that are not counted yet. */
export function isSpent(more: number): boolean {
  return spentMs + more >= SLICE_MS;
}

/** Reports whether a call that is known to take long has to wait before it begins. */
export function isBusy(): boolean {
  return waiting.length > head || isSpent(0);
}

/** Work for a call that goes on took so many milliseconds: an instance was made. */
export function account(ms: number): void {
  if (ms < NOTABLE_MS) return;
  spentMs += ms;
  schedule();
}

/** A call has run for so many milliseconds, and has ended or waits: if there is time left, it is the next one's. */
export function spend(ms: number): void {
  account(ms);
  if (waiting.length > head && !isSpent(0)) resumeOne();
}

/** Resolves when it is this call's turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setImmediate(turn);
}

function turn(): void {
  scheduled = false;
  spentMs = 0;
  resumeOne();
  if (waiting.length > head) schedule();
}

function resumeOne(): void {
  const resume = waiting[head++];
  if (head >= waiting.length) {
    waiting.length = 0;
    head = 0;
  } else if (head > 1024) {
    waiting.splice(0, head);
    head = 0;
  }
  resume?.();
}
