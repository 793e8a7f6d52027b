/**
 * The order in which calls that have used up a slice of CPU go on: first come, first served, one a turn of the event
 * loop. However many plugins burn their time at once, everything else waits for about one slice (D31).
 */
const waiting: (() => void)[] = [];
let head = 0;

/** Resolves when it is this call's turn again. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length - head === 1) setImmediate(turn);
  });
}

function turn(): void {
  const resume = waiting[head++];
  if (head === waiting.length) {
    waiting.length = 0;
    head = 0;
  } else {
    setImmediate(turn);
    if (head > 1024) {
      waiting.splice(0, head);
      head = 0;
    }
  }
  resume?.();
}
