/** A database whose disk is full: it answers queries, and stores nothing (docs/reference/control-plane.md#database). */
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openControlPlane } from '../../control/src/control-plane.ts';
import { openDatabase } from '../../control/src/db/database.ts';
import { DATABASE_KINDS, type DatabaseKind, unopenedDatabase } from './database.ts';
import { startControl } from './server.ts';

/** As the disk says it: for rows of a blob, while the table `full` is there. */
const TRIGGER = `
  CREATE TABLE disk_is_full ();
  CREATE FUNCTION fail_if_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF to_regclass('disk_is_full') IS NOT NULL THEN
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END IF;
    RETURN new;
  END $$;
  CREATE TRIGGER full_disk BEFORE INSERT ON blob_chunks FOR EACH ROW EXECUTE FUNCTION fail_if_full();`;

async function fullDatabase(kind: DatabaseKind): Promise<string> {
  const { url, drop } = await unopenedDatabase(kind);
  onTestFinished(drop);
  const control = await openControlPlane({ databaseUrl: url });
  await sql.raw(TRIGGER).execute(control.context.db.kysely);
  await control.close();
  return url;
}

const document = (title: string) => `openapi: 3.1.0\ninfo: { title: ${title}, version: "1" }\npaths: {}\n`;

describe.each(DATABASE_KINDS)('a full disk of %s', (_name, kind, absent) => {
  it.skipIf(absent)(
    'is said at start, is 507 for what would be stored, and not ready until there is room',
    async () => {
      const databaseUrl = await fullDatabase(kind);
      const server = await startControl({ databaseUrl });
      onTestFinished(async () => void (await server.stop()));
      const line = server.log.find(({ msg }) => msg.startsWith('the disk of the database is full'));
      expect(line).toMatchObject({ level: 'error' });
      const ready = async () => {
        const answer = await fetch(`${server.adminUrl}/readyz`);
        return [answer.status, await answer.json()];
      };
      expect(await ready()).toEqual([503, { status: 'disk full' }]);
      const body = () => {
        const form = new FormData();
        form.append('file', new Blob([document('Full')]), 'full.yaml');
        return form;
      };
      const refused = await server.ask('/specs', { method: 'POST', body: body() });
      expect([refused.status, await refused.json()]).toMatchObject([
        507,
        { type: 'urn:gw:error:insufficient-storage' },
      ]);
      expect(refused.headers.get('retry-after')).toBeNull();
      expect(await server.get('/specs')).toEqual([]);
      // Somebody makes room.
      if (kind === 'postgres') {
        const db = await openDatabase(databaseUrl);
        await sql`DROP TABLE disk_is_full`.execute(db.kysely);
        await db.close();
        expect(await ready()).toEqual([200, { status: 'ready' }]);
        expect((await server.ask('/specs', { method: 'POST', body: body() })).status).toBe(201);
      }
    },
  );
});
