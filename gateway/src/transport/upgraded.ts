/**
 * Long-lived connections, which end only on request: connections, or streams of HTTP/2, that have left HTTP, and
 * responses without an end of their own. They are notified when the gateway stops; the former are cut when its time is
 * up.
 */
import type { Duplex } from 'node:stream';

export class UpgradedConnections {
  readonly #open = new Map<Duplex, () => void>();
  readonly #responses = new Set<() => void>();
  #stopping = false;

  /** `stopping` is called once, when the gateway stops; soon if it is stopping already. */
  add(connection: Duplex, stopping: () => void): void {
    this.#open.set(connection, stopping);
    connection.once('close', () => this.#open.delete(connection));
    if (this.#stopping) setImmediate(stopping);
  }

  /** Registers a listener of an endless response; returns the function that removes it. */
  whenStopping(listener: () => void): () => void {
    this.#responses.add(listener);
    if (this.#stopping) setImmediate(() => this.#responses.has(listener) && listener());
    return () => this.#responses.delete(listener);
  }

  stop(): void {
    this.#stopping = true;
    for (const stopping of [...this.#responses]) stopping();
    for (const stopping of [...this.#open.values()]) stopping();
  }

  cut(): void {
    for (const connection of this.#open.keys()) connection.destroy();
  }
}
