/** The embedded database on its folder: one process, and nothing lost. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../control/src/db/database.ts';
import { FolderLocked } from '../../control/src/db/folder-lock.ts';
import { eventually } from '../eventually.ts';
import { emptyDatabase, testDatabase, unopenedDatabase } from './database.ts';
import { databaseProcess } from './spawn-database.ts';

describe('the embedded database', () => {
  it('belongs to one process, which is named to others, until it ends however that is', async () => {
    const { url, close } = await testDatabase('pglite');
    await expect(openDatabase(url)).rejects.toThrow(FolderLocked);
    await expect(openDatabase(url)).rejects.toThrow(`is in use by process ${process.pid} `);
    const refused = await databaseProcess(url, 'hold').exited;
    expect(refused.stderr).toContain(`is in use by process ${process.pid} `);
    expect(refused.code).toBe(1);
    onTestFinished(() => close());
  });

  it('is free again when its process was killed', async () => {
    const { url, drop } = await unopenedDatabase('pglite');
    onTestFinished(drop);
    const holder = databaseProcess(url, 'hold');
    await holder.said(1);
    await expect(openDatabase(url)).rejects.toThrow(`is in use by process ${holder.pid} `);
    holder.kill();
    await holder.exited;
    const db = await openDatabase(url);
    onTestFinished(() => db.close());
    await db.ping();
  });

  it('starts anew where its process was killed while it made its files', async () => {
    const { url, drop } = await emptyDatabase('pglite');
    onTestFinished(drop);
    const unfinished = join(url.slice('pglite://'.length), 'data.unfinished');
    const maker = databaseProcess(url, 'hold');
    await eventually(() => expect(existsSync(join(unfinished, 'PG_VERSION'))).toBe(true));
    maker.kill();
    await maker.exited;
    expect(existsSync(unfinished)).toBe(true);
    const db = await openDatabase(url);
    onTestFinished(() => db.close());
    expect((await db.migrate()).applied).toContain('0001-tables');
    expect(existsSync(unfinished)).toBe(false);
  });

  it('loses no row that was committed when its process is killed while it writes', async () => {
    const { url, drop } = await unopenedDatabase('pglite');
    onTestFinished(drop);
    const committed: string[] = [];
    for (const rows of [200, 60]) {
      const writer = databaseProcess(url, 'write');
      await writer.said(rows);
      writer.kill();
      await writer.exited;
      committed.push(...writer.lines);
    }
    const db = await openDatabase(url);
    onTestFinished(() => db.close());
    const { rows } = await sql<{ name: string }>`select name from projects`.execute(db.kysely);
    expect(rows.map(({ name }) => JSON.stringify(name))).toEqual(expect.arrayContaining(committed));
    expect(rows.length - committed.length).toBeLessThanOrEqual(2);
  });

  it('keeps what was written when it is closed, and is empty where it is in memory', async () => {
    const { url, drop } = await unopenedDatabase('pglite');
    onTestFinished(drop);
    const first = await openDatabase(url);
    const row = { id: crypto.randomUUID(), name: 'kept', description: '', upstreams: '{}', updated_at: new Date() };
    await first.kysely.insertInto('projects').values(row).execute();
    await first.close();
    const second = await openDatabase(url);
    expect(await second.pendingMigrations()).toEqual([]);
    expect(await second.kysely.selectFrom('projects').select('name').execute()).toEqual([{ name: 'kept' }]);
    await second.close();
    const inMemory = await openDatabase('pglite://');
    expect(await inMemory.pendingMigrations()).toContain('0001-tables');
    await inMemory.close();
    await expect(inMemory.ping()).rejects.toThrow();
  });
});
