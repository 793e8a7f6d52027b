/**
 * Who may what: API tokens, their roles and projects, data-plane keys, and how all of it ends
 * (docs/reference/control-plane.md#roles).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../eventually.ts';
import { compiled } from './compiling.ts';
import { DATABASE_AT_HAND, unopenedDatabase } from './database.ts';
import { ADMIN_TOKEN, type AskInit, type ControlServer, startControl } from './server.ts';

interface Created {
  readonly id: string;
}
interface NewToken extends Created {
  readonly token: string;
  readonly prefix: string;
}

describe.each(DATABASE_AT_HAND)('access on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('to the REST API', () => {
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let control: ControlServer;
    let other: ControlServer;
    let project: string;
    let foreign: string;

    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      control = await startControl({ databaseUrl: database.url });
      // The embedded database belongs to one process.
      other = kind === 'postgres' ? await startControl({ databaseUrl: database.url }) : control;
      [project, foreign] = (await Promise.all(
        ['ours', 'foreign'].map(async (name) => (await create<Created>('/projects', { name })).id),
      )) as [string, string];
    });
    afterAll(async () => {
      if (other !== control) await other?.stop();
      await control?.stop();
      await database?.drop();
    });

    let names = 0;
    const create = <T>(path: string, json: object, init: AskInit = {}) =>
      control.get<T>(path, { method: 'POST', json, ...init });
    const token = (input: object) => create<NewToken>('/tokens', { name: `token ${++names}`, ...input });
    const status = async (path: string, init: AskInit) => (await control.ask(path, init)).status;
    const problem = async (path: string, init: AskInit) => {
      const answer = await control.ask(path, init);
      const { type } = (await answer.json()) as { type: string };
      return [answer.status, type.replace('urn:gw:error:', '')];
    };

    it('says who the caller is', async () => {
      expect(await control.get('/whoami')).toEqual({
        actor: 'admin',
        role: 'admin',
        project_id: null,
        expires_at: null,
      });
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const made = await token({ name: 'ci', role: 'editor', project_id: project, expires_at });
      expect(made.token).toMatch(/^gwt_[A-Za-z0-9_-]{43}$/);
      expect(made.token.startsWith(made.prefix)).toBe(true);
      expect(await control.get('/whoami', { token: made.token })).toEqual({
        actor: 'token:ci',
        role: 'editor',
        project_id: project,
        expires_at,
      });
    });

    it('lets each role do what it may, and no more', async () => {
      const body = { name: 'ours', description: 'changed' };
      const asked: readonly (readonly [role: string, path: string, init: AskInit, expected: number])[] = [
        ['viewer', `/projects/${project}`, {}, 200],
        ['viewer', `/projects/${project}`, { method: 'PUT', json: body }, 403],
        ['editor', `/projects/${project}`, { method: 'PUT', json: body }, 200],
        ['editor', `/projects/${project}`, { method: 'PUT', json: { ...body, upstreams: {} } }, 200],
        ['deployer', `/projects/${project}`, { method: 'PUT', json: { name: 'renamed' } }, 403],
        ['editor', '/projects', { method: 'POST', json: { name: 'new' } }, 403],
        ['editor', '/audit', {}, 403],
        ['deployer', '/tokens', {}, 403],
        ['deployer', `/projects/${project}/api-keys`, { method: 'POST', json: { name: 'k' } }, 403],
        ['deployer', '/tokens', { method: 'POST', json: { name: 'mine', role: 'viewer' } }, 403],
        ['admin', `/projects/${project}/api-keys`, { method: 'POST', json: { name: 'k' } }, 201],
        ['admin', '/audit', {}, 200],
      ];
      const tokens = new Map<string, string>();
      for (const role of ['viewer', 'editor', 'deployer', 'admin']) tokens.set(role, (await token({ role })).token);
      for (const [role, path, init, expected] of asked) {
        expect([role, path, await status(path, { ...init, token: tokens.get(role) ?? '' })]).toEqual([
          role,
          path,
          expected,
        ]);
      }
    });

    it('lets nobody rename a project who may not create one: names are unique over all', async () => {
      const { token: ours } = await token({ role: 'admin', project_id: project });
      const rename = (name: string, init: AskInit = {}) =>
        problem(`/projects/${project}`, { method: 'PUT', json: { name }, ...init });
      // The same for a name that is taken and one that is not.
      expect(await rename('foreign', { token: ours })).toEqual([403, 'forbidden']);
      expect(await rename('free', { token: ours })).toEqual([403, 'forbidden']);
      expect(await rename('foreign')).toEqual([409, 'conflict']);
      expect((await control.get<{ name: string }>(`/projects/${project}`)).name).toBe('ours');
    });

    it('shows secrets in plugin configs to no viewer, wherever they stand', async () => {
      const secret = 'planted-plain-secret';
      const { id } = await create<Created>('/projects', { name: 'with-secrets' });
      const config = { keys: [{ id: 'a', secret }] };
      const binding = { name: 'hmac-auth', config };
      const document = {
        openapi: '3.1.0',
        info: { title: 'Secrets', version: '1' },
        'x-gw-middlewares': [binding],
        components: { securitySchemes: { hmac: { type: 'http', scheme: 'signature' } } },
        security: [{ hmac: [] }],
        paths: {
          '/a': {
            get: {
              'x-gw-middlewares': [binding],
              'x-gw-dispatch': { name: 'mock' },
              responses: { 200: { description: 'OK' } },
            },
          },
        },
      };
      const plugins = await control.get<{ name: string; version: string }[]>('/plugins?limit=200');
      const plugin = (name: string, value: object) => {
        const plugin_version = plugins.find((each) => each.name === name)?.version;
        return create(`/projects/${id}/plugins`, { plugin_name: name, plugin_version, enabled: true, config: value });
      };
      await plugin('hmac-auth', config);
      await plugin('mock', {});
      const body = new FormData();
      body.append('file', new Blob([JSON.stringify(document)]), 'secrets.json');
      const spec = await control.get<Created>(`/projects/${id}/specs`, { method: 'POST', body });
      const patch = { 'GET /a': { middlewares: [binding] } };
      await control.get(`/specs/${spec.id}/operations`, { method: 'PATCH', json: patch });
      const compilation = await compiled(control, `/projects/${id}`);
      const { artifact_id } = compilation;
      expect(artifact_id, JSON.stringify(compilation.errors)).toBeDefined();
      const { token: viewer } = await token({ role: 'viewer', project_id: id });
      const { token: editor } = await token({ role: 'editor', project_id: id });
      const { token: deployer } = await token({ role: 'deployer', project_id: id });
      const { paths } = parse(await (await control.ask('/openapi')).text()) as {
        paths: Record<string, { get?: unknown }>;
      };
      const seen: [path: string, status: number][] = [];
      for (const [template, { get }] of Object.entries(paths)) {
        if (!get || template.endsWith('/events')) continue;
        const path = template
          .replace(/^\/projects\/\{id\}/, `/projects/${id}`)
          .replace(/^\/specs\/\{id\}/, `/specs/${spec.id}`)
          .replace(/^\/artifacts\/\{id\}/, `/artifacts/${artifact_id}`)
          .replace(/^\/compilations\/\{id\}/, `/compilations/${compilation.id}`);
        if (path.includes('{')) continue;
        const answer = await control.ask(path, { token: viewer });
        expect([path, (await answer.text()).includes(secret)]).toEqual([path, false]);
        seen.push([path, answer.status]);
      }
      expect(seen.filter(([, each]) => each === 403).map(([path]) => path)).toEqual(
        expect.arrayContaining([`/artifacts/${artifact_id}/download`, `/specs/${spec.id}/content`]),
      );
      expect(seen.filter(([, each]) => each === 200).length).toBeGreaterThan(12);
      const operations = await control.get(`/projects/${id}/operations`, { token: viewer });
      expect(JSON.stringify(operations)).toContain('[redacted]');
      const bindings = await control.get(`/specs/${spec.id}/bindings`, { token: viewer });
      expect(JSON.stringify(bindings)).toContain('[redacted]');
      expect(await status(`/specs/${spec.id}/content`, { token: editor })).toBe(200);
      expect(await status(`/artifacts/${artifact_id}/download`, { token: editor })).toBe(403);
      expect(await status(`/artifacts/${artifact_id}/download`, { token: deployer })).toBe(200);
    });

    it('shows a token of one project nothing of another, nor that it is there', async () => {
      const { token: ours } = await token({ role: 'admin', project_id: project });
      expect(await problem(`/projects/${foreign}`, { token: ours })).toEqual([404, 'not-found']);
      expect(await problem(`/projects/${foreign}/api-keys`, { token: ours })).toEqual([404, 'not-found']);
      expect(await problem(`/audit?project_id=${foreign}`, { token: ours })).toEqual([404, 'not-found']);
      const [projects, tokens, entries] = await Promise.all([
        control.get<Created[]>('/projects', { token: ours }),
        control.get<{ project_id: string }[]>('/tokens', { token: ours }),
        control.get<{ project_id: string }[]>('/audit', { token: ours }),
      ]);
      expect(projects.map(({ id }) => id)).toEqual([project]);
      expect(new Set([...tokens, ...entries].map(({ project_id }) => project_id))).toEqual(new Set([project]));
    });

    it('makes no token wider than whoever makes it, and lets an admin of one project register no plugin', async () => {
      const { token: ours } = await token({ role: 'admin', project_id: project });
      const make = (input: object) =>
        problem('/tokens', { method: 'POST', token: ours, json: { name: `t${++names}`, role: 'viewer', ...input } });
      expect(await make({})).toEqual([403, 'forbidden']);
      expect(await make({ project_id: null })).toEqual([403, 'forbidden']);
      expect(await make({ project_id: foreign })).toEqual([404, 'not-found']);
      const plugin = new FormData();
      for (const [name, value] of Object.entries({
        name: 'acl',
        version: '99.0.0',
        type: 'middleware',
        description: 'x',
        capabilities: '[]',
      }))
        plugin.append(name, value);
      plugin.append('file', new Blob([new Uint8Array(8)]), 'acl.wasm');
      // The names of built-in plugins are the instance's.
      expect(await problem('/plugins', { method: 'POST', token: ours, body: plugin })).toEqual([403, 'forbidden']);
      const within = { name: `t${++names}`, role: 'admin', project_id: project };
      expect(await status('/tokens', { method: 'POST', token: ours, json: within })).toBe(201);
      const global = await token({ role: 'viewer' });
      expect(await problem(`/tokens/${global.id}`, { method: 'DELETE', token: ours })).toEqual([404, 'not-found']);
    });

    it('refuses a token of a name that another has, of the past, or of a project that is not', async () => {
      const { id, token: first } = await token({ name: 'taken', role: 'viewer' });
      const make = (json: object) => problem('/tokens', { method: 'POST', json: { role: 'viewer', ...json } });
      expect(await make({ name: 'taken' })).toEqual([409, 'conflict']);
      // Once it is revoked, another may have its name; the first opens nothing by that.
      await control.ask(`/tokens/${id}`, { method: 'DELETE' });
      const { token: second } = await token({ name: 'taken', role: 'viewer' });
      expect(await status('/whoami', { token: second })).toBe(200);
      expect(await status('/whoami', { token: first })).toBe(401);
      expect((await make({ name: 'past', expires_at: '2020-01-01T00:00:00Z' }))[0]).toBe(422);
      expect((await make({ name: 'leap', expires_at: '2020-12-31T23:59:60Z' }))[0]).toBe(422);
      expect(await make({ name: 'none', project_id: crypto.randomUUID() })).toEqual([404, 'not-found']);
      expect(await make({ name: 'role', role: 'root' })).toEqual([400, 'bad-request']);
    });

    it('takes a token until it is revoked, at once and at every replica', async () => {
      const { id, token: made } = await token({ role: 'viewer' });
      expect((await other.ask('/whoami', { token: made })).status).toBe(200);
      expect(await status(`/tokens/${id}`, { method: 'DELETE' })).toBe(204);
      expect((await other.ask('/whoami', { token: made })).status).toBe(401);
      expect(await problem(`/tokens/${id}`, { method: 'DELETE' })).toEqual([404, 'not-found']);
      const listed = await control.get<{ id: string; revoked_at: string | null }[]>('/tokens?limit=200');
      expect(listed.find((each) => each.id === id)?.revoked_at).toMatch(/^20/);
    });

    it('takes a token until it expires', async () => {
      const { token: made } = await token({ role: 'viewer', expires_at: new Date(Date.now() + 700).toISOString() });
      expect(await status('/whoami', { token: made })).toBe(200);
      await eventually(async () => expect(await status('/whoami', { token: made })).toBe(401));
    });

    it('ends what is open with a token that is revoked, or expires, or whose project is deleted', async () => {
      const events = (given: string, of: string) => other.ask(`/projects/${of}/events`, { token: given });
      const revoked = await token({ role: 'viewer', project_id: project });
      const expiring = await token({ role: 'viewer', expires_at: new Date(Date.now() + 1_500).toISOString() });
      const { id: doomed } = await create<Created>('/projects', { name: 'doomed' });
      const orphan = await token({ role: 'viewer', project_id: doomed });
      const open = await Promise.all([
        events(revoked.token, project),
        events(expiring.token, project),
        events(orphan.token, doomed),
      ]);
      expect(open.map((answer) => answer.status)).toEqual([200, 200, 200]);
      expect(await status(`/tokens/${revoked.id}`, { method: 'DELETE' })).toBe(204);
      expect(await status(`/projects/${doomed}`, { method: 'DELETE' })).toBe(204);
      await Promise.all(open.map((answer) => answer.text()));
    });

    it.each([
      ['no credentials', null],
      ['an empty token', 'Bearer '],
      ['a wrong token', 'Bearer nonsense'],
      ['a prefix of the admin token', `Bearer ${ADMIN_TOKEN.slice(0, -1)}`],
      ['the admin token and more', `Bearer ${ADMIN_TOKEN}x`],
      ['the admin token as a password', `Basic ${btoa(`admin:${ADMIN_TOKEN}`)}`],
      ['the admin token twice', `Bearer ${ADMIN_TOKEN} ${ADMIN_TOKEN}`],
      ['a token that was never made', `Bearer gwt_${'A'.repeat(43)}`],
      ['a token of another length', `Bearer gwt_${'A'.repeat(10_000)}`],
      ['an unsigned JWT', `Bearer ${btoa('{"alg":"none"}')}.${btoa('{"sub":"admin","roles":["admin"]}')}.`],
    ])('answers 401 to %s', async (_what, authorization) => {
      // fetch keeps no empty value of Authorization.
      const answer = await fetch(`${control.url}/whoami`, authorization === null ? {} : { headers: { authorization } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
      const challenge = answer.headers.get('www-authenticate');
      const code = authorization === null ? '' : ', error="invalid_token"';
      expect(challenge).toBe(`Bearer realm="gw-control"${code}`);
    });

    it('answers with a problem document to what is no request', async () => {
      const answer = await fetch(`${control.url}/whoami`, { headers: { 'x-long': 'A'.repeat(20_000) } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([431, 'application/problem+json']);
      expect(await answer.json()).toMatchObject({ status: 431, title: 'Request Header Fields Too Large' });
    });

    it('says the same of a token that is wrong, revoked or a data-plane key, and shows none of them', async () => {
      const { id, token: made } = await token({ role: 'viewer' });
      await control.ask(`/tokens/${id}`, { method: 'DELETE' });
      const { key } = await create<{ key: string }>(`/projects/${project}/api-keys`, { name: 'edge' });
      const details = await Promise.all(
        ['nonsense', made, key].map(async (each) => {
          const answer = await control.ask('/whoami', { token: each });
          return [answer.status, ((await answer.json()) as { detail: string }).detail];
        }),
      );
      expect(new Set(details.map(String)).size).toBe(1);
      const entries = JSON.stringify(await control.get('/audit?limit=200'));
      const log = JSON.stringify(control.log);
      for (const secret of [made, key, ADMIN_TOKEN]) {
        expect(entries).not.toContain(secret);
        expect(log).not.toContain(secret);
      }
    });

    it('keeps keys of data planes as hashes, lists and revokes them', async () => {
      const answer = await control.ask(`/projects/${project}/api-keys`, { method: 'POST', json: { name: 'edge 2' } });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const made = (await answer.json()) as { id: string; key: string; name: string };
      expect(made.key).toMatch(/^gwk_[A-Za-z0-9_-]{43}$/);
      expect(answer.headers.get('location')).toBe(`/projects/${project}/api-keys/${made.id}`);
      const path = `/projects/${project}/api-keys/${made.id}`;
      expect(await problem(`/projects/${foreign}/api-keys/${made.id}`, { method: 'DELETE' })).toEqual([
        404,
        'not-found',
      ]);
      expect(await status(path, { method: 'DELETE' })).toBe(204);
      expect(await problem(path, { method: 'DELETE' })).toEqual([404, 'not-found']);
      const keys = await control.get<object[]>(`/projects/${project}/api-keys`);
      expect(keys).toContainEqual(
        expect.objectContaining({ id: made.id, name: 'edge 2', revoked_at: expect.any(String) }),
      );
      expect(JSON.stringify(keys)).not.toContain(made.key);
      expect(await problem(`/projects/${crypto.randomUUID()}/api-keys`, {})).toEqual([404, 'not-found']);
      const post = { method: 'POST', json: { name: 'x' } };
      expect(await problem(`/projects/${crypto.randomUUID()}/api-keys`, post)).toEqual([404, 'not-found']);
    });

    it('writes every change down, with who, what, before and after', async () => {
      const { id } = await create<Created>('/projects', { name: 'audited' });
      const changed = await control.ask(`/projects/${id}`, {
        method: 'PUT',
        json: { name: 'audited', description: 'b' },
      });
      const requestId = changed.headers.get('x-request-id');
      const about = `/audit?resource_type=project&resource_id=${id}`;
      const entries = await control.get<object[]>(about);
      expect(entries).toMatchObject([
        {
          action: 'projects.update',
          actor: 'admin',
          before: { description: '' },
          after: { description: 'b' },
          request_id: requestId,
        },
        { action: 'projects.create', before: null, after: { name: 'audited' }, project_id: id },
      ]);
      expect(await control.get(`${about}&action=projects.update&actor=admin`)).toEqual(entries.slice(0, 1));
      expect(await control.get(`${about}&actor=nobody`)).toEqual([]);
      expect(await control.get(`${about}&since=2999-01-01T00:00:00Z`)).toEqual([]);
      expect(await control.get(`${about}&until=0001-01-01T00:00:00Z`)).toEqual([]);
      const first = await control.ask(`${about}&limit=1`);
      const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      expect(await control.get(next)).toEqual(entries.slice(1));
    });
  });
});
