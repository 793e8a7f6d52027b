/** cel through a real `gw serve`: rules on bodies, claims, groups and headers (docs/reference/plugins.md#cel). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';

const responses = { 200: { description: 'OK' } };
const body = '{{headers.x-tenant}}';
const mock = { name: 'mock', config: { body, content_type: 'text/plain' } };
const cel = (expression: string, more: object = { on_match: { deny: { code: 'no' } } }) => ({
  name: 'cel',
  config: { expression, ...more },
});
const run = (...middlewares: object[]) => ({ responses, 'x-gw-middlewares': middlewares, 'x-gw-dispatch': mock });
const json = { content: { 'application/json': { schema: { type: 'object' } } } };
const document = (paths: object) => ({ openapi: '3.1.0', info: { title: 'Rules', version: '1' }, paths });
const plugins = ['mock', 'cel', 'apikey-auth', 'rate-limit'];
const keys = [
  { key: 'k-alice', id: 'alice', name: 'Alice', scopes: ['staff', 'interns'] },
  { key: 'k-bob', id: 'bob', name: 'Bob', scopes: ['staff'] },
];

describe('cel, through gw serve', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const paths = {
      '/models': {
        post: {
          ...run(
            cel('request.body_json.model == "large"', {
              on_match: { deny: { code: 'model_not_permitted', message: 'too large' } },
            }),
          ),
          requestBody: json,
        },
      },
      '/tenants': { get: run(cel('request.headers["X-Tenant"] == "blocked"')) },
      '/staff': {
        get: {
          ...run(
            { name: 'apikey-auth', config: { keys } },
            cel('"interns" in request.groups || request.consumer == "mallory"'),
          ),
          security: [{ key: [] }],
        },
      },
      '/limited': {
        get: run(cel('request.query.tier == ["free"]', { on_match: { set_context: { bucket: 'free' } } }), {
          name: 'rate-limit',
          config: { quota: 1, window: 60, partition_key: 'context:bucket' },
        }),
      },
      '/strict': {
        post: {
          ...run(cel('request.body_json.a > 1', { on_match: { deny: {} }, on_error: 'deny' })),
          requestBody: json,
        },
      },
      '/slow': {
        post: { ...run(cel('request.body_json.l.all(x, request.body_json.l.all(y, x == x))')), requestBody: json },
      },
      '/plain': { get: run() },
    };
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } };
    gw = await startGateway(await compileSpec({ ...document(paths), components }, plugins));
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const post = (path: string, value: unknown) =>
    fetch(gw.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(value),
    });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(gw.url + path, { headers });

  it('refuses a body by what is in it', async () => {
    const response = await post('/models', { model: 'large' });
    expect([response.status, response.headers.get('content-type')]).toEqual([403, 'application/problem+json']);
    expect(await jsonOf(response)).toEqual({
      type: 'urn:gw:error:denied',
      title: 'Request denied',
      status: 403,
      detail: 'too large',
      code: 'model_not_permitted',
    });
    expect((await post('/models', { model: 'small' })).status).toBe(200);
  });

  // docs/decisions.md#headers-plugins-read
  it('admits the headers that expressions read, and no others', async () => {
    expect((await get('/tenants', { 'x-tenant': 'blocked' })).status).toBe(403);
    expect(await (await get('/tenants', { 'x-tenant': 'acme' })).text()).toBe('acme');
  });

  it('sees consumer and groups of the authentication before it, and none that a client sends', async () => {
    expect((await get('/staff', { 'x-api-key': 'k-alice' })).status).toBe(403);
    expect((await get('/staff', { 'x-api-key': 'k-bob', 'x-auth-consumer': 'mallory' })).status).toBe(200);
  });

  it('sets context for the plugins behind it', async () => {
    expect((await get('/limited?tier=free')).status).toBe(200);
    expect((await get('/limited?tier=free')).status).toBe(429);
    expect((await get('/limited?tier=free&tier=paid')).status).toBe(200);
  });

  it('takes what cannot be evaluated for no match, or refuses it where on_error says so; never 500', async () => {
    expect((await post('/models', [1])).status).toBe(400);
    expect((await post('/models', { model: 5 })).status).toBe(200);
    expect((await post('/models', {})).status).toBe(200);
    const line = await gw.logged(({ msg }) => msg.includes('could not be evaluated'));
    expect(line.msg).toContain('line 1, column 18: there is no such element');
    expect((await post('/strict', { a: 'text' })).status).toBe(403);
    expect((await post('/strict', { a: 1 })).status).toBe(200);
  });

  it('stops what takes too long, refuses it, and serves others meanwhile', async () => {
    const l = Array.from({ length: 20_000 }, (_, i) => i);
    const slow = Array.from({ length: 5 }, () => post('/slow', { l }));
    expect((await get('/plain')).status).toBe(200);
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    await gw.logged(({ msg }) => msg.includes('takes more than 5000 steps'));
  });
});

it('does not compile with an expression that cannot be right, and says where', async () => {
  const compiles = (expression: string) => compileSpec(document({ '/a': { get: run(cel(expression)) } }), plugins);
  const error = await compiles('request.method == "GET" &&\n  request.nosuch == 1').catch(String);
  const [diagnostic] = JSON.parse(String(error).replace(/^Error: /, ''));
  expect(diagnostic).toMatchObject({
    code: 'E1032',
    file: 'api.json',
    pointer: '/paths/~1a/get/x-gw-middlewares/0/config/expression',
    line: 1,
  });
  expect(diagnostic.message).toContain('plugin "cel": "expression", line 2, column 10: a request has no nosuch');
  await expect(compiles('request.method == ')).rejects.toThrow(/E1032.*line 1, column 1/s);
  await expect(compiles('request.path.matches("(")')).rejects.toThrow(/E1032.*RE2/s);
});
