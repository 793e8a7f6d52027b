/**
 * Hellos that wait for the host, which answers a limited number at once. Keys that were let in before, and the networks
 * of all others, take turns: guesses of a key delay only other guesses of their network.
 */
import { hash } from 'node:crypto';
import { BoundedMap } from '@gw/gateway/bounded-map';
import { ItemsByOwner } from '@gw/gateway/items-by-owner';
import type { Hello } from '@gw/gateway/link-protocol';
import type { Connection } from './connection.ts';

/** Keys that are remembered, as hashes. */
const MAX_KNOWN = 20_000;

interface Waiting {
  /** Whose turn it takes: a key's, or a network's. */
  readonly owner: string;
  readonly connection: Connection;
  readonly hello: Hello;
}

export class AdmissionQueue {
  readonly #limit: number;
  readonly #admit: (connection: Connection, hello: Hello) => Promise<void>;
  readonly #known = new BoundedMap<true>(MAX_KNOWN);
  readonly #turns = new ItemsByOwner<Waiting>();
  /** Connections that wait with unknown keys. */
  readonly #strangers = new ItemsByOwner<Connection>();
  readonly #waiting = new Map<Connection, Waiting>();
  #running = 0;

  /** `limit`: of those that `admit` is at work on. It must not reject. */
  constructor(limit: number, admit: (connection: Connection, hello: Hello) => Promise<void>) {
    this.#limit = limit;
    this.#admit = admit;
  }

  enter(connection: Connection, hello: Hello): void {
    const key = hashOf(hello);
    const isKnown = this.#known.get(key) !== undefined;
    const waiting = { owner: isKnown ? `key ${key}` : connection.owner, connection, hello };
    this.#waiting.set(connection, waiting);
    this.#turns.add(waiting);
    if (!isKnown) this.#strangers.add(connection);
    this.#next();
  }

  /** Removes a waiting connection. */
  leave(connection: Connection): void {
    const waiting = this.#waiting.get(connection);
    if (!waiting) return;
    this.#waiting.delete(connection);
    this.#turns.delete(waiting);
    this.#strangers.delete(connection);
  }

  /** Records a key as valid. */
  know(hello: Hello): void {
    this.#known.set(hashOf(hello), true);
  }

  /** Takes the connection with an unknown key that has waited longest at the network with most of them. */
  takeStranger(): Connection | undefined {
    const stranger = this.#strangers.takeOldestOfBusiest();
    if (stranger) this.leave(stranger);
    return stranger;
  }

  #next(): void {
    while (this.#running < this.#limit) {
      const next = this.#turns.takeInTurn();
      if (!next) return;
      this.leave(next.connection);
      this.#running++;
      // A host that never answers holds its place no longer than the connection lasts.
      void Promise.race([this.#admit(next.connection, next.hello), next.connection.gone]).then(() => {
        this.#running--;
        this.#next();
      });
    }
  }
}

function hashOf({ api_key }: Hello): string {
  return hash('sha256', api_key, 'base64');
}
