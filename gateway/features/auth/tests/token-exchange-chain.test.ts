/**
 * `token-exchange` behind plugins that authenticate: tools of MCP, WebSockets and streams get no token of a caller
 * (docs/reference/plugins.md#token-exchange, docs/mcp.md#authorization).
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { type Issuer, startIssuer } from '../../../../test/serve/issuer.ts';
import { openSession, post } from '../../../../test/serve/mcp-project.ts';
import { ask } from '../../../../test/serve/token-api.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';
import {
  leaveAll,
  message,
  opened,
  refused,
  startEcho,
  type WebSocketUpstream,
} from '../../../../test/serve/web-sockets.ts';
import type { TraceReport } from '../../../src/trace/report.ts';
import { type AuthorizationServer, claimsOf, startAuthorizationServer } from './authorization-server.ts';

let server: AuthorizationServer;
let issuer: Issuer;
let upstream: Upstream;
let echo: WebSocketUpstream;
let gw: Gateway;

beforeAll(async () => {
  [server, issuer, echo] = await Promise.all([
    startAuthorizationServer({ id: 'gateway', secret: 'planted-secret' }),
    startIssuer(),
    startEcho(),
  ]);
  upstream = await startUpstream((request, response) => {
    const events = request.url === '/events';
    response.setHeader('content-type', events ? 'text/event-stream' : 'application/json');
    response.write(events ? 'data: one\n\n' : '{"ok":true}');
    // A stream of events goes on until its client leaves.
    if (!events) response.end();
  });
  const exchange = (config: object = {}) => ({
    name: 'token-exchange',
    config: {
      token_endpoint: server.tokenEndpoint,
      client_id: 'gateway',
      client_secret: 'env://CLIENT_SECRET',
      audience: 'orders',
      ...config,
    },
  });
  const oidc = { name: 'oidc-auth', config: { issuer_url: issuer.url, audience: 'urn:books' } };
  const introspected = {
    name: 'oauth2-auth',
    config: {
      introspection_endpoint: `${issuer.url}/introspect`,
      client_id: 'g',
      client_secret: 'env://CLIENT_SECRET',
    },
  };
  const operation = (operationId: string, middlewares: object[], dispatch: object) => ({
    get: {
      operationId,
      security: [{ bearer: [] }],
      responses: { default: { description: 'any' } },
      'x-gw-middlewares': middlewares,
      'x-gw-dispatch': dispatch,
    },
  });
  const proxied = { name: 'http-upstream', config: { url: upstream.url } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Orders', version: '1' },
    'x-gw-mcp': { enabled: true, include: { paths: ['/orders', '/wide'] } },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/orders': operation('listOrders', [oidc, exchange()], proxied),
      '/wide': operation('listAll', [oidc, exchange({ scope: 'admin' })], proxied),
      '/opaque': operation('opaque', [introspected, exchange()], proxied),
      '/events': operation('events', [oidc, exchange()], proxied),
      '/socket': operation('socket', [oidc, exchange()], { name: 'ws-upstream', config: { url: echo.url } }),
    },
  };
  const plugins = ['token-exchange', 'oidc-auth', 'oauth2-auth', 'http-upstream', 'ws-upstream'];
  gw = await startGateway(await compileSpec(document, plugins), { env: { CLIENT_SECRET: 'planted-secret' } });
});
afterEach(() => leaveAll());
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await Promise.all([upstream?.close(), server?.down(), issuer?.down(), echo?.close()]);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const agent = (subject: string) => server.grant(subject, issuer.token({ sub: subject, jti: crypto.randomUUID() }));
/** What the token says that an upstream got last. */
const received = (headers: { authorization?: string | undefined } = upstream.seen.at(-1)?.headers ?? {}) =>
  claimsOf(headers.authorization?.replace(/^Bearer /, '') ?? '');
const call = async (name: string, headers: Record<string, string>) => {
  const session = await openSession(gw.url);
  return post(
    gw.url,
    { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: {} } },
    {
      ...session,
      ...headers,
    },
  );
};

describe('a tool of MCP', () => {
  it('gets a token of its own: that of the agent does not reach its upstream', async () => {
    const token = agent('agent-7');
    const { status, body } = await call('listOrders', bearer(token));
    expect([status, body?.result?.isError]).toEqual([200, undefined]);
    expect(received()).toMatchObject({ iss: server.url, sub: 'agent-7', aud: ['orders'] });
    expect(JSON.stringify(upstream.seen)).not.toContain(token);
  });

  it('answers 401 with the way to a token where the server takes no more of it, and 403 where it may not', async () => {
    const before = upstream.seen.length;
    const token = agent('agent-8');
    server.subjects.delete(token);
    const unknown = await call('listOrders', bearer(token));
    expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer resource_metadata=".*error="invalid_token"/),
    ]);
    expect((await call('listAll', bearer(agent('agent-9')))).status).toBe(403);
    expect(upstream.seen.length).toBe(before);
  });

  it('that cannot be asked for is a failed call', async () => {
    server.instead = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const { status, body } = await call('listOrders', bearer(agent('agent-10')));
    server.instead = null;
    expect([status, body?.result?.isError]).toEqual([200, true]);
  });
});

describe('behind authentication', () => {
  it('asks the authorization server about no token that is not valid', async () => {
    const before = server.asked.length;
    for (const token of [issuer.token({ aud: 'urn:other' }), issuer.token({ exp: 1 }), 'made-up']) {
      expect((await ask(`${gw.url}/orders`, token)).status).toBe(401);
    }
    expect(server.asked.length).toBe(before);
  });

  it('is over with a token that was revoked, though one that was issued for it is kept', async () => {
    const token = server.grant('alice');
    issuer.active.set(token, { active: true, sub: 'alice' });
    expect((await ask(`${gw.url}/opaque`, token)).status).toBe(200);
    const before = [server.asked.length, upstream.seen.length];
    expect((await ask(`${gw.url}/opaque`, token)).status).toBe(200);
    issuer.active.delete(token);
    expect((await ask(`${gw.url}/opaque`, token)).status).toBe(401);
    expect([server.asked.length, upstream.seen.length]).toEqual([before[0], (before[1] ?? 0) + 1]);
  });
});

describe('a connection that lasts', () => {
  it('begins with the new token: a WebSocket', async () => {
    const token = agent('alice');
    const client = await opened(`${gw.url}/socket`, [], { headers: bearer(token) });
    client.send('hello');
    expect(String(await message(client))).toBe('hello');
    expect(received(echo.handshakes.at(-1)?.headers)).toMatchObject({ sub: 'alice', aud: ['orders'] });
    expect(echo.handshakes.at(-1)?.rawHeaders).not.toContain(`Bearer ${token}`);
    const before = echo.handshakes.length;
    server.subjects.delete(token);
    expect((await refused(`${gw.url}/socket`, { headers: bearer('made-up') })).status).toBe(401);
    expect(echo.handshakes.length).toBe(before);
  });

  it('begins with the new token: a stream of events', async () => {
    const token = agent('bob');
    const gone = new AbortController();
    const response = await fetch(`${gw.url}/events`, { headers: bearer(token), signal: gone.signal });
    const chunk = await response.body?.getReader().read();
    expect(Buffer.from(chunk?.value ?? []).toString()).toBe('data: one\n\n');
    gone.abort();
    expect(received()).toMatchObject({ sub: 'bob' });
  });
});

describe('an exchange whose client leaves', () => {
  it('goes on for the others that wait for it, and is kept', async () => {
    const token = agent('carol');
    let release = () => {};
    server.instead = (_request, response) => {
      release = () =>
        response.end(
          JSON.stringify({
            access_token: 'late',
            issued_token_type: 'urn:ietf:params:oauth:token-type:jwt',
            token_type: 'Bearer',
            expires_in: 600,
          }),
        );
      return true;
    };
    const before = server.asked.length;
    const gone = new AbortController();
    const first = fetch(`${gw.url}/orders`, { headers: bearer(token), signal: gone.signal }).catch(() => null);
    await eventually(() => server.asked.length === before + 1);
    const second = fetch(`${gw.url}/orders`, { headers: bearer(token) });
    gone.abort();
    expect(await first).toBeNull();
    release();
    expect((await second).status).toBe(200);
    server.instead = null;
    expect((await ask(`${gw.url}/orders`, token)).status).toBe(200);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer late');
    expect(server.asked.length).toBe(before + 1);
  });
});

describe('what is told of exchanges', () => {
  it('shows the call in a trace of the request, and no token', async () => {
    const token = agent('dave');
    const answer = await fetch(`${gw.admin}/trace`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ target: '/orders', headers: [['authorization', `Bearer ${token}`]] }),
    });
    const report = await jsonOf<TraceReport>(answer);
    const stages = report.stages.map(({ stage, outcome, detail }) => [stage, outcome, detail]);
    expect(stages).toContainEqual(['call', '200', `POST ${server.url}`]);
    expect(stages).toContainEqual([
      'middleware token-exchange request',
      'continue',
      expect.stringMatching(/authorization/),
    ]);
    expect(JSON.stringify(report)).not.toContain(token);
    expect(JSON.stringify(report)).not.toContain(upstream.seen.at(-1)?.headers.authorization);
  });

  it('has no token and no secret in the log, whatever has happened', () => {
    const log = JSON.stringify(gw.log);
    for (const { form } of server.asked) expect(log).not.toContain(form.get('subject_token'));
    for (const { headers } of upstream.seen) expect(log).not.toContain(headers.authorization?.slice(7) ?? '-');
    expect(log).not.toContain('planted');
  });
});
