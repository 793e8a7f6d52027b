/** The plugins of projects over REST, on both databases. */
import { VERSION } from '@gw/gateway/version';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DATABASE_AT_HAND, unopenedDatabase } from '../../../../test/control/database.ts';
import { type ControlServer, startControl } from '../../../../test/control/server.ts';
import type { ProjectPlugin } from './schemas.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const SECRETS = {
  credentials: [
    { username: 'ada', password: 'hunter2' },
    { username: 'eve', password: 'env://EVE' },
  ],
};

describe.each(DATABASE_AT_HAND)('plugins of a project on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let control: ControlServer;
    let project = '';
    let plugins = '';
    let projects = 0;
    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      control = await startControl({ databaseUrl: database.url });
    });
    afterAll(async () => {
      await control?.stop();
      await database?.drop();
    });
    beforeEach(async () => {
      project = (await control.get<{ id: string }>('/projects', { method: 'POST', json: { name: `p${++projects}` } }))
        .id;
      plugins = `/projects/${project}/plugins`;
    });

    const add = (plugin_name: string, more: object = {}, init: object = {}) =>
      control.ask(plugins, { method: 'POST', json: { plugin_name, plugin_version: VERSION, ...more }, ...init });
    const update = (plugin_name: string, more: object = {}, headers: Record<string, string> = {}) =>
      control.ask(`${plugins}/${plugin_name}`, {
        method: 'PUT',
        json: { plugin_name, plugin_version: VERSION, ...more },
        headers,
      });
    const tokenOf = async (role: string) =>
      (
        await control.get<{ token: string }>('/tokens', {
          method: 'POST',
          json: { name: `${role} of ${project}`, role },
        })
      ).token;

    it('are added, listed, replaced and removed, with ETags', async () => {
      const added = await add('rate-limit', { config: { quota: 10, window: 60 } });
      expect([added.status, added.headers.get('location')]).toEqual([201, `${plugins}/rate-limit`]);
      const first = (await control.get<ProjectPlugin[]>(plugins))[0];
      expect(await added.json()).toEqual(first);
      expect(first).toMatchObject({
        enabled: true,
        config: { quota: 10, window: 60 },
        etag: added.headers.get('etag'),
      });
      const changed = await update('rate-limit', { enabled: false }, { 'if-match': first?.etag ?? '' });
      expect(await changed.json()).toMatchObject({ enabled: false, config: {} });
      expect((await update('rate-limit', {}, { 'if-match': first?.etag ?? '' })).status).toBe(412);
      const path = `${plugins}/rate-limit`;
      const stale = { method: 'DELETE', headers: { 'if-match': first?.etag ?? '' } };
      expect((await control.ask(path, stale)).status).toBe(412);
      expect((await control.ask(path, { method: 'DELETE' })).status).toBe(204);
      expect((await control.ask(path, { method: 'DELETE' })).status).toBe(404);
      expect((await update('rate-limit')).status).toBe(404);
      expect(await control.get(plugins)).toEqual([]);
    });

    it('are listed in pages, by name', async () => {
      for (const name of ['mock', 'cors', 'acl']) expect((await add(name)).status).toBe(201);
      const page = await control.ask(`${plugins}?limit=2`);
      const next = /^<([^>]*)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
      expect(await page.json()).toMatchObject([{ plugin_name: 'acl' }, { plugin_name: 'cors' }]);
      expect((await control.get<ProjectPlugin[]>(next)).map(nameOf)).toEqual(['mock']);
    });

    it('are there once: a second one is a conflict, a repeated request is not', async () => {
      const headers = { 'idempotency-key': `add to ${project}`.replaceAll(' ', '-') };
      const [first, again] = [await add('mock', {}, { headers }), await add('mock', {}, { headers })];
      expect([first.status, again.status]).toEqual([201, 201]);
      expect(await (await add('mock')).json()).toMatchObject({ status: 409, type: 'urn:gw:error:conflict' });
    });

    it('are checked by the schema: each property that is there, none that operations can add', async () => {
      expect((await add('http-upstream', { config: { timeout: 5 } })).status).toBe(201);
      const refused = await update('http-upstream', { config: { timeout: 'soon', colour: 'red', url: 'no url' } });
      const problem: unknown = await refused.json();
      expect(problem).toMatchObject({ status: 422, type: 'urn:gw:error:config-invalid' });
      expect(pointersOf(problem)).toEqual(expect.arrayContaining(['/config/timeout', '/config/colour']));
      const nested = await add('basic-auth', { config: { credentials: [{ username: 'ada' }] } });
      expect(pointersOf(await nested.json())).toEqual(['/config/credentials/0']);
      const expression = await add('cel', { config: { expression: 'request.path ==' } });
      expect(pointersOf(await expression.json())).toEqual(['/config/expression']);
      const pattern = await add('http-upstream', { config: { url: 'upstream://later' } });
      expect(pattern.status).toBe(409);
    });

    it('must be registered: what there is is told', async () => {
      const version = await add('mock', { plugin_version: '9.9.9' });
      expect(await version.json()).toMatchObject({ status: 422, detail: expect.stringContaining(VERSION) });
      const name = await add('nobody');
      expect(await name.json()).toMatchObject({ status: 422, detail: expect.stringContaining('no plugin "nobody"') });
    });

    it('keep the name of the path, and belong to a project that is there', async () => {
      await add('mock');
      const json = { plugin_name: 'acl', plugin_version: VERSION };
      expect((await control.ask(`${plugins}/mock`, { method: 'PUT', json })).status).toBe(422);
      for (const method of ['GET', 'POST']) {
        const init = method === 'POST' ? { method, json } : {};
        expect((await control.ask(`/projects/${NOWHERE}/plugins`, init)).status, method).toBe(404);
      }
      expect((await control.ask(plugins, { method: 'POST', json: { ...json, colour: 1 } })).status).toBe(400);
    });

    it('keep secrets as they are for editors, and from viewers and the audit log', async () => {
      const added = await add('basic-auth', { config: SECRETS });
      expect(added.status).toBe(201);
      await update('basic-auth', { config: SECRETS, enabled: false });
      const token = await tokenOf('viewer');
      const [seen] = await control.get<ProjectPlugin[]>(plugins, { token });
      const redacted = {
        credentials: [
          { username: 'ada', password: '[redacted]' },
          { username: 'eve', password: 'env://EVE' },
        ],
      };
      expect(seen?.config).toEqual(redacted);
      const [whole] = await control.get<ProjectPlugin[]>(plugins, { token: await tokenOf('editor') });
      expect(whole?.config).toEqual(SECRETS);
      await control.ask(`${plugins}/basic-auth`, { method: 'DELETE' });
      const log = JSON.stringify(await control.get('/audit?limit=200'));
      for (const action of ['add', 'update', 'remove']) expect(log).toContain(`projectPlugins.${action}`);
      expect(log).not.toContain('hunter2');
      expect(JSON.stringify(control.log)).not.toContain('hunter2');
    });

    it('are changed by editors, and only looked at by viewers', async () => {
      const token = await tokenOf('viewer');
      expect((await add('mock', {}, { token })).status).toBe(403);
      await add('mock');
      expect((await control.ask(`${plugins}/mock`, { method: 'DELETE', token })).status).toBe(403);
      expect((await add('cors', {}, { token: await tokenOf('editor') })).status).toBe(201);
    });
  });
});

const nameOf = ({ plugin_name }: ProjectPlugin) => plugin_name;

function pointersOf(problem: unknown): unknown {
  const { errors = [] } = problem as { errors?: readonly { readonly pointer: string }[] };
  return errors.map(({ pointer }) => pointer);
}
