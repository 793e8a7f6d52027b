/** `/trace` of a real `gw serve`, and `gw trace`: what each stage of a request decided. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TraceReport } from '../../gateway/src/trace/report.ts';
import { GW } from '../programs/gw.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';

const guarded = [
  { name: 'cors', config: { allowed_origins: ['https://shop.example.org'] } },
  { name: 'apikey-auth', config: { keys: [{ id: 'alpha', key: 'demo-key' }] } },
];
const document = (upstream: string) => ({
  openapi: '3.1.0',
  info: { title: 'Books', version: '1' },
  'x-gw-mcp': { enabled: true },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
  paths: {
    '/books': {
      get: {
        operationId: 'listBooks',
        security: [{ key: [] }],
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1 } }],
        responses: { 200: { description: 'OK' } },
        'x-gw-middlewares': guarded,
        'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
      },
      post: {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object', required: ['title'] } } },
        },
        responses: { 201: { description: 'Created' } },
        'x-gw-dispatch': { name: 'mock', config: { status: 201, body: 'made' } },
      },
    },
    '/endless': {
      get: {
        responses: { 200: { description: 'OK' } },
        'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
      },
    },
  },
});

describe.each([
  ['one process', []],
  ['workers', ['--workers', '2']],
])('a trace, by %s', (_, args) => {
  let upstream: Server;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = createServer((request, response) => {
      if (request.url === '/endless') response.writeHead(200).write('a');
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('from upstream');
    });
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const address = upstream.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const plugins = ['cors', 'apikey-auth', 'http-upstream', 'mock'];
    gw = await startGateway(await compileSpec(document(`http://127.0.0.1:${port}`), plugins), { args });
  });
  afterAll(async () => {
    await gw?.stop();
    upstream?.closeAllConnections();
    upstream?.close();
  });

  const ask = (body: unknown, method = 'POST') =>
    fetch(`${gw.admin}/trace`, {
      method,
      ...(method === 'POST' ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
    });
  const trace = async (request: object) => {
    const answer = await ask(request);
    expect(answer.status).toBe(200);
    return jsonOf<TraceReport>(answer);
  };
  const outcomes = ({ stages }: TraceReport) => stages.map(({ stage, outcome }) => `${stage}: ${outcome}`);

  it('has every stage of a proxied request, and the answer that the client would have got', async () => {
    const report = await trace({
      target: '/books?limit=2',
      headers: [
        ['x-api-key', 'demo-key'],
        ['Origin', 'https://shop.example.org'],
        ['x-strange', 'never shown'],
      ],
    });
    expect(report.operation).toEqual({ path: '/books', operation_id: 'listBooks', api: 'books' });
    expect(outcomes(report)).toEqual([
      'limits: passed',
      'route: matched',
      'headers: dropped some',
      'validate parameters: valid',
      'middleware cors request: continue',
      'middleware apikey-auth request: continue',
      'dispatch http-upstream: handed off',
      'call: 200',
    ]);
    const of = (name: string) => report.stages.find(({ stage }) => stage === name)?.detail ?? '';
    expect(of('headers')).toMatch(/not x-strange$/);
    expect(of('middleware cors request')).toMatch(/response headers staged/);
    expect(of('middleware apikey-auth request')).toMatch(/x-auth-/);
    expect(of('call')).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/books$/);
    expect(report.response).toMatchObject({ status: 200, body: 'from upstream', body_bytes: 13, truncated: false });
    expect(report.response.headers).toContainEqual(['access-control-allow-origin', 'https://shop.example.org']);
    expect(JSON.stringify(report)).not.toMatch(/demo-key|never shown/);
  });

  it('says where a request ended, and why', async () => {
    expect(outcomes(await trace({ target: '/nowhere' }))).toEqual([
      'limits: passed',
      'route: none',
      'headers: admitted',
    ]);
    const wrong = await trace({ method: 'DELETE', target: '/books' });
    expect(wrong.stages[1]).toMatchObject({ outcome: 'method not allowed', detail: 'allowed: GET, HEAD, POST' });
    expect(wrong.response.status).toBe(405);
    expect((await trace({ target: '/books/../x' })).stages).toMatchObject([{ stage: 'limits', outcome: 'refused' }]);
    const parameter = await trace({ target: '/books?limit=0' });
    expect(parameter.stages.at(-1)).toMatchObject({
      stage: 'validate parameters',
      outcome: 'refused',
      detail: expect.stringMatching(/^400 .*; query limit: /),
    });
    expect(parameter.response.status).toBe(400);
    const typed = { method: 'POST', target: '/books', headers: [['content-type', 'text/csv']], body: 'x' };
    expect((await trace(typed)).stages.at(-1)).toMatchObject({ detail: expect.stringMatching(/^415 .*Content-Type/) });
    const anonymous = await trace({ target: '/books' });
    expect(anonymous.stages.at(-1)).toMatchObject({ outcome: 'answered', detail: expect.stringMatching(/^401 /) });
    const body = await trace({
      method: 'POST',
      target: '/books',
      headers: [['content-type', 'application/json']],
      body: '{}',
    });
    expect(body.stages.at(-1)).toMatchObject({
      stage: 'validate body',
      outcome: 'refused',
      detail: expect.stringMatching(/^400 .*; body \/: .*title/),
    });
    const good = { method: 'POST', target: '/books', headers: [['content-type', 'application/json']] };
    expect((await trace({ ...good, body: '{"title":"Emma"}' })).response).toMatchObject({ status: 201, body: 'made' });
    const encoded = Buffer.from('{"title":"Emma"}').toString('base64');
    expect((await trace({ ...good, body: encoded, body_encoding: 'base64' })).response.status).toBe(201);
  });

  it('cuts off what does not end, and says so', async () => {
    const report = await trace({ target: '/endless', timeout_ms: 300 });
    expect(report.response).toMatchObject({ status: 200, body: 'a', truncated: true });
  });

  it('has the stages of a tool within those of the MCP request that calls it', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const called = (args: object) => ({
      method: 'POST',
      target: '/__gw/mcp',
      headers: [
        ['content-type', 'application/json'],
        ['mcp-protocol-version', '2026-07-28'],
        ['mcp-method', 'tools/call'],
        ['mcp-name', 'listBooks'],
        ['x-api-key', 'demo-key'],
      ],
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'listBooks', arguments: args, _meta },
      }),
    });
    const report = await trace(called({ limit: 2 }));
    expect(outcomes(report).slice(4)).toEqual([
      'request: 200',
      'limits: passed',
      'route: matched',
      'headers: admitted',
      'validate parameters: valid',
      'middleware cors request: continue',
      'middleware apikey-auth request: continue',
      'dispatch http-upstream: handed off',
      'call: 200',
    ]);
    expect(report.stages.slice(4).map(({ depth }) => depth)).toEqual([0, 1, 1, 1, 1, 1, 1, 1, 2]);
    expect(report.stages[4]).toMatchObject({ detail: 'GET /books', duration_ms: expect.any(Number) });
    expect(JSON.parse(report.response.body)).toMatchObject({ result: { content: [{ text: 'from upstream' }] } });
    const invalid = await trace(called({ limit: 0 }));
    expect(outcomes(invalid)).toContain('validate parameters: refused');
    expect(invalid.response.status).toBe(200);
  });

  it('reports as much of the body as it is asked for', async () => {
    const target = '/books';
    const headers = [['x-api-key', 'demo-key']];
    const { response } = await trace({ target, headers, body_limit: 4 });
    expect(response).toMatchObject({ body: 'from', body_bytes: 13, truncated: true });
  });

  it('refuses what is no request', async () => {
    const status = async (body: unknown) => (await ask(body)).status;
    expect(await status({})).toBe(400);
    expect(await status({ target: '/a b' })).toBe(400);
    expect(await status({ target: '/', method: 'A B' })).toBe(400);
    expect(await status({ target: '/', headers: [['a', 'b\r\nc: d']] })).toBe(400);
    expect(await status({ target: '/', headers: [['a\n', 'b']] })).toBe(400);
    expect(await status({ target: '/', more: 1 })).toBe(400);
    const get = await ask(null, 'GET');
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('counts as a request of whoever asked', async () => {
    await trace({
      target: '/books',
      headers: [
        ['x-forwarded-for', '203.0.113.9'],
        ['x-request-id', 'traced-1'],
      ],
    });
    const line = await gw.logged(({ msg, request_id }) => msg === 'request' && request_id === 'traced-1');
    expect(line).toMatchObject({ client_ip: '127.0.0.1', status: 401, route: '/books' });
  });

  it('is shown by gw trace', () => {
    const run = (...more: string[]) =>
      spawnSync(process.execPath, [GW, 'trace', '--admin', gw.admin, ...more], { encoding: 'utf8' });
    const shown = run('/books?limit=0', '-H', 'x-api-key: demo-key');
    expect(shown.status).toBe(0);
    expect(shown.stdout).toMatch(/validate parameters\s+refused\s+[\d.]+ ms/);
    expect(shown.stdout).toMatch(/^< 400 after/m);
    expect(JSON.parse(run('/books', '--format', 'json').stdout)).toMatchObject({ response: { status: 401 } });
    const nobody = spawnSync(process.execPath, [GW, 'trace', '--admin', 'http://127.0.0.1:1', '/'], {
      encoding: 'utf8',
    });
    expect([nobody.status, nobody.stderr]).toEqual([1, expect.stringMatching(/no gateway answers at .*--admin/)]);
  });
});
