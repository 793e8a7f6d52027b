/**
 * Connections that have not been let in: silent ones, those whose hello waits for the host, and those that were refused
 * and have not gone. They have separate limits; at a limit, the network that holds most connections loses one.
 */
import { ItemsByOwner } from '@gw/gateway/items-by-owner';
import type { Hello } from '@gw/gateway/link-protocol';
import { AdmissionQueue } from './admission-queue.ts';
import type { Connection } from './connection.ts';

export interface NewcomerLimits {
  readonly maxSilent: number;
  readonly maxAdmissions: number;
}

const CROWDED = 'Too many connections are waiting to be admitted: send "hello" at once, and try again.';

export class Newcomers {
  readonly #maxSilent: number;
  readonly #queue: AdmissionQueue;
  /** Connections without a valid message. */
  readonly #silent = new ItemsByOwner<Connection>();

  /** `admit` must not reject. */
  constructor(
    { maxSilent, maxAdmissions }: NewcomerLimits,
    admit: (connection: Connection, hello: Hello) => Promise<void>,
  ) {
    this.#maxSilent = maxSilent;
    this.#queue = new AdmissionQueue(maxAdmissions, admit);
  }

  add(connection: Connection): void {
    this.#silent.add(connection);
  }

  greeted(connection: Connection, hello: Hello): void {
    this.#silent.delete(connection);
    this.#queue.enter(connection, hello);
  }

  /** Records that a connection was let in: its key is known from now on. */
  admitted(hello: Hello): void {
    this.#queue.know(hello);
  }

  /** Records a refusal: until the other end has closed, the connection counts as silent. */
  refused(connection: Connection): void {
    this.#queue.leave(connection);
    this.#silent.add(connection);
  }

  gone(connection: Connection): void {
    this.#silent.delete(connection);
    this.#queue.leave(connection);
  }

  /** Closes a connection to make room and returns it; undefined if there is room, or no connection can yield. */
  makeRoom(isFull: boolean): Connection | undefined {
    if (!isFull && this.#silent.size < this.#maxSilent) return undefined;
    const yielding = this.#silent.takeOldestOfBusiest() ?? this.#queue.takeStranger();
    yielding?.dismiss('too-many', CROWDED);
    return yielding;
  }
}
