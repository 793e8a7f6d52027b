/**
 * Bytes in the database, by their sha256, in rows of 256 KiB: specs, plugins, artifacts
 * (docs/decisions.md#blobs-in-rows). They stream in and out; one piece at a time is in memory.
 */
import { createHash, randomUUID } from 'node:crypto';
import { BoundedMap } from '@gw/gateway/bounded-map';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { Schema } from './schema.ts';

/** Bytes of each row but the last. */
export const CHUNK_BYTES = 256 * 1024;

export interface BlobInfo {
  /** Hex: names the blob. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/** From the first byte to before the last. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** More bytes arrived than allowed; none of them are kept. */
export class BlobTooLarge extends Error {
  /** Bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super(`larger than ${limit} bytes`);
    this.limit = limit;
  }
}

export class BlobNotFound extends Error {
  constructor(sha256: string) {
    super(`no bytes with sha256 ${sha256} are stored`);
  }
}

/** Maximum bytes of pieces that are kept for `readShared`. */
const RECENT_BYTES = 4 << 20;
/** SQLSTATE foreign_key_violation. */
const STILL_REFERRED_TO = '23503';
/** Blobs that a sweep checks in one query. */
const SWEEP_BATCH = 100;

export class Blobs {
  readonly #db: Kysely<Schema>;
  /** Pieces of `readShared`, also those that are being read. */
  readonly #recent = new BoundedMap<Promise<Uint8Array>>(RECENT_BYTES);

  constructor(db: Kysely<Schema>) {
    this.#db = db;
  }

  /**
   * Streams in up to `limit` bytes; throws BlobTooLarge, and whatever the source throws. Equal content is kept once.
   * Refer to the blob within the grace of `sweep`.
   */
  async put(source: AsyncIterable<Uint8Array>, limit: number): Promise<BlobInfo> {
    const upload = randomUUID();
    await this.#db.insertInto('blob_uploads').values({ id: upload, touched_at: sql<Date>`now()` }).execute();
    try {
      const hash = createHash('sha256');
      let size = 0;
      let n = 0;
      for await (const chunk of chunks(source, limit)) {
        hash.update(chunk);
        size += chunk.length;
        await this.#putChunk(upload, n++, chunk);
      }
      const info = { sha256: hash.digest('hex'), size };
      await this.#finish(upload, info);
      return info;
    } catch (error) {
      // If this fails too, the sweep removes the upload.
      await this.#abandon(upload).catch(() => {});
      throw error;
    }
  }

  /** Yields the blob or its range [start, end) in pieces; empty if the range lies past the end. Throws BlobNotFound. */
  async *read(sha256: string, range?: Range): AsyncIterable<Uint8Array> {
    const info = await this.info(sha256);
    if (!info) throw new BlobNotFound(sha256);
    yield* pieces(info, range, (n) => this.#chunk(sha256, n));
  }

  /**
   * As `read`, for an existing blob that many read at once: pieces that are being read, or were read lately, are
   * shared. Callers must not change the pieces.
   */
  readShared(blob: BlobInfo, range?: Range): AsyncIterable<Uint8Array> {
    return pieces(blob, range, (n) => {
      const name = `${blob.sha256} ${n}`;
      const known = this.#recent.use(name);
      if (known) return known;
      const chunk = this.#chunk(blob.sha256, n);
      this.#recent.set(name, chunk, Math.min(CHUNK_BYTES, blob.size - n * CHUNK_BYTES));
      chunk.catch(() => {
        if (this.#recent.get(name) === chunk) this.#recent.delete(name);
      });
      return chunk;
    });
  }

  async info(sha256: string): Promise<BlobInfo | null> {
    const row = await this.#db
      .selectFrom('blobs')
      .select(['sha256', 'size'])
      .where('sha256', '=', sha256)
      .executeTakeFirst();
    return row ?? null;
  }

  /**
   * Deletes unreferenced blobs and unfinished uploads, both untouched for `graceMs` milliseconds. Returns how many.
   * Safe beside uploads and other sweeps.
   */
  async sweep(graceMs: number): Promise<number> {
    let swept = await this.#sweepUploads(graceMs);
    for (let after = ''; ; ) {
      const candidates = await unused(this.#db.selectFrom('blobs'), graceMs)
        .select('sha256')
        .where('sha256', '>', after)
        .orderBy('sha256')
        .limit(SWEEP_BATCH)
        .execute();
      for (const { sha256 } of candidates) if (await this.#delete(sha256, graceMs)) swept++;
      const last = candidates.at(-1);
      if (!last || candidates.length < SWEEP_BATCH) return swept;
      after = last.sha256;
    }
  }

  async #chunk(sha256: string, n: number): Promise<Uint8Array> {
    const row = await this.#db
      .selectFrom('blob_chunks')
      .select('bytes')
      .where('blob_key', '=', sha256)
      .where('n', '=', n)
      .executeTakeFirst();
    // Deleted while it was read.
    if (!row) throw new BlobNotFound(sha256);
    return row.bytes;
  }

  /** Writes a chunk in its own statement, so that no transaction lasts as long as a slow client. */
  async #putChunk(upload: string, n: number, chunk: Uint8Array): Promise<void> {
    const { rows } = await sql`
      with upload as (update blob_uploads set touched_at = now() where id = ${upload} returning id)
      insert into blob_chunks (blob_key, n, bytes) select ${upload}::text, ${n}::int, ${chunk}::bytea from upload
      returning n`.execute(this.#db);
    if (rows.length === 0) throw expired();
  }

  async #finish(upload: string, { sha256, size }: BlobInfo): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      // First, so that a sweep has either removed the upload before or does not see it.
      const ended = await tx.deleteFrom('blob_uploads').where('id', '=', upload).executeTakeFirst();
      if (ended.numDeletedRows === 0n) throw expired();
      const { isNew } = await tx
        .insertInto('blobs')
        .values({ sha256, size, touched_at: sql<Date>`now()` })
        // Updates the time of an existing row: a sweep that waits for this row checks it again.
        .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ touched_at: sql<Date>`now()` }))
        .returning(sql<boolean>`xmax = 0`.as('isNew'))
        .executeTakeFirstOrThrow();
      if (isNew) await tx.updateTable('blob_chunks').set({ blob_key: sha256 }).where('blob_key', '=', upload).execute();
      else await tx.deleteFrom('blob_chunks').where('blob_key', '=', upload).execute();
    });
  }

  async #abandon(upload: string): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      await tx.deleteFrom('blob_uploads').where('id', '=', upload).execute();
      await tx.deleteFrom('blob_chunks').where('blob_key', '=', upload).execute();
    });
  }

  async #sweepUploads(graceMs: number): Promise<number> {
    return this.#db.transaction().execute(async (tx) => {
      const ended = await tx
        .deleteFrom('blob_uploads')
        .where('touched_at', '<', before(graceMs))
        .returning('id')
        .execute();
      const keys = ended.map(({ id }) => id);
      if (keys.length > 0) await tx.deleteFrom('blob_chunks').where('blob_key', 'in', keys).execute();
      return keys.length;
    });
  }

  async #delete(sha256: string, graceMs: number): Promise<boolean> {
    try {
      return await this.#db.transaction().execute(async (tx) => {
        // Locks first: a decision after it holds until the end.
        const found = await unused(tx.selectFrom('blobs'), graceMs)
          .select('sha256')
          .where('sha256', '=', sha256)
          .forUpdate()
          .executeTakeFirst();
        if (!found) return false;
        await tx.deleteFrom('blobs').where('sha256', '=', sha256).execute();
        await tx.deleteFrom('blob_chunks').where('blob_key', '=', sha256).execute();
        return true;
      });
    } catch (error) {
      if (error instanceof DatabaseError && error.code === STILL_REFERRED_TO) return false;
      throw error;
    }
  }
}

/** Selects blobs without a reference that nobody stored or found for `graceMs`. */
function unused<O>(blobs: SelectQueryBuilder<Schema, 'blobs', O>, graceMs: number) {
  return blobs
    .where('blobs.touched_at', '<', before(graceMs))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('spec_revisions').select('id').whereRef('spec_revisions.sha256', '=', 'blobs.sha256'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('spec_revisions').select('id').whereRef('spec_revisions.document_sha256', '=', 'blobs.sha256'),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('plugins').select('id').whereRef('plugins.sha256', '=', 'blobs.sha256'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('artifacts').select('id').whereRef('artifacts.file_sha256', '=', 'blobs.sha256'))),
    );
}

/** Returns the time `graceMs` ago by the clock of the database, which wrote the times. */
function before(graceMs: number) {
  return sql<Date>`now() - make_interval(secs => ${graceMs / 1000})`;
}

function expired(): Error {
  return new Error('the upload paused for too long and was discarded: send it again');
}

async function* pieces(
  { size }: BlobInfo,
  range: Range | undefined,
  chunk: (n: number) => Promise<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const start = Math.max(0, range?.start ?? 0);
  const end = Math.min(size, range?.end ?? size);
  for (let at = start; at < end; ) {
    const n = Math.floor(at / CHUNK_BYTES);
    const from = n * CHUNK_BYTES;
    yield (await chunk(n)).subarray(at - from, end - from);
    at = from + CHUNK_BYTES;
  }
}

/** Yields the same bytes in pieces of one size, each in its own memory. */
async function* chunks(source: AsyncIterable<Uint8Array>, limit: number): AsyncIterable<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let filled = 0;
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > limit) throw new BlobTooLarge(limit);
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled === CHUNK_BYTES) {
        yield chunk;
        chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
        filled = 0;
      }
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
