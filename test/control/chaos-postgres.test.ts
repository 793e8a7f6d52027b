/** PostgreSQL really restarted under load: what was accepted is done, once, and everybody ends up with the same. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../control/src/db/database.ts';
import { jsonOf } from '../serve/gateway.ts';
import { specOf } from './compiling.ts';
import { type ArtifactView, type DataPlaneView, type DeploymentView, Plane, Project, until } from './fleet.ts';
import { countOf, NO_ORPHANS, orphansAfterSweep } from './orphans.ts';
import { NO_POSTGRES, PrivatePostgres } from './private-postgres.ts';
import { type ControlServer, startControl } from './server.ts';
import { halfUpload, wholeForm } from './slow-upload.ts';

const SLOW = 240_000;
/** Milliseconds for any answer: waiting for a connection, and the longest statement, with room to spare. */
const PATIENCE = 60_000;
const FLEET = 10;

/** What a replica answered while the database came and went. */
interface Answer {
  readonly status: number;
  /** Type of the problem, where it is one. */
  readonly problem: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

describe.skipIf(NO_POSTGRES)('PostgreSQL restarted under load (needs GW_POSTGRES_BIN, or an installation)', () => {
  let postgres: PrivatePostgres;
  let db: Database;
  let replicas: readonly [ControlServer, ControlServer];
  beforeAll(async () => {
    postgres = await PrivatePostgres.start();
    replicas = [await startControl({ databaseUrl: postgres.url }), await startControl({ databaseUrl: postgres.url })];
    db = await openDatabase(postgres.url);
  }, SLOW);
  afterAll(async () => {
    await Promise.all((replicas ?? []).map((each) => each.stop()));
    await db?.close();
    await postgres?.close();
  }, SLOW);

  it('loses nothing that was accepted, and does nothing twice', { timeout: SLOW }, async () => {
    const project = await Project.create(replicas[0]);
    const artifacts = [await project.compile('1'), await project.compile('2'), await project.compile('3')];
    const planes = Array.from(
      { length: FLEET },
      (_, i) => new Plane(replicas[i % 2 === 0 ? 0 : 1].url, project, `plane-${i}`),
    );
    try {
      await until(
        () => project.dataPlanes(),
        (rows) => rows.filter(({ status }) => status === 'connected').length === FLEET,
      );
      const load = new Load(replicas, project, artifacts);
      const working = load.run();
      for (const mode of ['fast', 'immediate'] as const) {
        const before = load.answered();
        await until(load.answered, (n) => n >= before + 20, PATIENCE);
        await postgres.stop(mode);
        await sleep(2_000);
        await postgres.resume();
        const after = load.accepted.compilations.length;
        await until(
          () => load.accepted.compilations.length,
          (n) => n >= after + 5,
          PATIENCE,
        );
      }
      load.stop();
      await working;

      // Refusals while the database was away: problem documents that say so, and nothing else.
      expect(load.unexpected).toEqual([]);
      expect(load.refused).toBeGreaterThan(0);
      await everyCompilationEnded(load);
      await everyPlaneServesTheNewest(project, planes, artifacts);
      await everyChangeIsInTheAuditLog(load);
      await until(
        () => orphansAfterSweep(db),
        (orphans) => JSON.stringify(orphans) === JSON.stringify(NO_ORPHANS),
      );
    } finally {
      await Promise.all(planes.map((each) => each.stop()));
    }
  });

  it('in the middle of an upload is 503, and the next one succeeds', { timeout: SLOW }, async () => {
    const description = 'x'.repeat(8 << 20);
    const bytes = Buffer.from(
      JSON.stringify({ openapi: '3.1.0', info: { title: 'L', version: '1', description }, paths: {} }),
    );
    const upload = { filename: 'interrupted.json', bytes };
    await orphansAfterSweep(db);
    const { outcome, finish } = await halfUpload(`${replicas[0].url}/specs`, upload);
    await until(
      () => countOf(db, 'blob_uploads'),
      (n) => n === 1,
    );
    await postgres.stop('immediate');
    await finish();
    expect(await outcome).toEqual({ status: 503 });
    await postgres.resume();
    const again = await until(
      () => replicas[0].ask('/specs', { method: 'POST', body: wholeForm(upload) }),
      ({ status }) => status !== 503,
    );
    expect(again.status).toBe(201);
    expect(await orphansAfterSweep(db)).toEqual(NO_ORPHANS);
  });

  /** Once each, and one artifact for each document. */
  async function everyCompilationEnded({ accepted }: Load): Promise<void> {
    const open = () => countOf(db, 'compilations', sql`status in ('pending', 'compiling')`);
    await until(open, (n) => n === 0, PATIENCE);
    const ids = sql.join(accepted.compilations);
    const succeeded = await countOf(db, 'compilations', sql`id in (${ids}) and status = 'succeeded'`);
    expect(succeeded).toBe(accepted.compilations.length);
    const ended = replicas
      .flatMap(({ log }) => log.filter(({ msg }) => msg === 'compiled'))
      .map((line) => line['compilation']);
    expect(new Set(ended).size).toBe(ended.length);
    const { rows } = await sql`
      select project_id, artifact_hash from artifacts group by 1, 2 having count(*) > 1`.execute(db.kysely);
    expect(rows).toEqual([]);
    const unused = sql`id not in (select artifact_id from compilations where artifact_id is not null)`;
    expect(await countOf(db, 'artifacts', unused)).toBe(0);
  }

  async function everyPlaneServesTheNewest(
    project: Project,
    planes: readonly Plane[],
    artifacts: readonly ArtifactView[],
  ) {
    const [newest] = await project.get<readonly DeploymentView[]>('/deployments');
    const hash = artifacts.find(({ id }) => id === newest?.artifact_id)?.artifact_hash;
    expect(hash).toBeDefined();
    await until(
      () => planes.map(({ served }) => served),
      (served) => served.every((each) => each === hash),
      PATIENCE,
    );
    await until(
      () => project.get<readonly DeploymentView[]>('/deployments?status=in_progress'),
      (open) => open.length === 0,
      PATIENCE,
    );
    await until(
      (): Promise<readonly DataPlaneView[]> => project.dataPlanes(),
      (rows) => rows.every((row) => row.status === 'connected' && row.current_artifact_hash === hash),
      PATIENCE,
    );
  }

  /** One entry for each, also for those whose answer was lost with the connection. */
  async function everyChangeIsInTheAuditLog({ accepted }: Load): Promise<void> {
    const entries = (ids: readonly string[]) => countOf(db, 'audit_entries', sql`resource_id in (${sql.join(ids)})`);
    expect(await entries(accepted.compilations)).toBe(accepted.compilations.length);
    expect(await entries(accepted.deployments)).toBe(accepted.deployments.length);
    expect(await entries(accepted.specs)).toBe(accepted.specs.length);
    const of = (action: string) => countOf(db, 'audit_entries', sql`action = ${action}`);
    expect(await of('deployments.deploy')).toBe(await countOf(db, 'deployments', sql`kind = 'deploy'`));
    expect(await of('specs.upload')).toBe(await countOf(db, 'specs', sql`project_id is null`));
    expect(await of('compilations.compileSpec')).toBe(await countOf(db, 'compilations', sql`spec_id is not null`));
  }
});

/** Uploads, compilations and deployments through both replicas, one after the other on each. */
class Load {
  readonly accepted = {
    specs: [] as string[],
    compilations: [] as string[],
    deployments: [] as string[],
  };
  /** Answers that say that the database is away. */
  refused = 0;
  /** Answers that nobody should get. */
  readonly unexpected: unknown[] = [];
  readonly #replicas: readonly ControlServer[];
  readonly #project: Project;
  readonly #artifacts: readonly ArtifactView[];
  #stopped = false;
  #n = 0;

  constructor(replicas: readonly ControlServer[], project: Project, artifacts: readonly ArtifactView[]) {
    this.#replicas = replicas;
    this.#project = project;
    this.#artifacts = artifacts;
  }

  answered = (): number => {
    const { specs, compilations, deployments } = this.accepted;
    return specs.length + compilations.length + deployments.length + this.refused;
  };

  stop(): void {
    this.#stopped = true;
  }

  async run(): Promise<void> {
    await Promise.all(this.#replicas.flatMap((replica) => [this.#uploading(replica), this.#deploying(replica)]));
  }

  async #uploading(replica: ControlServer): Promise<void> {
    while (!this.#stopped) {
      const n = this.#n++;
      const form = new FormData();
      form.append('file', new Blob([specOf(50).replace('title: Made', `title: Made ${n}`)]), `load-${n}.yaml`);
      const uploaded = await this.#post(replica, '/specs', { body: form });
      if (uploaded?.status !== 201) continue;
      const id = String(uploaded.body['id']);
      this.accepted.specs.push(id);
      const compiling = await this.#post(replica, `/specs/${id}/compile`, { json: {} });
      if (compiling?.status === 202) this.accepted.compilations.push(String(compiling.body['id']));
    }
  }

  async #deploying(replica: ControlServer): Promise<void> {
    while (!this.#stopped) {
      const artifact_id = this.#artifacts[this.#n++ % this.#artifacts.length]?.id;
      const begun = await this.#post(replica, `/projects/${this.#project.id}/deploy`, { json: { artifact_id } });
      if (begun?.status === 202) this.accepted.deployments.push(String(begun.body['deployment_id']));
      await sleep(200);
    }
  }

  /** What it answers; null where that is no success. */
  async #post(replica: ControlServer, path: string, init: Parameters<ControlServer['ask']>[1]): Promise<Answer | null> {
    const signal = AbortSignal.timeout(PATIENCE);
    try {
      const response = await replica.ask(path, { ...init, method: 'POST', signal });
      const body = await jsonOf(response);
      const isProblem = response.headers.get('content-type') === 'application/problem+json';
      const answer: Answer = { status: response.status, problem: isProblem ? String(body['type']) : null, body };
      if (response.ok) return answer;
      if (answer.status === 503 && answer.problem === 'urn:gw:error:unavailable') this.refused++;
      else this.unexpected.push({ path, ...answer });
    } catch (error) {
      this.unexpected.push({ path, error: String(error) });
    }
    // Not in a tight loop while nothing can be done.
    await sleep(100);
    return null;
  }
}
