import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LinkOptions } from '../../../../gateway/src/link/index.ts';
import { DATABASE_AT_HAND, unopenedDatabase } from '../../../../test/control/database.ts';
import { type DataPlaneView, Plane, Project, until } from '../../../../test/control/fleet.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from '../../../../test/control/server.ts';
import { jsonOf } from '../../../../test/serve/gateway.ts';
import { hello, Peer } from '../../../../test/serve/link-peer.ts';

describe.each(DATABASE_AT_HAND)('data planes on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over HTTP', () => {
    let control: ControlServer;
    let drop: () => Promise<void>;
    let project: Project;

    beforeAll(async () => {
      const database = await unopenedDatabase(kind);
      drop = database.drop;
      control = await startControl({ databaseUrl: database.url });
      project = await Project.create(control);
    });
    afterAll(async () => {
      await control.stop();
      await drop();
    });

    function plane(name: string, options: Partial<LinkOptions> = {}, of: Project = project): Plane {
      const each = new Plane(control.url, of, name, options);
      onTestFinished(() => each.stop());
      return each;
    }

    function shown(name: string, fits: (row: DataPlaneView) => boolean, of = project): Promise<DataPlaneView> {
      return until(
        async () => (await of.dataPlanes()).find((row) => row.name === name),
        (row) => row !== undefined && fits(row),
      ).then((row) => row as DataPlaneView);
    }

    it('are listed, also when they have gone, and come back as the same', async () => {
      const first = plane('edge-1');
      const connected = await shown('edge-1', ({ status }) => status === 'connected');
      expect(connected).toMatchObject({
        current_artifact_id: null,
        drift_detected: false,
        api_key_id: project.keyId,
        address: '127.0.0.1',
        disconnected_at: null,
      });
      await first.stop();
      const gone = await shown('edge-1', ({ status }) => status === 'disconnected');
      expect(gone.disconnected_at).not.toBeNull();
      plane('edge-1');
      const back = await shown('edge-1', ({ status }) => status === 'connected');
      expect(back.id).toBe(connected.id);
      expect(await project.get(`/data-planes/${back.id}`)).toMatchObject({ id: back.id, name: 'edge-1' });
      expect(await project.get('/data-planes?status=incompatible')).toEqual([]);
    });

    it('are in pages, by name or by when they connected', async () => {
      const own = await Project.create(control);
      for (const name of ['b', 'a', 'c']) plane(name, {}, own);
      for (const name of ['a', 'b', 'c']) await shown(name, ({ status }) => status === 'connected', own);
      for (const sort of ['name', '-connected_at']) {
        const names: string[] = [];
        let path: string | undefined = `/projects/${own.id}/data-planes?limit=1&sort=${sort}`;
        while (path !== undefined) {
          const page = await control.ask(path);
          names.push(...(await jsonOf<DataPlaneView[]>(page)).map(({ name }) => name));
          path = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
        }
        expect(names.toSorted()).toEqual(['a', 'b', 'c']);
        if (sort === 'name') expect(names).toEqual(['a', 'b', 'c']);
      }
    });

    it('are disconnected on demand and come again, since nothing is revoked; those away are forgotten', async () => {
      const edge = plane('edge-2');
      const { id } = await shown('edge-2', ({ status }) => status === 'connected');
      expect((await project.ask(`/data-planes/${id}`, { method: 'DELETE' })).status).toBe(204);
      await until(
        () => edge.connections,
        (count) => count === 2,
      );
      expect(edge.ends).toEqual(['disconnected']);
      await edge.stop();
      await shown('edge-2', ({ status }) => status === 'disconnected');
      expect((await project.ask(`/data-planes/${id}`, { method: 'DELETE' })).status).toBe(204);
      expect((await project.ask(`/data-planes/${id}`)).status).toBe(404);
      expect((await project.ask(`/data-planes/${id}`, { method: 'DELETE' })).status).toBe(404);
    });

    it('are seen by who may see the project, in that project', async () => {
      plane('edge-3');
      const { id } = await shown('edge-3', ({ status }) => status === 'connected');
      const other = await Project.create(control);
      expect((await other.ask(`/data-planes/${id}`)).status).toBe(404);
      expect((await other.ask(`/data-planes/${id}`, { method: 'DELETE' })).status).toBe(404);
      const viewer = await control.get<{ token: string }>('/tokens', {
        method: 'POST',
        json: { name: `viewer-${crypto.randomUUID().slice(0, 8)}`, role: 'viewer', project_id: project.id },
      });
      const asViewer = { token: viewer.token };
      expect((await project.ask(`/data-planes/${id}`, asViewer)).status).toBe(200);
      expect((await project.ask(`/data-planes/${id}`, { ...asViewer, method: 'DELETE' })).status).toBe(403);
      expect((await other.ask('/data-planes', asViewer)).status).toBe(404);
    });

    it('are let in with a key of their project alone', async () => {
      const other = await Project.create(control);
      const key = await project.get<{ id: string; key: string }>('/api-keys', { name: 'revoked' });
      await project.ask(`/api-keys/${key.id}`, { method: 'DELETE' });
      const cases: readonly [key: string, why: string][] = [
        [`gwk_${'A'.repeat(43)}`, 'bad-key'],
        ['nonsense', 'bad-key'],
        [ADMIN_TOKEN, 'bad-key'],
        [other.key, 'unknown-project'],
        [key.key, 'revoked'],
      ];
      for (const [apiKey, why] of cases) {
        const stranger = plane(`stranger-${why}`, { apiKey });
        await until(
          () => stranger.ends[0],
          (end) => end !== undefined,
        );
        expect(stranger.ends[0]).toBe(why);
      }
      expect((await project.dataPlanes()).filter(({ name }) => name.startsWith('stranger'))).toEqual([]);
      const text = JSON.stringify(control.log);
      for (const [apiKey] of cases.slice(0, 2)) expect(text).not.toContain(apiKey);
      expect(text).not.toContain(other.key);
    });

    it('hear 4409 where they read only formats that are not here, and are not listed', async () => {
      const outdated = new Peer(`${control.url.replace('http', 'ws')}/ws/data-plane`);
      const over = { api_key: project.key, project_id: project.id, name: 'outdated', artifact_versions: [4, 5] };
      await outdated.say(hello(over));
      expect(await outdated.until('refused')).toMatchObject({
        reason: 'unsupported-version',
        detail:
          'gw 0.8.0 reads artifacts of format 4, 5, but this control plane has format 6: run another version of gw.',
      });
      expect(await outdated.closed).toBe(4409);
      expect((await project.dataPlanes()).filter(({ name }) => name === 'outdated')).toEqual([]);
    });

    it('are cut off at once when their key is revoked', async () => {
      const key = await project.get<{ id: string; key: string }>('/api-keys', { name: 'short-lived' });
      const edge = plane('edge-4', { apiKey: key.key });
      await shown('edge-4', ({ status }) => status === 'connected');
      await project.ask(`/api-keys/${key.id}`, { method: 'DELETE' });
      await until(
        () => edge.ends[0],
        (end) => end === 'revoked',
        20_000,
      );
      await shown('edge-4', ({ status }) => status === 'disconnected');
    });

    it('are told by events of the project, as their deployments and compilations are', async () => {
      const own = await Project.create(control);
      const over = new AbortController();
      onTestFinished(() => over.abort());
      const stream = await own.ask('/events', { signal: over.signal });
      expect(stream.headers.get('content-type')).toBe('text/event-stream');
      const events: { event: string; data: Record<string, unknown> }[] = [];
      void collect(stream, events);
      const artifact = await own.compile('events');
      plane('edge-5', {}, own);
      await until(
        () => events.find(({ event, data }) => event === 'data_plane' && data['status'] === 'connected'),
        (found) => found !== undefined,
      );
      const { deployment_id } = await own.deploy(artifact.id);
      await until(
        () => events.find(({ data }) => data['deployment_id'] === deployment_id && data['status'] === 'succeeded'),
        (found) => found !== undefined,
      );
      await until(
        () => events.find(({ data }) => data['current_artifact_id'] === artifact.id),
        (found) => found !== undefined,
      );
      const compilations = events.filter(({ event }) => event === 'compilation');
      expect(compilations.at(-1)?.data).toMatchObject({ status: 'succeeded', artifact_id: artifact.id });
      const [row] = await own.dataPlanes();
      expect(Object.keys(events.findLast(({ event }) => event === 'data_plane')?.data ?? {})).toEqual(
        Object.keys(row ?? {}),
      );
    });
  });
});

/** Server-sent events as they come. */
async function collect(response: Response, into: { event: string; data: Record<string, unknown> }[]): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, event, data] = /^event: (.+)\ndata: (.+)$/.exec(text.slice(0, end)) ?? [];
        if (event && data) into.push({ event, data: JSON.parse(data) });
        text = text.slice(end + 2);
      }
    }
  } catch {}
}
