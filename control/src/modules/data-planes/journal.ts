/**
 * Reports of data planes on their way to the database: the last of each, many in one statement. Failed writes are
 * retried, so that an unavailable database loses nothing.
 */
import type { Status } from '@gw/gateway/link-protocol';
import { messageOf } from '@gw/gateway/message-of';
import type { Logger } from 'pino';
import type { DataPlane, DriftReport } from '../../channel/index.ts';
import type { Database } from '../../db/database.ts';
import { type Answer, type Drifted, type Gone, type Served, writeEntries } from './write-entries.ts';

/** Milliseconds until a change is written. */
const SOON_MS = 50;
/** Milliseconds until a sign of life without a change is written. */
const LATER_MS = 5_000;
const RETRY_MS = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_REASON = 1_000;

/** An entry with its time by `performance.now()`: the database's clock writes the time. */
type At<T extends { readonly ago: number }> = Omit<T, 'ago'> & { readonly at: number };

export class Journal {
  readonly #db: Database;
  readonly #log: Logger;
  /** Answers by data plane. */
  #answers = new Map<string, Answer>();
  #served = new Map<string, At<Served>>();
  #drifted = new Map<string, Drifted>();
  /** Artifact that each connected data plane serves. */
  readonly #hashes = new Map<string, string | null>();
  /** Disconnects by connection. */
  #gone = new Map<string, At<Gone>>();
  #timer: NodeJS.Timeout | undefined;
  /** Time at which the timer is due, by `performance.now()`. */
  #due = Number.POSITIVE_INFINITY;
  #writing: Promise<boolean> | null = null;
  #closed = false;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Records that it has connected, and has a row. */
  arrived(plane: DataPlane): void {
    this.#serves(plane, true);
    this.#within(SOON_MS);
  }

  /** Records a sign of life. */
  seen(plane: DataPlane): void {
    const isNews = this.#hashes.get(plane.dataPlaneId) !== plane.artifactHash;
    this.#serves(plane);
    this.#within(isNews ? SOON_MS : LATER_MS);
  }

  reported(plane: DataPlane, { deployment_id, outcome, reason, detail, artifact_hash }: Status): void {
    this.#serves(plane);
    this.#within(SOON_MS);
    if (deployment_id === null || !UUID.test(deployment_id)) return;
    this.#answers.set(plane.dataPlaneId, {
      deployment_id,
      data_plane_id: plane.dataPlaneId,
      // The data plane keeps retrying.
      status: outcome === 'applied' ? 'applied' : reason === 'download-failed' ? 'notified' : 'refused',
      reason: outcome === 'applied' ? null : printable(`${reason ?? 'refused'}: ${detail ?? ''}`),
      served_hash: artifact_hash,
    });
  }

  drifted(plane: DataPlane, { drifted, wanted, served }: DriftReport): void {
    this.#drifted.set(plane.dataPlaneId, { id: plane.dataPlaneId, drifted, wanted, served });
    this.#within(SOON_MS);
  }

  left(plane: DataPlane): void {
    const { connectionId, dataPlaneId } = plane;
    this.#hashes.delete(dataPlaneId);
    this.#gone.set(connectionId, { id: dataPlaneId, connection_id: connectionId, at: performance.now() });
    this.#within(SOON_MS);
  }

  /** Writes all entries; returns false if that fails. */
  async flush(): Promise<boolean> {
    while (this.#writing) await this.#writing;
    this.#writing = this.#write().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** Writes all entries, once. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.flush();
  }

  #serves({ dataPlaneId: id, connectionId: connection_id, artifactHash: hash }: DataPlane, arrived = false): void {
    this.#hashes.set(id, hash);
    const hasArrived = arrived || this.#served.get(id)?.arrived === true;
    this.#served.set(id, { id, connection_id, hash, at: performance.now(), arrived: hasArrived });
  }

  #within(ms: number): void {
    const due = performance.now() + ms;
    if (this.#closed || due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#due = Number.POSITIVE_INFINITY;
      void this.flush().then((done) => {
        if (!done) this.#within(RETRY_MS);
      });
    }, ms);
    this.#timer.unref();
  }

  async #write(): Promise<boolean> {
    const answers = this.#answers;
    const served = this.#served;
    const drifted = this.#drifted;
    const gone = this.#gone;
    if (answers.size + served.size + drifted.size + gone.size === 0) return true;
    this.#answers = new Map();
    this.#served = new Map();
    this.#drifted = new Map();
    this.#gone = new Map();
    try {
      await writeEntries(this.#db, {
        answers: [...answers.values()],
        served: [...served.values()].map(ago),
        drifted: [...drifted.values()],
        gone: [...gone.values()].map(ago),
      });
      return true;
    } catch (error) {
      const reason = messageOf(error);
      this.#log.warn({ reason }, 'cannot store reports of data planes: retrying');
      // Entries that arrived meanwhile are newer.
      this.#answers = new Map([...answers, ...this.#answers]);
      this.#served = new Map([...served, ...this.#served]);
      this.#drifted = new Map([...drifted, ...this.#drifted]);
      this.#gone = new Map([...gone, ...this.#gone]);
      return false;
    }
  }
}

function ago<T extends { readonly at: number }>({ at, ...entry }: T): Omit<T, 'at'> & { readonly ago: number } {
  return { ...entry, ago: (performance.now() - at) / 1000 };
}

/** Replaces characters that PostgreSQL cannot store (NUL), or people cannot read. */
function printable(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON);
}
