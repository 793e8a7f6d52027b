/** The connection to servers of NATS that all subjects share which are read from them, as long as there are any. */
import type { NatsConnection } from '@nats-io/nats-core';
import type { EgressGuard } from '../../../kit.ts';
import type { NatsServers } from './nats-settings.ts';

/** Bytes that may wait for a server: subscriptions, and requests to a stream. */
const MOST_WAITING = 1 << 20;

export class NatsLink {
  readonly #open: () => Promise<NatsConnection>;
  #current: Promise<NatsConnection> | null = null;
  /** Subjects that use it. */
  users = 0;

  constructor(open: () => Promise<NatsConnection>) {
    this.#open = open;
  }

  /** The next after one was lost is another. */
  get(): Promise<NatsConnection> {
    if (this.#current) return this.#current;
    const current = this.#open();
    this.#current = current;
    const gone = () => {
      if (this.#current === current) this.#current = null;
    };
    current.then((client) => client.closed().then(gone), gone);
    return current;
  }

  close(): void {
    this.#current?.then(
      (client) => client.close(),
      () => {},
    );
    this.#current = null;
  }
}

/** The links of a process, by the settings of the servers. */
export class NatsLinks {
  readonly #guard: EgressGuard;
  readonly #links = new Map<string, NatsLink>();

  constructor(guard: EgressGuard) {
    this.#guard = guard;
  }

  /** Returns the link for these servers, with the function that releases it. */
  use(servers: NatsServers): { readonly link: NatsLink; leave(): void } {
    const key = JSON.stringify(servers);
    const link = this.#links.get(key) ?? new NatsLink(() => this.#open(servers));
    this.#links.set(key, link);
    link.users++;
    return {
      link,
      leave: () => {
        if (--link.users > 0) return;
        this.#links.delete(key);
        link.close();
      },
    };
  }

  async #open(servers: NatsServers): Promise<NatsConnection> {
    const { openClient } = await import('./vetted-client.ts');
    return openClient(servers, this.#guard, MOST_WAITING);
  }
}
