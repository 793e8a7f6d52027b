import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DATABASE_AT_HAND, unopenedDatabase } from '../../../../test/control/database.ts';
import { type DeploymentView, Plane, Project, until } from '../../../../test/control/fleet.ts';
import { type ControlServer, startControl } from '../../../../test/control/server.ts';
import { jsonOf } from '../../../../test/serve/gateway.ts';

describe.each(DATABASE_AT_HAND)('deployments on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over HTTP', () => {
    let control: ControlServer;
    let drop: () => Promise<void>;
    let project: Project;
    let artifacts: readonly { id: string; artifact_hash: string }[];

    beforeAll(async () => {
      const database = await unopenedDatabase(kind);
      drop = database.drop;
      control = await startControl({ databaseUrl: database.url });
      project = await Project.create(control);
      artifacts = [await project.compile('one'), await project.compile('two'), await project.compile('three')];
    });
    afterAll(async () => {
      await control.stop();
      await drop();
    });

    /** The id of the n-th artifact. */
    const artifact = (n: number): string => artifacts[n]?.id ?? '';
    const hash = (n: number): string => artifacts[n]?.artifact_hash ?? '';

    async function planes(of: Project, count: number): Promise<readonly Plane[]> {
      const all = Array.from({ length: count }, (_, i) => new Plane(control.url, of, `plane-${i}`));
      onTestFinished(async () => void (await Promise.all(all.map((plane) => plane.stop()))));
      await until(
        () => of.dataPlanes(),
        (rows) => rows.filter(({ status }) => status === 'connected').length === count,
      );
      return all;
    }

    /** A project of its own with three artifacts, so that tests run in any order. */
    async function fresh() {
      const own = await Project.create(control);
      return { own, first: await own.compile('one'), second: await own.compile('two') };
    }

    it('succeed at once where no data plane is connected, and are what later ones serve', async () => {
      const { own, first } = await fresh();
      const answer = await own.ask('/deploy', { method: 'POST', json: { artifact_id: first.id } });
      expect(answer.status).toBe(202);
      const begun = await jsonOf<DeploymentView>(answer);
      expect(answer.headers.get('location')).toBe(`/projects/${own.id}/deployments/${begun.deployment_id}`);
      expect(begun).toMatchObject({
        artifact_id: first.id,
        artifact_hash: first.artifact_hash,
        kind: 'deploy',
        status: 'succeeded',
        target_data_planes: 0,
        previous_artifact_id: null,
        created_by: 'admin',
      });
      const [plane] = await planes(own, 1);
      await until(
        () => plane?.served,
        (served) => served === first.artifact_hash,
      );
      const [shown] = await until(
        () => own.dataPlanes(),
        ([row]) => row?.current_artifact_id === first.id,
      );
      expect(shown).toMatchObject({ name: 'plane-0', status: 'connected', current_artifact_hash: first.artifact_hash });
    });

    it('reach every connected data plane, and say what became of it at each', async () => {
      const { own, first } = await fresh();
      const fleet = await planes(own, 3);
      const begun = await own.deploy(first.id);
      expect(begun).toMatchObject({ status: 'in_progress', target_data_planes: 3 });
      const ended = await own.ended(begun);
      expect(ended).toMatchObject({ status: 'succeeded', reason: null, applied: 3, refused: 0, waiting: 0 });
      expect(ended.targets.map(({ name, status, served_hash }) => [name, status, served_hash])).toEqual(
        [0, 1, 2].map((i) => [`plane-${i}`, 'applied', first.artifact_hash]),
      );
      expect(fleet.map(({ served }) => served)).toEqual(Array.from({ length: 3 }, () => first.artifact_hash));
    });

    it('go back by themselves when too many data planes refuse, and not once more', async () => {
      const { own, first, second } = await fresh();
      const fleet = await planes(own, 3);
      await own.ended(await own.deploy(first.id));
      for (const plane of fleet) plane.fault = new Error('no such secret\u0000');
      const bad = await own.ended(await own.deploy(second.id));
      expect(bad).toMatchObject({ status: 'rolled_back', previous_artifact_id: first.id });
      expect(bad.reason).toMatch(/^[23] of 3 data planes refused it: load-failed/);
      const back = await until(
        () => own.get<readonly DeploymentView[]>('/deployments'),
        ([newest]) => newest?.kind === 'automatic_rollback' && newest.status !== 'in_progress',
      );
      expect(back[0]).toMatchObject({
        artifact_id: first.id,
        rollback_of: bad.deployment_id,
        created_by: 'system',
        status: 'succeeded',
      });
      expect(back.map(({ kind }) => kind)).toEqual(['automatic_rollback', 'deploy', 'deploy']);
      expect(fleet.map(({ served }) => served)).toEqual(Array.from({ length: 3 }, () => first.artifact_hash));
      const { deployed_artifact_id } = await own.get<{ deployed_artifact_id: string }>('');
      expect(deployed_artifact_id).toBe(first.id);
    });

    it('are not what later ones are given where the first is refused by all', async () => {
      const { own, first, second } = await fresh();
      const [plane] = await planes(own, 1);
      if (plane) plane.fault = new Error('no such secret');
      const bad = await own.ended(await own.deploy(first.id));
      expect(bad).toMatchObject({ status: 'failed', refused: 1, previous_artifact_id: null });
      expect(bad.reason).toMatch(/nothing was deployed before, so nothing is deployed now$/);
      expect(await own.get('')).toMatchObject({ deployed_artifact_id: null });
      const late = new Plane(control.url, own, 'late');
      onTestFinished(async () => void (await late.stop()));
      await until(
        () => own.dataPlanes(),
        (rows) => rows.filter(({ status }) => status === 'connected').length === 2,
      );
      if (plane) plane.fault = null;
      expect(await own.ended(await own.deploy(second.id))).toMatchObject({ status: 'succeeded', applied: 2 });
      // Nobody ever was told to serve the first again.
      expect(late.tried).toEqual([second.artifact_hash]);
    });

    it('have failed where some refuse, and the others serve it', async () => {
      const { own, first, second } = await fresh();
      const fleet = await planes(own, 3);
      await own.ended(await own.deploy(first.id));
      const [stubborn] = fleet;
      if (stubborn) stubborn.fault = new Error('the plugin does not load');
      const ended = await own.ended(await own.deploy(second.id));
      expect(ended).toMatchObject({ status: 'failed', applied: 2, refused: 1 });
      expect(ended.targets.find(({ name }) => name === 'plane-0')).toMatchObject({
        status: 'refused',
        reason: 'load-failed: the plugin does not load',
        served_hash: first.artifact_hash,
      });
      // To what was last deployed with success.
      const back = await own.get<DeploymentView>('/rollback', {});
      expect(back).toMatchObject({ kind: 'rollback', artifact_id: first.id, rollback_of: ended.deployment_id });
      expect(await own.ended(back)).toMatchObject({ status: 'succeeded', applied: 3 });
    });

    it('go back to what was served before, never to what has failed, and warn of it if it is named', async () => {
      const { own, first, second } = await fresh();
      const { id: third } = await own.compile('three');
      const [plane] = await planes(own, 1);
      await own.ended(await own.deploy(first.id));
      await own.ended(await own.deploy(second.id));
      // It was good once, and has failed since.
      if (plane) plane.fault = new Error('no such secret');
      await own.ended(await own.deploy(first.id, { rollback_threshold: null }));
      if (plane) plane.fault = null;
      await own.ended(await own.deploy(third));
      const back = await own.ended(await own.get<DeploymentView>('/rollback', {}));
      expect(back).toMatchObject({ artifact_id: second.id, status: 'succeeded', warning: null });
      // No artifact was served before that one, and a rollback never goes to the artifact that was just left.
      expect((await own.ask('/rollback', { method: 'POST', json: {} })).status).toBe(409);
      const named = await own.get<DeploymentView>('/rollback', { artifact_id: first.id });
      expect(named.warning).toMatch(/^this artifact failed when it was deployed before: 1 of 1 data planes refused it/);
    });

    it('time out where a data plane does not answer', async () => {
      const { own, first } = await fresh();
      const [quick, slow] = await planes(own, 2);
      let go = () => {};
      if (slow) slow.pause = new Promise((resolve) => (go = resolve));
      const ended = await own.ended(await own.deploy(first.id, { timeout_seconds: 5 }));
      go();
      expect(ended).toMatchObject({ status: 'timed_out', applied: 1, waiting: 0 });
      expect(ended.targets.map(({ status }) => status)).toEqual(['applied', 'timed_out']);
      expect(quick?.served).toBe(first.artifact_hash);
      // It goes on all the same.
      await until(
        () => slow?.served,
        (served) => served === first.artifact_hash,
      );
    });

    it('take the place of one in progress', async () => {
      const { own, first, second } = await fresh();
      const [plane] = await planes(own, 1);
      let go = () => {};
      if (plane) plane.pause = new Promise((resolve) => (go = resolve));
      const one = await own.deploy(first.id);
      const two = await own.deploy(second.id);
      go();
      expect(await own.deployment(one.deployment_id)).toMatchObject({ status: 'superseded' });
      expect(await own.ended(two)).toMatchObject({ status: 'succeeded', previous_artifact_id: null });
      expect(plane?.served).toBe(second.artifact_hash);
    });

    it('are one at a time, however many are asked for at once', async () => {
      const { own, first, second } = await fresh();
      const [plane] = await planes(own, 1);
      const wanted = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? first : second));
      const answers = await Promise.all(
        wanted.map(({ id }) => own.ask('/deploy', { method: 'POST', json: { artifact_id: id } })),
      );
      expect(answers.map(({ status }) => status)).toEqual(wanted.map(() => 202));
      const all = await until(
        () => own.get<readonly DeploymentView[]>('/deployments'),
        (rows) => rows.every(({ status }) => status !== 'in_progress'),
      );
      expect(all.filter(({ status }) => status === 'superseded')).toHaveLength(9);
      const { deployed_artifact_id } = await own.get<{ deployed_artifact_id: string }>('');
      expect(all[0]).toMatchObject({ status: 'succeeded', artifact_id: deployed_artifact_id });
      expect(plane?.served).toBe(all[0]?.artifact_hash);
    });

    it('take artifacts of the project only', async () => {
      const other = await Project.create(control);
      const refused = await other.ask('/deploy', { method: 'POST', json: { artifact_id: artifact(0) } });
      expect(refused.status).toBe(409);
      const unknown = await other.ask('/deploy', { method: 'POST', json: { artifact_id: crypto.randomUUID() } });
      expect(unknown.status).toBe(404);
      const nowhere = await control.ask(`/projects/${crypto.randomUUID()}/deploy`, {
        method: 'POST',
        json: { artifact_id: artifact(0) },
      });
      expect(nowhere.status).toBe(404);
      expect((await other.ask('/rollback', { method: 'POST', json: {} })).status).toBe(409);
    });

    it('are gone with their project', async () => {
      const { own, first, second } = await fresh();
      for (const { id } of [first, second, first]) await own.deploy(id);
      const [plane] = await planes(own, 1);
      expect((await own.ask('', { method: 'DELETE' })).status).toBe(409);
      await plane?.stop();
      await until(
        () => own.dataPlanes(),
        (rows) => rows.every(({ status }) => status === 'disconnected'),
      );
      expect((await own.ask('', { method: 'DELETE' })).status).toBe(204);
      expect((await own.ask('/deployments')).status).toBe(404);
    });

    it('are listed in pages, by status too, and read one by one', async () => {
      for (const n of [0, 1, 2]) await project.deploy(artifact(n));
      const page = await project.ask('/deployments?limit=2');
      const newest = await jsonOf<DeploymentView[]>(page);
      expect(newest.map(({ artifact_hash }) => artifact_hash)).toEqual([hash(2), hash(1)]);
      const next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
      const rest = await control.get<DeploymentView[]>(next);
      expect(rest[0]?.artifact_hash).toBe(hash(0));
      expect(await project.get('/deployments?status=failed')).toEqual([]);
      expect((await project.ask(`/deployments/${crypto.randomUUID()}`)).status).toBe(404);
      const back = await project.get<DeploymentView>('/rollback', { artifact_id: artifact(0) });
      expect(back).toMatchObject({ artifact_id: artifact(0), rollback_of: newest[0]?.deployment_id });
      const again = await project.ask('/rollback', { method: 'POST', json: { artifact_id: artifact(0) } });
      expect(again.status).toBe(409);
    });
  });
});
