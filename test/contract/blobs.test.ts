/** Blobs in rows, on either database. */
import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BlobNotFound, Blobs, BlobTooLarge, CHUNK_BYTES } from '../../control/src/db/blobs.ts';
import type { Database } from '../../control/src/db/database.ts';
import { DATABASE_KINDS, type DatabaseKind, testDatabase, unopenedDatabase } from '../control/database.ts';
import { databaseProcess } from '../control/spawn-database.ts';
import { propertyRuns } from '../property-runs.ts';

for (const [name, kind, absent] of DATABASE_KINDS) {
  describe.skipIf(absent)(`blobs on ${name}`, () => suite(kind));
}

function suite(kind: DatabaseKind): void {
  let db: Database;
  let blobs: Blobs;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ db, close } = await testDatabase(kind));
    blobs = new Blobs(db.kysely);
  });
  afterAll(() => close?.());

  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  async function* pieces(bytes: Uint8Array, length = 100_000) {
    for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
  }
  const read = async (name: string, range?: { start: number; end: number }) =>
    Buffer.concat(await Array.fromAsync(blobs.read(name, range)));
  const count = async (table: 'blobs' | 'blob_chunks' | 'blob_uploads') =>
    Number((await db.kysely.selectFrom(table).select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow()).n);
  const counts = async () => [await count('blobs'), await count('blob_chunks'), await count('blob_uploads')];
  const refer = (name: string) => {
    const row = { name: crypto.randomUUID(), version: '1', type: 'middleware' as const, description: '' };
    return db.kysely
      .insertInto('plugins')
      .values({
        ...row,
        id: crypto.randomUUID(),
        manifest: '{}',
        sha256: name,
        size: 1,
        builtin: false,
        updated_at: new Date(),
      })
      .execute();
  };

  it('gives back what it was given, by its sha256', async () => {
    for (const size of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES]) {
      const bytes = randomBytes(size);
      const info = await blobs.put(pieces(bytes), size);
      expect(info).toEqual({ sha256: sha256(bytes), size });
      expect(await blobs.info(info.sha256)).toEqual(info);
      expect((await read(info.sha256)).equals(bytes)).toBe(true);
    }
    expect(await count('blob_uploads')).toBe(0);
  });

  it('gives any range of them', async () => {
    const bytes = randomBytes(2 * CHUNK_BYTES + 1_000);
    const info = await blobs.put(pieces(bytes), bytes.length);
    const edge = fc.oneof(
      fc.nat(bytes.length + 10),
      fc.constantFrom(0, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES),
    );
    await fc.assert(
      fc.asyncProperty(edge, edge, async (start, end) => {
        expect((await read(info.sha256, { start, end })).equals(bytes.subarray(start, Math.max(start, end)))).toBe(
          true,
        );
      }),
      propertyRuns(50),
    );
  });

  it('knows no blob that nobody put', async () => {
    expect(await blobs.info('0'.repeat(64))).toBeNull();
    await expect(read('0'.repeat(64))).rejects.toThrow(BlobNotFound);
  });

  it('keeps equal content once, however many put it at once', async () => {
    const bytes = randomBytes(CHUNK_BYTES + 5);
    const [before, chunks] = await counts();
    const put = (length: number) => blobs.put(pieces(bytes, length), bytes.length);
    const infos = await Promise.all([put(1_000), put(70_000), put(CHUNK_BYTES), put(bytes.length)]);
    expect(new Set(infos.map((info) => info.sha256)).size).toBe(1);
    expect(await counts()).toEqual([before! + 1, chunks! + 2, 0]);
  });

  it('keeps nothing of what is too large, and of what breaks off', async () => {
    const before = await counts();
    const bytes = randomBytes(2 * CHUNK_BYTES);
    await expect(blobs.put(pieces(bytes), bytes.length - 1)).rejects.toThrow(BlobTooLarge);
    async function* broken() {
      yield bytes;
      throw new Error('the client went away');
    }
    await expect(blobs.put(broken(), bytes.length)).rejects.toThrow('the client went away');
    expect(await counts()).toEqual(before);
  });

  it('reads a piece once for all who ask for it at once, or soon after', async () => {
    const bytes = randomBytes(2 * CHUNK_BYTES + 1_000);
    const info = await blobs.put(pieces(bytes), bytes.length);
    const shared = async (range?: { start: number; end: number }) =>
      Buffer.concat(await Array.fromAsync(blobs.readShared(info, range)));
    const all = await Promise.all(Array.from({ length: 20 }, () => shared()));
    expect(all.every((each) => each.equals(bytes))).toBe(true);
    await db.kysely.deleteFrom('blob_chunks').where('blob_key', '=', info.sha256).execute();
    const range = { start: CHUNK_BYTES - 5, end: CHUNK_BYTES + 5 };
    expect((await shared(range)).equals(bytes.subarray(range.start, range.end))).toBe(true);
  });

  it('shares no failure with who asks later', async () => {
    const bytes = randomBytes(10);
    const missing = { sha256: sha256(bytes), size: 10 };
    const shared = async () => Buffer.concat(await Array.fromAsync(blobs.readShared(missing)));
    for (const outcome of await Promise.allSettled([shared(), shared()])) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(BlobNotFound) });
    }
    await blobs.put(pieces(bytes), 10);
    expect((await shared()).equals(bytes)).toBe(true);
  });

  it('keeps no more than 4 MiB of what was read', async () => {
    const bytes = randomBytes(17 * CHUNK_BYTES);
    const info = await blobs.put(pieces(bytes), bytes.length);
    const shared = (range: { start: number; end: number }) => Array.fromAsync(blobs.readShared(info, range));
    await shared({ start: 0, end: bytes.length });
    await db.kysely.deleteFrom('blob_chunks').where('blob_key', '=', info.sha256).execute();
    await expect(shared({ start: 0, end: 1 })).rejects.toThrow(BlobNotFound);
    expect(await shared({ start: 16 * CHUNK_BYTES, end: 16 * CHUNK_BYTES + 1 })).toHaveLength(1);
  });

  it('sweeps what nothing refers to, when it is old enough, and nothing else', async () => {
    await blobs.sweep(0);
    const [kept, loose] = await Promise.all([
      blobs.put(pieces(randomBytes(1_000)), 1_000),
      blobs.put(pieces(randomBytes(1_000)), 1_000),
    ]);
    await refer(kept.sha256);
    expect(await blobs.sweep(60_000)).toBe(0);
    expect(await blobs.sweep(0)).toBe(1);
    expect(await blobs.info(loose.sha256)).toBeNull();
    expect(await read(kept.sha256)).toHaveLength(1_000);
    expect(await blobs.sweep(0)).toBe(0);
  });

  it('sweeps uploads that never ended, which then cannot go on', async () => {
    await blobs.sweep(0);
    const before = await counts();
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    async function* slow() {
      yield randomBytes(2 * CHUNK_BYTES);
      reached.resolve();
      await goOn.promise;
      yield randomBytes(CHUNK_BYTES);
    }
    const put = blobs.put(slow(), 3 * CHUNK_BYTES);
    await reached.promise;
    expect(await blobs.sweep(60_000)).toBe(0);
    expect(await blobs.sweep(0)).toBe(1);
    goOn.resolve();
    await expect(put).rejects.toThrow('send it again');
    expect(await counts()).toEqual(before);
  });

  it('loses no bytes where the same content is put, referred to and swept at once', async () => {
    const bytes = randomBytes(1_000);
    for (let round = 0; round < 20; round++) {
      await blobs.put(pieces(bytes), bytes.length);
      await sql`update blobs set touched_at = now() - interval '1 hour'`.execute(db.kysely);
      const [info] = await Promise.all([blobs.put(pieces(bytes), bytes.length), blobs.sweep(60_000)]);
      expect((await read(info.sha256)).equals(bytes)).toBe(true);
    }
    // A reference to a blob of any age, made while a sweep goes on, fails or holds.
    for (let round = 0; round < 20; round++) {
      const { sha256: name } = await blobs.put(pieces(randomBytes(10)), 10);
      await sql`update blobs set touched_at = now() - interval '1 hour'`.execute(db.kysely);
      const [referred] = await Promise.allSettled([refer(name), blobs.sweep(60_000)]);
      expect(await blobs.info(name)).toEqual(referred.status === 'fulfilled' ? { sha256: name, size: 10 } : null);
    }
  });

  it('holds no more than pieces of what streams through', async () => {
    const { url, drop } = await unopenedDatabase(kind);
    onTestFinished(drop);
    const { lines, stderr } = await databaseProcess(url, 'stream').exited;
    expect(stderr).toBe('');
    const { size, peak }: { size: number; peak: number } = JSON.parse(lines[0] ?? '');
    expect(size).toBe(30_000_000);
    expect(peak).toBeLessThan(size / 2);
  });
}
