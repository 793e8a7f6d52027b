import type { Writable } from 'node:stream';

/**
 * Resolves when a full stream takes more, or has closed. `orWhen`: another reason to stop waiting; it subscribes
 * `resume` to that, and returns the function that cancels the subscription.
 */
export function waitForDrain(
  sink: Writable,
  orWhen: (resume: () => void) => () => void = () => () => {},
): Promise<void> {
  return new Promise((resolve) => {
    let cancel = () => {};
    const resume = () => {
      sink.off('drain', resume).off('close', resume);
      cancel();
      resolve();
    };
    sink.on('drain', resume).on('close', resume);
    cancel = orWhen(resume);
  });
}
