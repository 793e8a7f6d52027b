/** Projects over REST, and what every answer has in common, on both databases. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_AT_HAND, type UnopenedDatabase, unopenedDatabase } from '../../../../test/control/database.ts';
import { type ControlServer, startControl } from '../../../../test/control/server.ts';
import type { Project } from './schemas.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

describe.each(DATABASE_AT_HAND)('projects on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: UnopenedDatabase;
    let control: ControlServer;
    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      control = await startControl({ databaseUrl: database.url });
    });
    afterAll(async () => {
      await control?.stop();
      await database?.drop();
    });

    const create = (json: object) => control.ask('/projects', { method: 'POST', json });
    const named = async (name: string): Promise<Project> => JSON.parse(await (await create({ name })).text());

    it('are created, read, replaced and deleted', async () => {
      const answer = await create({ name: 'shop', description: 'The shop' });
      const created: Project = JSON.parse(await answer.text());
      expect(answer.status).toBe(201);
      expect(answer.headers.get('location')).toBe(`/projects/${created.id}`);
      expect(created).toMatchObject({
        name: 'shop',
        description: 'The shop',
        upstreams: {},
        mcp: {},
        deployed_artifact_id: null,
      });
      expect(new Date(created.created_at).toISOString()).toBe(created.created_at);

      const path = `/projects/${created.id}`;
      expect(await control.get(path)).toEqual(created);
      const upstreams = { inventory: 'https://inventory.example.org' };
      const replaced = await control.get(path, { method: 'PUT', json: { name: 'store', upstreams } });
      expect(replaced).toMatchObject({ id: created.id, name: 'store', description: '', upstreams });
      expect((await control.ask(path, { method: 'DELETE' })).status).toBe(204);
      for (const method of ['GET', 'DELETE']) {
        const gone = await control.ask(path, { method });
        expect([gone.status, await gone.json()]).toEqual([
          404,
          expect.objectContaining({ type: 'urn:gw:error:not-found', detail: expect.stringContaining(created.id) }),
        ]);
      }
      const actions = await control.get<{ action: string }[]>(`/audit?resource_id=${created.id}&sort=at`);
      expect(actions.map(({ action }) => action)).toEqual(['projects.create', 'projects.update', 'projects.delete']);
    });

    it('have names that are unique, and of the form that is documented', async () => {
      await named('taken');
      const again = await create({ name: 'taken' });
      expect([again.status, await again.json()]).toEqual([
        409,
        expect.objectContaining({ type: 'urn:gw:error:conflict', detail: expect.stringContaining('another name') }),
      ]);
      const other = await named('other');
      const renamed = await control.ask(`/projects/${other.id}`, { method: 'PUT', json: { name: 'taken' } });
      expect(renamed.status).toBe(409);
      for (const json of [{}, { name: '' }, { name: 'a b' }, { name: 'x', colour: 'red' }, { name: 7 }, []]) {
        expect((await create(json)).status, JSON.stringify(json)).toBe(400);
      }
      const broken = await control.ask('/projects', {
        method: 'POST',
        json: { name: 'x', upstreams: { a: 'no url' } },
      });
      expect(await broken.json()).toMatchObject({ status: 400, errors: [{ pointer: '/upstreams/a' }] });
    });

    it('have upstream MCP servers, whose credentials are references', async () => {
      const wiki = { url: 'https://wiki.example.org/mcp', prefix: '', headers: { authorization: 'env://WIKI' } };
      const project: Project = JSON.parse(
        await (await create({ name: 'agents', mcp: { upstreams: { wiki } } })).text(),
      );
      expect(project.mcp).toEqual({ upstreams: { wiki } });
      const path = `/projects/${project.id}`;
      const put = async (mcp: object) => {
        const answer = await control.ask(path, { method: 'PUT', json: { name: 'agents', mcp } });
        return { status: answer.status, body: await answer.json() };
      };
      expect(await put({ upstreams: { wiki: { prefix: '' } } })).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/mcp/upstreams/wiki' }] },
      });
      expect(await put({ upstreams: { wiki: { ...wiki, headers: { authorization: 'Bearer x' } } } })).toMatchObject({
        status: 422,
        body: { type: 'urn:gw:error:config-invalid', errors: [{ pointer: '/mcp/upstreams/wiki' }] },
      });
      expect(await put({ upstreams: { wiki: { ...wiki, url: 'ftp://x/' } } })).toMatchObject({ status: 422 });
      expect(await put({ servers: {} })).toMatchObject({ status: 400 });
      expect(await control.get(path)).toMatchObject({ mcp: { upstreams: { wiki } } });
      expect(await put({})).toMatchObject({ status: 200, body: { mcp: {} } });
    });

    it('are not changed over what somebody else has changed', async () => {
      const { id } = await named('contended');
      const path = `/projects/${id}`;
      const etag = (await control.ask(path)).headers.get('etag') ?? '';
      const put = (match: string) =>
        control.ask(path, { method: 'PUT', json: { name: 'contended' }, headers: { 'if-match': match } });
      expect((await put(etag)).status).toBe(200);
      const stale = await put(etag);
      expect([stale.status, await stale.json()]).toEqual([
        412,
        expect.objectContaining({ title: 'Precondition failed' }),
      ]);
      expect((await put('W/"2"')).status).toBe(412);
      expect((await put('"1", "2"')).status).toBe(200);
      const remove = await control.ask(path, { method: 'DELETE', headers: { 'if-match': etag } });
      expect(remove.status).toBe(412);
      const now = (await control.ask(path)).headers.get('etag') ?? '';
      const known = await control.ask(path, { headers: { 'if-none-match': now } });
      expect([known.status, await known.text()]).toEqual([304, '']);
    });

    it('are listed by pages, by part of the name, in either order', async () => {
      for (const name of ['page-a', 'page-b', 'page-c', 'PAGE-d', 'p_ge']) await named(name);
      const seen: string[] = [];
      let path: string | undefined = '/projects?name=page&limit=2&sort=-name';
      while (path) {
        const answer: Response = await control.ask(path);
        const items: Project[] = JSON.parse(await answer.text());
        expect(items.length).toBeLessThanOrEqual(2);
        seen.push(...items.map(({ name }) => name));
        path = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
      }
      expect(seen.toSorted()).toEqual(['PAGE-d', 'page-a', 'page-b', 'page-c']);
      const upwards = await control.get<Project[]>('/projects?name=page&sort=name');
      expect(upwards.map(({ name }) => name).toReversed()).toEqual(seen);
      expect(await control.get<Project[]>('/projects?name=p_g')).toMatchObject([{ name: 'p_ge' }]);
      for (const query of ['limit=0', 'limit=x', 'sort=colour', 'cursor=e30', 'colour=red']) {
        expect((await control.ask(`/projects?${query}`)).status, query).toBe(400);
      }
    });

    it('of others are not found by a token for one, and not changed by roles that may not', async () => {
      const [mine, other] = [await named('mine'), await named('not-mine')];
      const json = { name: `one-${kind}`, role: 'viewer', project_id: mine.id };
      const { token } = await control.get<{ token: string }>('/tokens', { method: 'POST', json });
      expect(await control.get<Project[]>('/projects', { token })).toMatchObject([{ id: mine.id }]);
      expect((await control.ask(`/projects/${other.id}`, { token })).status).toBe(404);
      const change = { method: 'PUT', json: { name: 'mine' }, token };
      expect((await control.ask(`/projects/${mine.id}`, change)).status).toBe(403);
      expect((await control.ask(`/projects/${other.id}`, change)).status).toBe(404);
    });

    it('answers say of what type they are, and what is asked for in vain says why', async () => {
      const health = await fetch(`${control.url}/health`);
      expect(health.headers.get('content-type')).toBe('application/vnd.gw.v1+json');
      expect(await health.json()).toEqual({ status: 'healthy', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
      const list = await control.ask('/projects');
      expect(list.headers.get('content-type')).toBe('application/vnd.gw.v1+json');
      const missing = await control.ask(`/projects/${NOWHERE}`);
      expect(missing.headers.get('content-type')).toBe('application/problem+json');
      expect(await missing.json()).toMatchObject({ request_id: missing.headers.get('x-request-id') });
      const method = await control.ask('/projects', { method: 'PATCH' });
      expect([method.status, method.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
      expect((await control.ask('/nowhere')).status).toBe(404);
      expect((await control.ask('/projects/not-a-uuid')).status).toBe(404);
      const plain = await fetch(`${control.url}/ws/data-plane`);
      expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
      const text = await control.ask('/projects', {
        method: 'POST',
        body: 'name: x',
        headers: { 'content-type': 'text/plain' },
      });
      expect(text.status).toBe(415);
      const nothing = await control.ask('/projects', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      expect(nothing.status).toBe(400);
      const large = await create({ name: 'x', description: 'y'.repeat(2 << 20) });
      expect([large.status, await large.json()]).toEqual([
        413,
        expect.objectContaining({ title: 'Payload too large' }),
      ]);
    });
  });
});
