/**
 * SIGINT and SIGTERM until a command takes them over (docs/decisions.md#early-signals). A container's first process
 * ignores them without a handler: it would be killed at the end of the pod's grace period. So a program calls this
 * before anything else, and imports the rest dynamically, since static imports are loaded first.
 */
import { constants } from 'node:os';

export interface EarlySignals {
  /** Like `process.on`, in place of the default that ends the program. */
  onSignal(signal: NodeJS.Signals, listener: () => void): void;
  /**
   * Takes the signals over, for a command that has something to finish: resolves at the first SIGINT, SIGTERM or SIGHUP;
   * a second one ends the process at once.
   */
  stopped(): Promise<void>;
}

export function earlySignals(exit: (code: number) => void): EarlySignals {
  // Exit codes are those of shells. No work has begun that would have to be finished.
  const end = (signal: NodeJS.Signals) => exit(128 + constants.signals[signal]);
  process.on('SIGINT', end).on('SIGTERM', end);
  const onSignal = (signal: NodeJS.Signals, listener: () => void) => {
    process.on(signal, listener).off(signal, end);
  };
  let stopping: Promise<void> | undefined;
  const stopped = () => {
    stopping ??= new Promise((resolve) => {
      let asked = false;
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        onSignal(signal, () => {
          if (asked) exit(130);
          asked = true;
          resolve();
        });
      }
    });
    return stopping;
  };
  return { onSignal, stopped };
}
