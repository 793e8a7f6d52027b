/** Calls under way of clients with sessions, so that they can be cancelled. */
import type { RpcId } from './protocol/json-rpc.ts';

export class CallsUnderWay {
  readonly #calls = new Map<string, () => void>();

  /** Returns the function that takes it back. */
  add(session: string, id: RpcId, cancel: () => void): () => void {
    const key = keyOf(session, id);
    this.#calls.set(key, cancel);
    return () => {
      if (this.#calls.get(key) === cancel) this.#calls.delete(key);
    };
  }

  /** Nothing where there is none: it may have been answered already. */
  cancel(session: string, id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#calls.get(keyOf(session, id))?.();
  }
}

/** Only who knows the session can name its calls, and 1 is not "1". */
function keyOf(session: string, id: RpcId): string {
  return `${session}\0${typeof id}\0${id}`;
}
