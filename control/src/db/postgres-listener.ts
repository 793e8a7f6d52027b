/** The one connection of a process that receives notifications of a PostgreSQL server. It reconnects by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import type { Logger } from 'pino';
import { LISTEN_ALL, type NotificationHub } from './notifications.ts';

/** Milliseconds between queries that keep the connection active, and detect a lost server. */
const HEARTBEAT_MS = 15_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

export class PostgresListener {
  readonly #config: ClientConfig;
  readonly #hub: NotificationHub;
  readonly #log: Logger | undefined;
  readonly #closing = new AbortController();
  #client: Client | null = null;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(config: ClientConfig, hub: NotificationHub, log: Logger | undefined) {
    this.#config = config;
    this.#hub = hub;
    this.#log = log;
  }

  /** Resolves when it listens to every channel; rejects if the server cannot be reached. */
  async connect(): Promise<void> {
    const client = new Client(this.#config);
    client.on('notification', (message) => this.#hub.heard(message));
    // Repeated by `end`, which follows for every reason.
    client.on('error', (error) => this.#log?.warn({ reason: error.message }, 'the database connection broke'));
    try {
      await client.connect();
      await client.query(LISTEN_ALL);
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    if (this.#closing.signal.aborted) return client.end();
    this.#client = client;
    client.on('end', () => void this.#reconnect());
    let answered = true;
    this.#heartbeat = setInterval(() => {
      if (!answered) return;
      answered = false;
      client.query('select 1').then(
        () => {
          answered = true;
        },
        () => {},
      );
    }, HEARTBEAT_MS).unref();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#heartbeat);
    await this.#client?.end();
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing;
    clearInterval(this.#heartbeat);
    this.#client = null;
    for (let wait = FIRST_RETRY_MS; !signal.aborted; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
      // Jitter: the replicas of a database that restarts do not all come at once.
      await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.connect();
      } catch {
        continue;
      }
      return this.#hub.gap();
    }
  }
}
