/** One suite over the two databases of the control plane: PGlite within the process, a PostgreSQL server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Database, openDatabase } from '../../control/src/db/database.ts';
import {
  DATABASE_KINDS,
  type DatabaseKind,
  emptyDatabase,
  testDatabase,
  unopenedDatabase,
} from '../control/database.ts';
import { eventually } from '../eventually.ts';

for (const [name, kind, absent] of DATABASE_KINDS) {
  describe.skipIf(absent)(`the database on ${name}`, () => suite(kind));
}

function suite(kind: DatabaseKind): void {
  let db: Database;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ db, close } = await testDatabase(kind));
  });
  afterAll(() => close?.());

  const project = (name: string = crypto.randomUUID()) => ({
    id: crypto.randomUUID(),
    name,
    description: '',
    upstreams: JSON.stringify({ books: 'https://books.example' }),
    updated_at: new Date(),
  });
  const named = (name: string) => db.kysely.selectFrom('projects').selectAll().where('name', '=', name).execute();

  it('gives numbers, times, JSON and bytes as they are', async () => {
    const at = new Date('2026-02-03T04:05:06.789Z');
    const bytes = Uint8Array.from({ length: 3_000 }, (_, i) => i % 256);
    const { rows } = await sql`select ${'9007199254740991'}::int8 as safe, ${'9007199254740993'}::int8 as large,
      array[1, null, 3]::int8[] as list, ${at}::timestamptz as at, ${bytes}::bytea as bytes,
      ${JSON.stringify([{ a: 'ü' }, 1, null])}::jsonb as json, 'null'::jsonb as json_null, null::jsonb as nothing,
      1.50::numeric as exact, 0.5::real as inexact, true as truth, ${['a', 'b,"c']}::text[] as texts,
      count(*) as count`.execute(db.kysely);
    expect(rows).toEqual([
      {
        safe: 9007199254740991,
        large: 9007199254740993n,
        list: [1, null, 3],
        at,
        bytes: Buffer.from(bytes),
        json: [{ a: 'ü' }, 1, null],
        json_null: null,
        nothing: null,
        exact: '1.50',
        inexact: 0.5,
        truth: true,
        texts: ['a', 'b,"c'],
        count: 1,
      },
    ]);
  });

  it('says which constraint a row breaks, and counts what changed', async () => {
    const row = project();
    const insert = () => db.kysely.insertInto('projects').values(row).executeTakeFirst();
    expect(await insert()).toMatchObject({ numInsertedOrUpdatedRows: 1n });
    const error = await insert().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error).toMatchObject({ code: '23505', table: 'projects', constraint: 'projects_pkey' });
    expect(await db.kysely.deleteFrom('projects').where('id', '=', row.id).executeTakeFirst()).toMatchObject({
      numDeletedRows: 1n,
    });
  });

  it('keeps nothing of a transaction that throws or breaks, and goes on', async () => {
    const row = project();
    const thrown = db.kysely.transaction().execute(async (tx) => {
      await tx.insertInto('projects').values(row).execute();
      throw new Error('changed my mind');
    });
    await expect(thrown).rejects.toThrow('changed my mind');
    const broken = db.kysely.transaction().execute(async (tx) => {
      await tx.insertInto('projects').values(row).execute();
      await sql`select 1 / 0`.execute(tx);
    });
    await expect(broken).rejects.toMatchObject({ code: '22012' });
    expect(await named(row.name)).toEqual([]);
    await db.ping();
  });

  it('keeps transactions apart: of fifty that count at once, each counts', async () => {
    const row = project();
    await db.kysely.insertInto('projects').values(row).execute();
    const count = () =>
      db.kysely.transaction().execute(async (tx) => {
        const { version } = await tx
          .selectFrom('projects')
          .select('version')
          .where('id', '=', row.id)
          .forUpdate()
          .executeTakeFirstOrThrow();
        await sleep(1);
        await tx
          .updateTable('projects')
          .set({ version: version + 1 })
          .where('id', '=', row.id)
          .execute();
      });
    await Promise.all(Array.from({ length: 50 }, count));
    expect(await named(row.name)).toMatchObject([{ version: 51 }]);
  });

  it('ends the wait of queries for a connection that their own transaction has', async () => {
    const { url, drop } = await unopenedDatabase(kind);
    onTestFinished(drop);
    const narrow = await openDatabase(url, { maxConnections: 1, acquireTimeoutMs: 500 });
    onTestFinished(() => narrow.close());
    await narrow.migrate();
    const waits = narrow.kysely
      .transaction()
      .execute(() => narrow.kysely.selectFrom('projects').select('id').execute());
    await expect(waits).rejects.toThrow(/timeout/i);
    await narrow.ping();
  });

  it('tells listeners what is notified, at the commit', async () => {
    const heard: string[] = [];
    const stop = db.notifications.listen(
      'compilations',
      (payload) => heard.push(payload),
      () => heard.push('gap'),
    );
    const others: string[] = [];
    onTestFinished(db.notifications.listen('deployments', (payload) => others.push(payload), vi.fn()));
    await db.kysely.transaction().execute(async (tx) => {
      await db.notifications.notify('compilations', 'within', tx);
      await sql`select 1`.execute(tx);
      await sleep(50);
      heard.push('commit');
    });
    await eventually(() => expect(heard).toEqual(['commit', 'within']));
    const undone = db.kysely.transaction().execute(async (tx) => {
      await db.notifications.notify('compilations', 'undone', tx);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await db.notifications.notify('compilations', 'naïve “text”');
    await eventually(() => expect(heard).toEqual(['commit', 'within', 'naïve “text”']));
    stop();
    await db.notifications.notify('compilations', 'nobody listens');
    await db.notifications.notify('deployments', 'last');
    await eventually(() => expect(others).toEqual(['last']));
    expect(heard).toHaveLength(3);
  });

  it('refuses a notification that is too long to arrive', async () => {
    await db.notifications.notify('access', 'x'.repeat(7_000));
    await expect(db.notifications.notify('access', 'ü'.repeat(3_501))).rejects.toThrow('at most 7000 bytes');
  });

  it('names the migrations that it lacks, and applies each once', async () => {
    const { url, drop } = await emptyDatabase(kind);
    onTestFinished(drop);
    const fresh = await openDatabase(url);
    onTestFinished(() => fresh.close());
    const pending = await fresh.pendingMigrations();
    expect(pending).toContain('0001-tables');
    const applied = await Promise.all([fresh.migrate(), fresh.migrate()]);
    expect(applied.flatMap(({ applied }) => applied)).toEqual(pending);
    expect(await fresh.pendingMigrations()).toEqual([]);
    expect(await fresh.migrate()).toEqual({ applied: [] });
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(fresh.kysely);
    await expect(fresh.migrate()).rejects.toThrow('later version (9999-later)');
  });
}
