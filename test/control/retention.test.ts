/**
 * What nothing needs goes in time, and nothing else does (docs/decisions.md#retention): as users see it before and
 * after.
 */
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Blobs } from '../../control/src/db/blobs.ts';
import { type Database, openDatabase } from '../../control/src/db/database.ts';
import type { Compilation } from '../../control/src/modules/compilations/schemas.ts';
import { Sweeper } from '../../control/src/retention/sweeper.ts';
import { DATABASE_AT_HAND, unopenedDatabase } from './database.ts';
import { type ArtifactView, type DeploymentView, Plane, Project, until } from './fleet.ts';
import { startControl } from './server.ts';

/** As replicas sweep, as often as `days` says, so many days from one to the next. */
async function swept(url: string, days: readonly number[], retention: object = {}): Promise<void> {
  const db = await openDatabase(url);
  const sweeper = new Sweeper({ db, blobs: new Blobs(db.kysely), log: pino({ enabled: false }) }, retention);
  for (const each of days) {
    await pass(db, each);
    expect(await sweeper.sweep()).toBe(true);
  }
  await sweeper.close();
  await db.close();
}

/** The clocks of the database stand still: what is in it gets older. */
async function pass({ kysely }: Database, days: number): Promise<void> {
  for (const table of ['artifacts', 'compilations']) {
    await sql`update ${sql.table(table)} set unneeded_since = unneeded_since - make_interval(days => ${days}),
      created_at = created_at - make_interval(days => ${days})`.execute(kysely);
  }
  await sql`update maintenance set begun_at = begun_at - interval '1 day'`.execute(kysely);
}

describe.each(DATABASE_AT_HAND)('retention on %s', (_name, kind, absent) => {
  it.skipIf(absent)(
    'keeps what is wanted, reported or among the last deployed, and the history of the rest',
    async () => {
      const { url: databaseUrl, drop } = await unopenedDatabase(kind);
      onTestFinished(drop);
      const options = { databaseUrl, args: ['--admin-bind', 'off'] };
      let control = await startControl(options);
      const project = await Project.create(control);
      const artifacts: ArtifactView[] = [];
      for (const body of ['reported', 'old', 'last but one', 'wanted', 'never deployed']) {
        artifacts.push(await project.compile(body));
      }
      const [reported, old, lastButOne, wanted, never] = artifacts.map(({ id }) => id);
      const plane = new Plane(control.url, project, 'away');
      await until(
        () => project.dataPlanes(),
        ([row]) => row?.status === 'connected',
      );
      await project.ended(await project.deploy(reported ?? ''));
      await until(
        () => project.dataPlanes(),
        ([row]) => row?.current_artifact_id === reported,
      );
      await plane.stop();
      for (const id of [old, lastButOne, wanted]) await project.ended(await project.deploy(id ?? ''));
      await control.stop();

      const ids = async () => (await project.by(control).get<ArtifactView[]>('/artifacts')).map(({ id }) => id).sort();
      // Nothing goes before its time, which begins with the first sweep: a hundred days after it was made, too.
      await swept(databaseUrl, [100, 29], { retentionDeployed: 2 });
      control = await startControl(options);
      expect(await ids()).toEqual([reported, old, lastButOne, wanted, never].sort());
      await control.stop();

      // With the defaults the old one is needed again: its time begins anew.
      await swept(databaseUrl, [0]);
      await swept(databaseUrl, [2, 29], { retentionDeployed: 2 });
      control = await startControl(options);
      expect(await ids()).toEqual([reported, old, lastButOne, wanted].sort());
      await control.stop();

      await swept(databaseUrl, [2], { retentionDeployed: 2 });
      control = await startControl(options);
      onTestFinished(async () => void (await control.stop()));
      expect(await ids()).toEqual([reported, lastButOne, wanted].sort());
      const own = project.by(control);
      const history = await own.get<DeploymentView[]>('/deployments');
      expect(history.map(({ artifact_id, artifact_hash }) => [artifact_id, artifact_hash])).toEqual([
        [wanted, artifacts[3]?.artifact_hash],
        [lastButOne, artifacts[2]?.artifact_hash],
        [null, artifacts[1]?.artifact_hash],
        [reported, artifacts[0]?.artifact_hash],
      ]);
      const compilations = await own.get<Compilation[]>('/compilations');
      expect(compilations.map(({ artifact_id }) => artifact_id ?? '').sort()).toEqual(
        [reported, lastButOne, wanted].sort(),
      );
      expect((await own.ask('/rollback', { method: 'POST', json: {} })).status).toBe(202);
      // What is gone is compiled again, to the same hash.
      expect((await own.compile('old')).artifact_hash).toBe(artifacts[1]?.artifact_hash);
    },
  );

  it.skipIf(absent)('is off where that is wanted', async () => {
    const { url: databaseUrl, drop } = await unopenedDatabase(kind);
    onTestFinished(drop);
    const control = await startControl({ databaseUrl, args: ['--admin-bind', 'off', '--retention-days', 'never'] });
    const project = await Project.create(control);
    const { id } = await project.compile('kept');
    await control.stop();
    await swept(databaseUrl, [0, 100], { retentionDays: null });
    const again = await startControl({ databaseUrl, args: ['--admin-bind', 'off'] });
    onTestFinished(async () => void (await again.stop()));
    expect(await project.by(again).get<ArtifactView[]>('/artifacts')).toMatchObject([{ id }]);
  });
});
