/** What a replica makes of its data planes, by the table: drift, formats that are not read, others' mistakes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ARTIFACT_VERSION, readArtifact } from '@gw/gateway/artifact';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DATABASE_KINDS, unopenedDatabase } from '../../../test/control/database.ts';
import { apiOf, type DataPlaneView, Plane, until } from '../../../test/control/fleet.ts';
import { compileSpec } from '../../../test/serve/gateway.ts';
import { SYSTEM } from '../access/actor.ts';
import { type ControlPlane, openControlPlane } from '../control-plane.ts';
import { storeArtifact } from '../modules/artifacts/store.ts';
import { Replica } from './replica.ts';

const GRACE_MS = 300;

describe.each(DATABASE_KINDS)('a replica on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('by the table', () => {
    let control: ControlPlane;
    let replica: Replica;
    let url: string;
    let close: () => Promise<void>;

    beforeAll(async () => {
      const database = await unopenedDatabase(kind);
      control = await openControlPlane({ databaseUrl: database.url, seedPlugins: false });
      replica = await Replica.start(control, { channel: { heartbeatMs: 100, driftGraceMs: GRACE_MS } });
      // Downloads are refused: what these data planes serve they say themselves.
      const server = createServer((_request, response) => void response.writeHead(404).end());
      server.on('upgrade', replica.handleUpgrade);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      close = async () => {
        await replica.close();
        server.close();
        await control.close();
        await database.drop();
      };
    });
    afterAll(() => close());

    async function project() {
      const { project: made } = await control.projects.create(SYSTEM, { name: `p-${crypto.randomUUID().slice(0, 8)}` });
      const { key } = await control.apiKeys.create(SYSTEM, made.id, { name: 'k' });
      return { id: made.id, key };
    }

    async function artifact(projectId: string, body: string) {
      const bytes = await compileSpec(apiOf(body), ['mock']);
      const { manifest } = await readArtifact(bytes);
      const { db, blobs } = control.context;
      const source = async function* () {
        yield bytes;
      };
      const blob = await blobs.put(source(), 1 << 20);
      const of = { project_id: projectId, production: false, created_by: 'test' };
      const { id } = await storeArtifact(db.kysely, { blob, manifest, of });
      return { id, hash: manifest.artifact_hash };
    }

    function plane(of: { readonly id: string; readonly key: string }, served: string | null): Plane {
      const each = new Plane(url, of, 'edge');
      each.served = served;
      onTestFinished(() => each.stop());
      return each;
    }

    const row = async (projectId: string) => (await control.dataPlanes.list(SYSTEM, projectId)).items[0];
    const shown = (projectId: string, fits: (row: DataPlaneView) => boolean) =>
      until(
        () => row(projectId),
        (each) => each !== undefined && fits(each),
      );
    const audited = async (projectId: string) =>
      (await control.audit.list(SYSTEM, { project_id: projectId })).items
        .filter(({ action }) => action.startsWith('dataPlanes.'))
        .map(({ action, actor }) => `${action} by ${actor}`);

    it('sees drift and its end, tells the data plane, and writes both into the audit log', async () => {
      const own = await project();
      const wanted = await artifact(own.id, 'wanted');
      await control.deployments.deploy(SYSTEM, own.id, { artifact_id: wanted.id });
      const edge = plane(own, wanted.hash);
      await shown(own.id, ({ current_artifact_id }) => current_artifact_id === wanted.id);
      edge.served = `sha256:${'0'.repeat(64)}`;
      const drifted = await shown(own.id, ({ status }) => status === 'drifted');
      expect(drifted).toMatchObject({ drift_detected: true, current_artifact_id: null });
      expect(drifted?.current_artifact_hash).toBe(edge.served);
      expect(edge.drifted).toBe(true);
      const { text } = await control.context.metrics.render();
      expect(text).toContain('gw_control_data_planes_drifted 1');
      expect(await audited(own.id)).toEqual(['dataPlanes.drifted by system']);
      edge.served = wanted.hash;
      await shown(own.id, ({ status, drift_detected }) => status === 'connected' && !drift_detected);
      await until(
        () => edge.drifted,
        (drift) => !drift,
      );
      expect(await audited(own.id)).toEqual(['dataPlanes.resolved by system', 'dataPlanes.drifted by system']);
    });

    it('knows of drift from before a data plane connected again, and of its end', async () => {
      const own = await project();
      const wanted = await artifact(own.id, 'again');
      await control.deployments.deploy(SYSTEM, own.id, { artifact_id: wanted.id });
      const edge = plane(own, `sha256:${'1'.repeat(64)}`);
      await shown(own.id, ({ status }) => status === 'drifted');
      await edge.stop();
      await shown(own.id, ({ status }) => status === 'disconnected');
      plane(own, wanted.hash);
      await shown(own.id, ({ status, drift_detected }) => status === 'connected' && !drift_detected);
      expect(await audited(own.id)).toEqual(['dataPlanes.resolved by system', 'dataPlanes.drifted by system']);
    });

    // docs/decisions.md#version-skew
    it('tells no data plane of a format that it does not read: it keeps what it has', async () => {
      const own = await project();
      const old = await artifact(own.id, 'old');
      const later = await artifact(own.id, 'later');
      const { kysely } = control.context.db;
      await kysely
        .updateTable('artifacts')
        .set({ artifact_version: ARTIFACT_VERSION + 1 })
        .where('id', '=', later.id)
        .execute();
      await control.deployments.deploy(SYSTEM, own.id, { artifact_id: old.id });
      const edge = plane(own, old.hash);
      await shown(own.id, ({ current_artifact_id }) => current_artifact_id === old.id);
      const begun = await control.deployments.deploy(SYSTEM, own.id, {
        artifact_id: later.id,
        rollback_threshold: null,
      });
      expect((await row(own.id))?.status).toBe('incompatible');
      const ended = await until(
        () => control.deployments.get(SYSTEM, own.id, begun.deployment_id),
        ({ status }) => status !== 'in_progress',
      );
      expect(ended).toMatchObject({ status: 'failed', refused: 1 });
      expect(ended.reason).toContain('unsupported-version (1)');
      // Not drift, however long it lasts; and the same after it has connected again.
      await edge.stop();
      await shown(own.id, ({ status }) => status === 'disconnected');
      plane(own, old.hash);
      await shown(own.id, ({ status }) => status === 'incompatible');
      await new Promise((resolve) => setTimeout(resolve, 3 * GRACE_MS));
      expect(await row(own.id)).toMatchObject({ status: 'incompatible', drift_detected: false });
      await control.deployments.rollback(SYSTEM, own.id, {});
      await shown(own.id, ({ status }) => status === 'connected');
    });

    it('that others took for dead says that it is not, and where its data planes are', async () => {
      const own = await project();
      plane(own, null);
      await shown(own.id, ({ status }) => status === 'connected');
      const { kysely } = control.context.db;
      // It may say that it is not as soon as that is written.
      const taken = await kysely.transaction().execute(async (db) => {
        await db.deleteFrom('replicas').execute();
        return db
          .updateTable('data_planes')
          .set({ status: 'disconnected', replica_id: null, connection_id: null, disconnected_at: new Date() })
          .where('project_id', '=', own.id)
          .returning('status')
          .execute();
      });
      expect(taken).toEqual([{ status: 'disconnected' }]);
      await shown(own.id, ({ status, disconnected_at }) => status === 'connected' && disconnected_at === null);
    });
  });
});
