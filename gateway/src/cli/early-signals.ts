/**
 * SIGINT and SIGTERM until a command takes them over (docs/decisions.md#early-signals). A container's first process that
 * has no handler does not hear them: it would be killed at the end of the pod's grace period. So a program imports this
 * before anything else, and the rest dynamically, since static imports are loaded first.
 */
import { constants } from 'node:os';

type Ending = 'SIGINT' | 'SIGTERM';

const handlers = (['SIGINT', 'SIGTERM'] as const).map((signal): readonly [Ending, () => void] => {
  // As shells have it. Nothing has begun that would have to be finished.
  const end = () => process.exit(128 + constants.signals[signal]);
  process.on(signal, end);
  return [signal, end];
});

/** As `process.on`, in place of what ended the program until now. */
export function onSignal(signal: NodeJS.Signals, listener: () => void): void {
  process.on(signal, listener);
  for (const [early, end] of handlers) if (early === signal) process.off(early, end);
}

let stopping: Promise<void> | undefined;

/**
 * Takes the signals over, for a command that has something to finish: resolves at the first SIGINT, SIGTERM or SIGHUP; a
 * second one ends the process at once.
 */
export function stopped(): Promise<void> {
  stopping ??= new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      onSignal(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        resolve();
      });
    }
  });
  return stopping;
}
