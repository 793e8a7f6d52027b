/** Compilations while replicas die and stop, and while the database is away: each is done, once. */
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../control/src/db/database.ts';
import type { Artifact } from '../../control/src/modules/artifacts/schemas.ts';
import type { Compilation } from '../../control/src/modules/compilations/schemas.ts';
import { eventually } from '../eventually.ts';
import { Gate } from '../serve/gate.ts';
import { bigSpec, compile, follow, type Rest, specOf, uploadSpec } from './compiling.ts';
import { cutConnections, DATABASE_AT_HAND, DATABASE_URL, unopenedDatabase } from './database.ts';
import { countOf, NO_ORPHANS, orphansAfterSweep } from './orphans.ts';
import { type ControlOptions, type ControlServer, startControl } from './server.ts';

async function start({ args = [], ...options }: ControlOptions): Promise<ControlServer> {
  const server = await startControl({ ...options, args: ['--admin-bind', 'off', ...args] });
  onTestFinished(() => server.signal('SIGKILL'));
  return server;
}

async function atWork(server: Rest, id: string): Promise<void> {
  await eventually(async () => expect(await server.get(`/compilations/${id}`)).toMatchObject({ stage: 'compiling' }));
}

describe.skipIf(DATABASE_URL === undefined)('compilations of several replicas (needs DATABASE_URL)', () => {
  const database = async () => {
    const { url, drop } = await unopenedDatabase('postgres');
    onTestFinished(drop);
    return url;
  };
  const opened = async (url: string) => {
    const db = await openDatabase(url);
    onTestFinished(() => db.close());
    return db;
  };

  it('that is killed over one: another does it, once, and no bytes are left behind', async () => {
    const databaseUrl = await database();
    const first = await start({ databaseUrl });
    const spec = await uploadSpec(first, 'big.yaml', bigSpec());
    const { id } = await compile(first, `/specs/${spec}`);
    await atWork(first, id);
    first.signal('SIGKILL');
    await first.exited;
    const second = await start({ databaseUrl });
    expect(await second.get(`/compilations/${id}`)).toMatchObject({ status: 'compiling', attempts: 1 });
    const done = (await follow(second, id)).at(-1);
    expect(done).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect((await second.get<Artifact[]>('/artifacts')).map((each) => each.id)).toEqual([done?.artifact_id]);
    const db = await opened(databaseUrl);
    expect(await orphansAfterSweep(db)).toEqual(NO_ORPHANS);
    expect((await second.ask(`/artifacts/${done?.artifact_id}/download`, { method: 'HEAD' })).status).toBe(200);
  });

  it('are shared, and each is done once', async () => {
    const databaseUrl = await database();
    const replicas = [await start({ databaseUrl }), await start({ databaseUrl })] as const;
    const specs = await Promise.all([1, 2, 3, 4, 5].map((n) => uploadSpec(replicas[0], `s${n}.yaml`, specOf(100 * n))));
    const asked = await Promise.all(
      Array.from({ length: 50 }, (_, i) => compile(replicas[i % 2 ? 0 : 1], `/specs/${specs[i % 5]}`)),
    );
    // What one did, the other tells.
    const ends = await Promise.all(asked.map(async ({ id }, i) => (await follow(replicas[i % 2 ? 1 : 0], id)).at(-1)));
    expect(ends.filter((end) => end?.status === 'succeeded' && end.attempts === 1).length).toBe(50);
    expect(new Set(ends.map((end) => end?.artifact_id)).size).toBe(5);
    const done = () =>
      replicas.map(({ log }) => log.filter(({ msg }) => msg === 'compiled').map((line) => line['compilation']));
    // A replica's line comes after the state that the other tells.
    await eventually(() => expect(done().flat().sort()).toEqual(asked.map(({ id }) => id).sort()));
    expect(Math.min(...done().map(({ length }) => length))).toBeGreaterThan(0);
  });

  it('outlive a database that cuts all connections, and one that is away', async () => {
    const url = await database();
    const gate = new Gate(url, 5432);
    await gate.open();
    onTestFinished(() => gate.close());
    const server = await start({ databaseUrl: gate.url });
    const db = await opened(url);
    const spec = await uploadSpec(server, 'some.yaml', specOf(4_000));
    const asked: Compilation[] = [];
    for (let i = 0; i < 8; i++) asked.push(await compile(server, `/specs/${spec}`));
    const ended = () => countOf(db, 'compilations', sql`status in ('succeeded', 'failed')`);
    const reached = (n: number) => eventually(async () => expect(await ended()).toBeGreaterThanOrEqual(n));
    await reached(1);
    await cutConnections(db);
    await reached(3);
    await gate.close();
    await eventually(async () => expect((await server.ask('/artifacts')).status).toBeGreaterThanOrEqual(500));
    await gate.open();
    await reached(asked.length);
    const ends = await server.get<Compilation[]>(`/specs/${spec}/compilations`);
    expect(ends.map(({ status }) => status)).toEqual(asked.map(() => 'succeeded'));
    expect((await server.get<Artifact[]>('/artifacts')).length).toBe(1);
  });
});

describe.each(DATABASE_AT_HAND)('a replica on %s', (_name, kind, absent) => {
  it.skipIf(absent)(
    'that is stopped hands back what it has no time for, and the next one does it at once',
    async () => {
      const { url: databaseUrl, drop } = await unopenedDatabase(kind);
      onTestFinished(drop);
      const first = await start({ databaseUrl, args: ['--drain-timeout', '0'] });
      const spec = await uploadSpec(first, 'big.yaml', bigSpec());
      const { id } = await compile(first, `/specs/${spec}`);
      await atWork(first, id);
      expect(await first.stop()).toBe(0);
      const second = await start({ databaseUrl });
      const done = (await follow(second, id)).at(-1);
      expect(done).toMatchObject({ status: 'succeeded', attempts: 1 });
      expect(second.log.filter(({ msg }) => msg === 'a compilation was taken over')).toEqual([]);
    },
  );
});
