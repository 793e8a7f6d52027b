/** Deployments while the database, or the way to a gateway, breaks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../control/src/db/database.ts';
import { Gate } from '../serve/gate.ts';
import { type Gateway, startGateway } from '../serve/gateway.ts';
import { cutConnections, DATABASE_URL, emptyDatabase } from './database.ts';
import { type DataPlaneView, type DeploymentView, Plane, Project, until } from './fleet.ts';
import { type ControlServer, startControl } from './server.ts';

/** Processes that start, and deployments, on a machine that does other work. */
const SLOW = 120_000;

describe.skipIf(DATABASE_URL === undefined)('a database that breaks (needs DATABASE_URL)', () => {
  let gate: Gate;
  let drop: () => Promise<void>;
  let direct: Database;
  let a: ControlServer;
  let b: ControlServer;

  beforeAll(async () => {
    const database = await emptyDatabase('postgres');
    drop = database.drop;
    direct = await openDatabase(database.url);
    gate = new Gate(database.url, 5432);
    await gate.open();
    a = await startControl({ databaseUrl: gate.url });
    b = await startControl({ databaseUrl: gate.url });
  }, SLOW);
  afterAll(async () => {
    await Promise.all([a.stop(), b.stop()]);
    await gate.close();
    await direct.close();
    await drop();
  });

  async function fleet(count: number) {
    const project = await Project.create(a);
    const artifacts = [await project.compile('1'), await project.compile('2'), await project.compile('3')];
    const all = Array.from({ length: count }, (_, i) => new Plane((i % 2 ? a : b).url, project, `plane-${i}`));
    onTestFinished(async () => void (await Promise.all(all.map((each) => each.stop()))));
    await until(
      () => project.dataPlanes(),
      (rows) => rows.filter(({ status }) => status === 'connected').length === count,
    );
    return { project, artifacts, all };
  }

  /** Asked until the database takes it, as a user would. */
  async function deploy(project: Project, artifactId: string): Promise<DeploymentView> {
    const [begun] = await until(
      async () => [await project.deploy(artifactId).catch(() => null)],
      ([each]) => each !== null,
      30_000,
    );
    if (!begun) throw new Error('no deployment');
    return begun;
  }

  const settled = (project: Project, hash: string | undefined) =>
    until(
      () => project.dataPlanes().catch((): readonly DataPlaneView[] => []),
      (rows) =>
        rows.length > 0 && rows.every((row) => row.status === 'connected' && row.current_artifact_hash === hash),
      30_000,
    );

  it('cuts its connections during deployments: every data plane ends on the right hash', {
    timeout: SLOW,
  }, async () => {
    const { project, artifacts, all } = await fleet(20);
    let cutting = true;
    const cuts = (async () => {
      while (cutting) {
        await cutConnections(direct);
        await sleep(300);
      }
    })();
    let last = '';
    let hash: string | undefined;
    for (let i = 0; i < 8; i++) {
      const artifact = artifacts[i % 3];
      last = (await deploy(project, artifact?.id ?? '')).deployment_id;
      hash = artifact?.artifact_hash;
      await sleep(250);
    }
    cutting = false;
    await cuts;
    await until(
      () => all.filter(({ served }) => served === hash).length,
      (count) => count === all.length,
      30_000,
    );
    expect(await project.ended({ deployment_id: last }, 30_000)).toMatchObject({ status: 'succeeded', applied: 20 });
    await settled(project, hash);
    const open = await project.get<readonly DeploymentView[]>('/deployments?status=in_progress');
    expect(open).toEqual([]);
  });

  it('is away for twelve seconds: data planes stay, and catch up', { timeout: SLOW }, async () => {
    const { project, artifacts, all } = await fleet(6);
    const [first, second] = artifacts;
    await project.ended(await project.deploy(first?.id ?? ''));
    const connections = all.map((each) => each.connections);
    await gate.close();
    const refused = await project.ask('/deploy', { method: 'POST', json: { artifact_id: second?.id } });
    expect(refused.status).toBeGreaterThanOrEqual(500);
    await sleep(12_000);
    await gate.open();
    const begun = await deploy(project, second?.id ?? '');
    expect(await project.ended(begun, 30_000)).toMatchObject({ status: 'succeeded', applied: 6 });
    expect(all.map(({ served }) => served)).toEqual(all.map(() => second?.artifact_hash));
    // Nobody was thrown out for the database's sake, nor taken for dead by it.
    expect(all.map((each) => each.connections)).toEqual(connections);
    await settled(project, second?.artifact_hash);
  });

  it('leaves a gateway alone that is cut off: it serves on, starts from its cache, catches up', {
    timeout: SLOW,
  }, async () => {
    const project = await Project.create(a);
    const [first, second] = [await project.compile('first'), await project.compile('second')];
    const road = new Gate(a.url);
    await road.open();
    const cache = mkdtempSync(join(tmpdir(), 'gw-cut-off-'));
    onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
    const start = () =>
      startGateway(null, {
        args: [
          ...['--control-plane', road.url.replace(/^http/, 'ws'), '--project-id', project.id],
          ...['--data-plane-name', 'far', '--cache-dir', cache],
        ],
        env: { GW_API_KEY: project.key },
      });
    const serves = async (gw: Gateway, body: string) =>
      until(
        async () => (await fetch(`${gw.url}/a`)).text(),
        (text) => text === body,
        60_000,
      );
    await project.deploy(first.id);
    const gw = await start();
    await serves(gw, 'first');
    await road.close();
    await project.deploy(second.id);
    await sleep(500);
    await serves(gw, 'first');
    await gw.stop();
    const again = await start();
    onTestFinished(async () => void (await again.stop()));
    await serves(again, 'first');
    await road.open();
    await serves(again, 'second');
    const [row] = await until(
      () => project.dataPlanes(),
      ([each]) => each?.current_artifact_id === second.id,
    );
    expect(row).toMatchObject({ name: 'far', status: 'connected' });
    await road.close();
  });
});
