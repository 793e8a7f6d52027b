/** Deployments by two replicas on one PostgreSQL server to real gateways, which do not mind when one of them dies. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { LONG } from '../property-runs.ts';
import { type Gateway, jsonOf, startGateway } from '../serve/gateway.ts';
import { DATABASE_URL, emptyDatabase } from './database.ts';
import { Plane, Project, until } from './fleet.ts';
import { LoadBalancer } from './load-balancer.ts';
import { type ControlServer, startControl } from './server.ts';

/** Processes that start, and deployments, on a machine that does other work. */
const SLOW = 120_000;

/** Artifacts that are deployed one after another. */
const TIMES = LONG ? 50 : 15;

describe.skipIf(DATABASE_URL === undefined)('deploying by two replicas (needs DATABASE_URL)', () => {
  let databaseUrl: string;
  let drop: () => Promise<void>;
  let a: ControlServer;
  let b: ControlServer;

  beforeAll(async () => {
    const database = await emptyDatabase('postgres');
    databaseUrl = database.url;
    drop = database.drop;
    a = await startControl({ databaseUrl });
    b = await startControl({ databaseUrl });
  }, SLOW);
  afterAll(async () => {
    await Promise.all([a.stop(), b.stop()]);
    await drop();
  });

  async function gateway(project: Project, control: string, name: string, env = {}, args: readonly string[] = []) {
    const gw = await startGateway(null, {
      args: [
        ...['--control-plane', control.replace(/^http/, 'ws'), '--project-id', project.id],
        ...['--data-plane-name', name, ...args],
      ],
      env: { GW_API_KEY: project.key, ...env },
    });
    onTestFinished(async () => void (await gw.stop()));
    return gw;
  }

  function planes(project: Project, control: string, count: number, of = 'plane'): readonly Plane[] {
    const all = Array.from({ length: count }, (_, i) => new Plane(control, project, `${of}-${i}`));
    onTestFinished(async () => void (await Promise.all(all.map((each) => each.stop()))));
    return all;
  }

  const connected = (project: Project, count: number, withinMs?: number) =>
    until(
      () => project.dataPlanes(),
      (rows) => rows.filter(({ status }) => status === 'connected').length === count,
      withinMs,
    );

  const answer = async (gw: Gateway) => {
    const response = await fetch(`${gw.url}/a`);
    return `${response.status} ${await response.text()}`;
  };

  it('through one replica reaches the gateways of both, which serve it', { timeout: SLOW }, async () => {
    const project = await Project.create(a);
    const [first, second] = [await project.compile('one'), await project.compile('two')];
    const gateways = [await gateway(project, a.url, 'on-a'), await gateway(project, b.url, 'on-b')];
    await connected(project, 2);
    for (const [artifact, body] of [
      [first, 'one'],
      [second, 'two'],
    ] as const) {
      const begun = await project.by(b).deploy(artifact.id);
      expect(begun.target_data_planes).toBe(2);
      expect(await project.ended(begun)).toMatchObject({ status: 'succeeded', applied: 2 });
      expect(await Promise.all(gateways.map(answer))).toEqual([`200 ${body}`, `200 ${body}`]);
    }
    const provenance = await Promise.all(gateways.map(async ({ admin }) => jsonOf(await fetch(`${admin}/provenance`))));
    expect(provenance.map((each) => each['artifact_hash'])).toEqual([second.artifact_hash, second.artifact_hash]);
    const rows = await until(
      () => project.dataPlanes(),
      (each) => each.every(({ current_artifact_id }) => current_artifact_id === second.id),
    );
    expect(rows.map(({ name }) => name)).toEqual(['on-a', 'on-b']);
  });

  it('of what no key that a gateway trusts has signed fails there', { timeout: SLOW }, async () => {
    const project = await Project.create(a);
    const artifact = await project.compile('unsigned');
    await gateway(project, b.url, 'strict', { GW_TRUSTED_PUBKEY: '11'.repeat(32) });
    await connected(project, 1);
    const ended = await project.ended(await project.deploy(artifact.id));
    expect(ended).toMatchObject({ status: 'failed', applied: 0, refused: 1 });
    expect(ended.reason).toBe(
      '1 of 1 data planes refused it: signature (1); nothing was deployed before, so nothing is deployed now',
    );
    expect(ended.targets[0]).toMatchObject({ name: 'strict', status: 'refused', served_hash: null });
  });

  it('again and again under load fails no request', { timeout: SLOW }, async () => {
    const project = await Project.create(a);
    const artifacts = [await project.compile('x'), await project.compile('y'), await project.compile('z')];
    const gateways = [await gateway(project, a.url, 'load-a'), await gateway(project, b.url, 'load-b')];
    await connected(project, 2);
    await project.ended(await project.deploy(artifacts[0]?.id ?? ''));
    let loading = true;
    const failures: string[] = [];
    let requests = 0;
    const load = gateways.flatMap((gw) =>
      Array.from({ length: 4 }, async () => {
        while (loading) {
          const said = await answer(gw).catch((error: unknown) => String(error));
          requests++;
          if (!/^200 [xyz]$/.test(said)) failures.push(said);
        }
      }),
    );
    for (let i = 1; i <= TIMES; i++) {
      const begun = await project.by(i % 2 === 0 ? a : b).deploy(artifacts[i % 3]?.id ?? '');
      expect(await project.ended(begun)).toMatchObject({ status: 'succeeded', applied: 2 });
    }
    loading = false;
    await Promise.all(load);
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(10 * TIMES);
  });

  it('disconnects and revokes at whichever replica a data plane is', async () => {
    const project = await Project.create(a);
    const [plane] = planes(project, a.url, 1);
    const [row] = await connected(project, 1);
    expect((await project.by(b).ask(`/data-planes/${row?.id}`, { method: 'DELETE' })).status).toBe(204);
    await until(
      () => plane?.connections,
      (count) => count === 2,
    );
    expect(plane?.ends).toEqual(['disconnected']);
    await project.by(b).ask(`/api-keys/${project.keyId}`, { method: 'DELETE' });
    await until(
      () => plane?.ends,
      (ends) => ends?.includes('revoked') === true,
      20_000,
    );
  });

  it('survives kill -9 of a replica: its data planes are at the other one within seconds', {
    timeout: SLOW,
  }, async () => {
    const doomed = await startControl({ databaseUrl });
    const balancer = await LoadBalancer.before([doomed.url, b.url]);
    onTestFinished(() => balancer.close());
    const project = await Project.create(b);
    const [first, second] = [await project.compile('before'), await project.compile('after')];
    const fleet = planes(project, balancer.url, 20);
    await connected(project, 20);
    await project.ended(await project.deploy(first.id));
    doomed.signal('SIGKILL');
    const begun = await project.deploy(second.id);
    await until(
      () => fleet.filter(({ served }) => served === second.artifact_hash).length,
      (count) => count === 20,
    );
    expect(await project.ended(begun)).toMatchObject({ status: 'succeeded', applied: 20 });
    const rows = await connected(project, 20);
    expect(rows.every(({ current_artifact_id }) => current_artifact_id === second.id)).toBe(true);
    // Those that do not come back are found: nobody else could say that they have gone.
    const lost = await startControl({ databaseUrl });
    const own = await Project.create(b);
    const [stray] = planes(own, lost.url, 1, 'stray');
    await connected(own, 1);
    lost.signal('SIGKILL');
    await stray?.stop();
    const gone = await until(
      () => own.dataPlanes(),
      ([row]) => row?.status === 'disconnected',
      30_000,
    );
    expect(gone[0]?.disconnected_at).not.toBeNull();
  });

  it('goes on when a replica stops, which sends its data planes elsewhere', { timeout: SLOW }, async () => {
    const leaving = await startControl({ databaseUrl });
    const balancer = await LoadBalancer.before([leaving.url, a.url]);
    onTestFinished(() => balancer.close());
    const project = await Project.create(a);
    const fleet = planes(project, balancer.url, 6);
    await connected(project, 6);
    expect(await leaving.stop()).toBe(0);
    await until(
      () => fleet.filter((each) => each.connected).length,
      (count) => count === 6,
    );
    await connected(project, 6);
  });
});
