/** What replicas clean up in turn, on both databases. */
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DATABASE_KINDS, testDatabase } from '../../../test/control/database.ts';
import { Blobs } from '../db/blobs.ts';
import { Sweeper } from './sweeper.ts';

async function* bytes(text: string) {
  yield Buffer.from(text);
}

describe.each(DATABASE_KINDS)('sweeping on %s', (_name, kind, absent) => {
  it.skipIf(absent)('is done by one replica at a time, and leaves what is young', async () => {
    const { db, close } = await testDatabase(kind);
    onTestFinished(close);
    const blobs = new Blobs(db.kysely);
    const old = await blobs.put(bytes('old'), 10);
    const young = await blobs.put(bytes('young'), 10);
    await sql`update blobs set touched_at = now() - interval '2 hours' where sha256 = ${old.sha256}`.execute(db.kysely);
    await sql`insert into idempotency_keys (key, actor, fingerprint, claim, created_at) values
      ('old', 'a', 'f', gen_random_uuid(), now() - interval '25 hours'), ('young', 'a', 'f', gen_random_uuid(), now())`.execute(
      db.kysely,
    );
    const sweepers = [1, 2].map(() => new Sweeper({ db, blobs, log: pino({ enabled: false }) }));
    onTestFinished(async () => void (await Promise.all(sweepers.map((each) => each.close()))));
    const swept = await Promise.all(sweepers.map((each) => each.sweep()));
    expect(swept.sort()).toEqual([false, true]);
    expect([await blobs.info(old.sha256), await blobs.info(young.sha256)]).toEqual([null, young]);
    const { rows } = await sql`select key from idempotency_keys`.execute(db.kysely);
    expect(rows).toEqual([{ key: 'young' }]);
    await sql`update maintenance set begun_at = begun_at - interval '11 minutes'`.execute(db.kysely);
    expect([await sweepers[0]?.sweep(), await sweepers[1]?.sweep()]).toEqual([true, false]);
  });
});
