/** Notifications between replicas that something in the tables changed, by LISTEN and NOTIFY. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** All channels; each listening connection listens to all of them. */
const CHANNELS = ['compilations', 'deployments', 'data_planes', 'access'] as const;
export type Channel = (typeof CHANNELS)[number];

/** Bytes of a payload; PostgreSQL itself takes less than 8,000. */
const MAX_PAYLOAD = 7_000;

/** Subscribes a connection to every channel. */
export const LISTEN_ALL = CHANNELS.map((channel) => `listen ${channel}`).join('; ');

export interface Notifications {
  /**
   * Sends a short string (≤ 7,000 bytes, else RangeError). Inside a transaction it is sent at the commit, and never if
   * the transaction is rolled back: pass the transaction. Equal payloads of one transaction arrive once.
   */
  notify(channel: Channel, payload: string, by?: Kysely<Schema> | Transaction<Schema>): Promise<void>;
  /**
   * Listens until the returned function is called. `onGap` is called when notifications may have been lost (the
   * connection broke and is back): read the tables again.
   */
  listen(channel: Channel, onPayload: (payload: string) => void, onGap: () => void): () => void;
}

interface Listener {
  readonly channel: Channel;
  onPayload(payload: string): void;
  onGap(): void;
}

/** Sends by a query, and delivers notifications that the connection receives. */
export class NotificationHub implements Notifications {
  readonly #listeners = new Set<Listener>();
  readonly #db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.#db = db;
  }

  async notify(channel: Channel, payload: string, by: Kysely<Schema> = this.#db): Promise<void> {
    const bytes = Buffer.byteLength(payload);
    if (bytes > MAX_PAYLOAD) {
      throw new RangeError(`a notification of ${bytes} bytes: send an id, at most ${MAX_PAYLOAD} bytes`);
    }
    await sql`select pg_notify(${channel}, ${payload})`.execute(by);
  }

  listen(channel: Channel, onPayload: (payload: string) => void, onGap: () => void): () => void {
    const listener = { channel, onPayload, onGap };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Delivers a notification that a connection received. */
  heard({ channel, payload }: { readonly channel: string; readonly payload?: string | undefined }): void {
    for (const listener of this.#listeners) if (listener.channel === channel) listener.onPayload(payload ?? '');
  }

  /** Notifies listeners that a new connection has replaced one that broke. */
  gap(): void {
    for (const listener of this.#listeners) listener.onGap();
  }
}
