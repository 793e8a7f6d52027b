/** What clients of MCP are told of getting a token (docs/mcp.md#authorization), through a real `gw serve`. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as newer from '@modelcontextprotocol/client';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { openSession, post } from './mcp-project.ts';
import { CLIENT, grantedToken, PROVIDER } from './provider.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const METADATA = '/.well-known/oauth-protected-resource/__gw/mcp';

const dir = mkdtempSync(join(tmpdir(), 'gw-mcp-'));
const file = join(dir, 'api.gwa');
let upstream: Upstream;
let gw: Gateway;

interface Settings {
  readonly mcp?: object;
  readonly issuer?: string;
  readonly audience?: string;
}

/** Operations that need scopes, of an issuer whom the documents name, and one that needs an API key. */
async function serve({ mcp = {}, issuer = 'https://login.example', audience }: Settings): Promise<void> {
  const operation = (operationId: string, scopes: string, more: object = {}) => ({
    operationId,
    security: [{ bearer: [] }],
    responses: { 200: { description: 'x' } },
    'x-gw-middlewares': [
      { name: 'oidc-auth', config: { issuer_url: issuer, required_scopes: scopes, ...(audience ? { audience } : {}) } },
    ],
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    ...more,
  });
  const document = {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    'x-gw-mcp': { enabled: true, ...mcp },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
    paths: {
      '/books': { get: operation('listBooks', 'read') },
      '/stock': { get: operation('countStock', 'read admin') },
      '/keyed': {
        get: operation('keyed', '', {
          security: [{ key: [] }],
          'x-gw-middlewares': [{ name: 'apikey-auth', config: { keys: [{ key: 'k', id: 'alice' }] } }],
        }),
      },
    },
  };
  const artifact = await compileSpec(document, ['http-upstream', 'oidc-auth', 'apikey-auth']);
  writeFileSync(`${file}.new`, artifact);
  renameSync(`${file}.new`, file);
}

const metadata = async (path = METADATA, init: RequestInit = {}) => {
  const response = await fetch(gw.url + path, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as object };
};
const call = async (name: string, headers: Record<string, string> = {}) => {
  const session = await openSession(gw.url);
  const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: {} } };
  return post(gw.url, message, { ...session, ...headers });
};

beforeAll(async () => {
  upstream = await startUpstream();
  await serve({});
  gw = await startGateway(null, { args: ['--artifact', file] });
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await upstream?.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('protected-resource metadata', () => {
  it('names the resource as the client asked for it, who gives tokens, and the scopes', async () => {
    const { status, headers, body } = await metadata();
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(body).toEqual({
      resource: `${gw.url}/__gw/mcp`,
      authorization_servers: ['https://login.example'],
      scopes_supported: ['admin', 'read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Books',
    });
    expect((await metadata(METADATA, { method: 'POST' })).status).toBe(405);
    expect((await metadata('/.well-known/oauth-protected-resource/books')).status).toBe(404);
  });

  it('is read by pages that may call, and by no other', async () => {
    const allowed = await metadata(METADATA, { headers: { origin: 'http://localhost:3000' } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
    const other = await metadata(METADATA, { headers: { origin: 'https://evil.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a challenge', () => {
  it('points to the metadata and says which scopes the tool needs', async () => {
    const { status, headers } = await call('countStock');
    expect(status).toBe(401);
    const at = `resource_metadata="${gw.url}${METADATA}"`;
    expect(headers.get('www-authenticate')).toBe(`Bearer ${at}, scope="admin read", realm="api"`);
  });

  it('of an API key stays as it is: no token helps', async () => {
    const { status, headers } = await call('keyed');
    expect([status, headers.get('www-authenticate')]).toEqual([401, expect.not.stringContaining('resource_metadata')]);
  });

  it('takes only the name of a server into its URL', async () => {
    const { headers } = await call('listBooks', { 'x-forwarded-host': 'evil.example' });
    expect(headers.get('www-authenticate')).toContain(`resource_metadata="${gw.url}/`);
  });
});

describe('settings of a document', () => {
  it('win over what its operations say, and give the public address', async () => {
    const authorization = {
      resource: 'https://api.example/shop/__gw/mcp',
      servers: ['https://login.example/tenant'],
      scopes: ['read'],
    };
    await serve({ mcp: { authorization } });
    const expected = {
      resource: authorization.resource,
      authorization_servers: authorization.servers,
      scopes_supported: ['read'],
    };
    const prefixed = '/.well-known/oauth-protected-resource/shop/__gw/mcp';
    await eventually(async () => expect((await metadata(prefixed)).body).toMatchObject(expected));
    expect((await metadata()).body).toMatchObject(expected);
    const { headers } = await call('listBooks');
    expect(headers.get('www-authenticate')).toContain(`resource_metadata="https://api.example${prefixed}"`);
  });

  it('where nobody is known to give tokens, there is no metadata', async () => {
    await serve({ mcp: { include: { paths: ['/keyed'] } } });
    await eventually(async () => expect((await metadata()).status).toBe(404));
  });
});

describe.skipIf(PROVIDER === '')('with a real provider (needs OIDC_ISSUER)', () => {
  let audience: string;
  beforeAll(async () => {
    audience = `${gw.url}/__gw/mcp`;
    await serve({ issuer: PROVIDER, audience });
    await eventually(async () => expect((await metadata()).body).toMatchObject({ authorization_servers: [PROVIDER] }));
  });
  const credentials = { clientId: CLIENT.id, clientSecret: CLIENT.secret, expectedIssuer: PROVIDER };

  it('the official client of revisions with sessions gets a token for this resource', async () => {
    // In this grant, it asks for the scopes that it is configured with.
    const authProvider = new ClientCredentialsProvider({ ...credentials, scope: 'read admin' });
    const transport = new StreamableHTTPClientTransport(new URL(`${gw.url}/__gw/mcp`), { authProvider });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport as never);
    expect(authProvider.tokens()).toBeUndefined();
    expect((await client.callTool({ name: 'countStock' })).isError).toBeUndefined();
    expect(authProvider.tokens()).toMatchObject({ scope: 'read admin', issuer: PROVIDER });
    await client.close();
  });

  it('that of revision 2026-07-28 gets one with the scopes of a tool, and then one with more', async () => {
    const authProvider = new newer.ClientCredentialsProvider(credentials);
    const client = new newer.Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new newer.StreamableHTTPClientTransport(new URL(`${gw.url}/__gw/mcp`), { authProvider }));
    expect((await client.callTool({ name: 'listBooks', arguments: {} })).isError).toBeUndefined();
    expect(authProvider.tokens()?.scope).toBe('read');
    expect((await client.callTool({ name: 'countStock', arguments: {} })).isError).toBeUndefined();
    expect(authProvider.tokens()?.scope?.split(' ').sort()).toEqual(['admin', 'read']);
    await client.close();
  });

  it('a token without a scope gets 403 that names it, and one for another resource 401; neither reaches an upstream', async () => {
    const before = upstream.seen.length;
    const weak = await grantedToken({ scope: 'read', resource: audience });
    const refused = await call('countStock', { authorization: `Bearer ${weak}` });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer resource_metadata="${gw.url}${METADATA}", realm="api", error="insufficient_scope", scope="read admin"`,
    ]);
    const foreign = await grantedToken({ scope: 'read', resource: 'https://other.example/mcp' });
    const other = await call('listBooks', { authorization: `Bearer ${foreign}` });
    expect([other.status, other.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
    expect(upstream.seen.length).toBe(before);
  });
});
