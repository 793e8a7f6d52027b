/** Writes for a client as fast as it takes the bytes. */
import type { Writable } from 'node:stream';

/** Reports that nobody waits for the bytes any more, as an `Exchange` does. */
interface Waiting {
  readonly closed: boolean;
  /** Returns the function that removes the listener. */
  onClose(listener: () => void): () => void;
}

/** Resolves when the sink takes more or has closed, or when nobody waits any more; `waiting`: default: always. */
export async function writeWithBackpressure(
  sink: Writable,
  bytes: Uint8Array | string,
  waiting: Waiting | null = null,
): Promise<void> {
  if (waiting?.closed || sink.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      sink.off('drain', go).off('close', go);
      withdraw();
      resolve();
    };
    let withdraw = () => {};
    sink.on('drain', go).on('close', go);
    if (waiting !== null) withdraw = waiting.onClose(go);
  });
}
