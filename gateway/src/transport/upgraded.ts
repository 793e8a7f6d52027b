/** Connections, or streams of HTTP/2, that have left HTTP: told when the gateway stops, and cut when its time is up. */
import type { Duplex } from 'node:stream';

export class UpgradedConnections {
  readonly #open = new Map<Duplex, () => void>();
  #stopping = false;

  /** `stopping` is called once, when the gateway stops; soon where it does already. */
  add(connection: Duplex, stopping: () => void): void {
    this.#open.set(connection, stopping);
    connection.once('close', () => this.#open.delete(connection));
    if (this.#stopping) setImmediate(stopping);
  }

  stop(): void {
    this.#stopping = true;
    for (const stopping of [...this.#open.values()]) stopping();
  }

  cut(): void {
    for (const connection of this.#open.keys()) connection.destroy();
  }
}
