import { Kysely, sql } from 'kysely';
import { DatabaseError, Pool } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testDatabase } from '../../../test/control/database.ts';
import { freePort } from '../../../test/free-port.ts';
import { controlErrorOf } from '../http/problem.ts';
import type { Schema } from './schema.ts';
import { isTransient } from './transient.ts';
import { DatabaseUnavailable, TellingDialect } from './unavailable.ts';

const thrownBy = (query: Promise<unknown>): Promise<unknown> =>
  query.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error,
  );

describe('an error of the database', () => {
  it.each(['127.0.0.1', 'localhost'])('that is away at %s is told as that, and is 503', async (host) => {
    const pool = new Pool({ host, port: await freePort() });
    const kysely = new Kysely<Schema>({ dialect: new TellingDialect({ pool }) });
    onTestFinished(() => kysely.destroy());
    for (const query of [
      () => sql`select 1`.execute(kysely),
      () => kysely.transaction().execute((tx) => sql`select 1`.execute(tx)),
    ]) {
      const error = await thrownBy(query());
      expect(error).toBeInstanceOf(DatabaseUnavailable);
      expect(String(error)).toMatch(/ECONNREFUSED|no address/);
      expect(isTransient(error)).toBe(true);
      const { status, message } = controlErrorOf(error);
      expect([status, message]).toEqual([503, 'the database does not answer at the moment: try again shortly']);
    }
  });

  it('that answers stays as it is', async () => {
    const { db, close } = await testDatabase('pglite');
    onTestFinished(close);
    const refused = await thrownBy(sql`select no_such_column`.execute(db.kysely));
    expect(refused).toBeInstanceOf(DatabaseError);
    expect(isTransient(refused)).toBe(false);
    const inTransaction = await thrownBy(
      db.kysely.transaction().execute(() => {
        throw new Error('of the caller');
      }),
    );
    expect(inTransaction).not.toBeInstanceOf(DatabaseUnavailable);
    expect(isTransient(inTransaction)).toBe(false);
    expect(controlErrorOf(inTransaction).status).toBe(500);
  });
});
