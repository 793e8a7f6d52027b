/** Calls under way of clients with sessions, so that they can be cancelled. */
import type { RpcId } from './protocol/json-rpc.ts';

export class CallsUnderWay {
  /** A client that gives two calls the same id means both. */
  readonly #calls = new Map<string, Set<() => void>>();

  /** Returns the function that takes it back. */
  add(session: string, id: RpcId, cancel: () => void): () => void {
    const key = keyOf(session, id);
    const calls = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, calls.add(cancel));
    return () => {
      if (calls.delete(cancel) && calls.size === 0 && this.#calls.get(key) === calls) this.#calls.delete(key);
    };
  }

  /** Ignores unknown calls: they may have been answered already. */
  cancel(session: string, id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    for (const cancel of this.#calls.get(keyOf(session, id)) ?? []) cancel();
  }
}

/** The session is part of the key, so that clients can name their own calls only; 1 is not "1". */
function keyOf(session: string, id: RpcId): string {
  return `${session}\0${typeof id}\0${id}`;
}
