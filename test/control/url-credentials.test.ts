/** Credentials in URLs are refused at every door of the control plane (docs/reference/gateway.md#upstream-credentials). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProject } from './compiling.ts';
import { gwControl } from './gw-control.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from './server.ts';

const URL_WITH = 'https://bob:xyzzy@api.example';
const spec = (chain: string) => `openapi: 3.1.0
info: { title: x, version: "1" }
paths:
  /a:
    get:
      operationId: a
${chain}`;

/** Plugins with a property that is a URL, and what else their config needs. */
const PLUGINS: readonly (readonly [name: string, config: object])[] = [
  ['http-upstream', { url: URL_WITH }],
  ['ws-upstream', { url: 'wss://bob:xyzzy@api.example' }],
  ['function-url', { url: URL_WITH }],
  ['http-log', { url: URL_WITH }],
  ['fire-and-forget', { url: URL_WITH }],
  ['jwt-auth', { jwks_url: URL_WITH }],
  ['oidc-auth', { issuer_url: URL_WITH }],
  ['oauth2-auth', { introspection_endpoint: URL_WITH, client_id: 'a', client_secret: 'env://A' }],
  ['token-exchange', { token_endpoint: URL_WITH, client_id: 'a' }],
  ['ldap-auth', { url: 'ldaps://bob:xyzzy@directory.example', user_base_dn: 'dc=x' }],
  ['object-store', { endpoint: URL_WITH }],
  ['subject-publish', { url: 'nats://bob:xyzzy@nats.example', subject: 'x' }],
  ['subject-subscribe', { url: 'tls://bob:xyzzy@nats.example', subject: 'x' }],
  ['ai-proxy', { provider: 'openai', base_url: URL_WITH }],
];

describe('a URL with credentials', () => {
  let server: ControlServer;
  let folder = '';
  let project = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gw-credentials-'));
    server = await startControl({ args: ['--admin-bind', 'off'] });
    project = await createProject(server);
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function refused(answer: Response) {
    const text = await answer.text();
    expect([answer.status, text]).toEqual([422, expect.stringContaining('holds credentials')]);
    expect(text).not.toContain('xyzzy');
  }

  it('is refused as an upstream of a project', async () => {
    const json = { name: 'with-credentials', upstreams: { books: URL_WITH } };
    await refused(await server.ask('/projects', { method: 'POST', json }));
    await refused(await server.ask(`/projects/${project}`, { method: 'PUT', json }));
  });

  it.each(PLUGINS)('is refused in the config of %s', async (name, config) => {
    const [version] = await server.get<{ version: string }[]>(`/plugins/${name}`);
    const json = { plugin_name: name, plugin_version: version?.version, config };
    await refused(await server.ask(`/projects/${project}/plugins`, { method: 'POST', json }));
  });

  it('is refused in a document and in a patch of its operations, also by the command line', async () => {
    const upload = async (text: string) => {
      const body = new FormData();
      body.append('file', new Blob([text]), 'chain.yaml');
      return server.ask(`/projects/${project}/specs`, { method: 'POST', body });
    };
    await refused(await upload(spec(`      x-gw-dispatch: { name: http-upstream, config: { url: "${URL_WITH}" } }\n`)));
    await refused(
      await upload(spec(`      x-gw-middlewares: [{ name: other, config: { a: [{ b: "${URL_WITH}" }] } }]\n`)),
    );
    const { id }: { id: string } = JSON.parse(await (await upload(spec(''))).text());
    const json = { a: { dispatch: { name: 'http-upstream', config: { url: URL_WITH } } } };
    await refused(await server.ask(`/specs/${id}/operations`, { method: 'PATCH', json }));
    const run = gwControl({ XDG_CONFIG_HOME: folder, GW_CONTROL_SERVER: server.url, GW_CONTROL_TOKEN: ADMIN_TOKEN });
    const file = join(folder, 'chain.yaml');
    writeFileSync(file, spec(`      x-gw-dispatch: { name: http-upstream, config: { url: "${URL_WITH}" } }\n`));
    const pushed = await run(['specs', 'push', file, '--project', project]);
    expect([pushed.code, pushed.stderr]).toEqual([1, expect.stringContaining('holds credentials')]);
    const created = await run(['projects', 'create', 'other', '--upstream', `books=${URL_WITH}`]);
    expect([created.code, created.stderr]).toEqual([1, expect.stringContaining('holds credentials')]);
  });

  it('is in no entry of the audit log', async () => {
    expect(await (await server.ask('/audit?limit=200')).text()).not.toContain('xyzzy');
  });
});
