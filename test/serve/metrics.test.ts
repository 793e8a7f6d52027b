/** Every metric of docs/reference/gateway.md#metrics, as a scraper gets it from a real `gw serve`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '../../gateway/features/metrics.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { scrape } from './scrape.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const PLUGINS = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors'];
const SLOW_MS = 120;

function document(upstream: string) {
  const responses = { 200: { description: 'OK' } };
  const mock = (body: string) => ({ name: 'mock', config: { body } });
  const parameter = (name: string, where: string, schema: object) => ({
    name,
    in: where,
    schema,
    ...(where === 'path' ? { required: true } : {}),
  });
  const json = { content: { 'application/json': { schema: { type: 'object', required: ['title'] } } } };
  return {
    openapi: '3.1.0',
    info: { title: 'Counted Things', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: {
      '/counted/{id}': {
        get: { responses, 'x-gw-dispatch': mock('ok') },
        parameters: [parameter('id', 'path', { type: 'string' })],
      },
      '/sized': {
        post: { responses, requestBody: json, 'x-gw-dispatch': mock('x'.repeat(1000)) },
      },
      '/slow': { get: { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } } } },
      '/picky/{n}': {
        post: {
          responses,
          parameters: [
            parameter('n', 'path', { type: 'integer' }),
            parameter('q', 'query', { type: 'integer' }),
            parameter('X-H', 'header', { type: 'integer' }),
            parameter('c', 'cookie', { type: 'integer' }),
          ],
          requestBody: json,
          'x-gw-dispatch': mock('ok'),
        },
      },
      '/guarded': {
        get: {
          responses,
          security: [{ key: [] }],
          'x-gw-middlewares': [
            { name: 'cors', config: { allowed_origins: ['https://shop.example'] } },
            { name: 'apikey-auth', config: { keys: [{ key: 'k', id: 'alpha', name: 'Alpha' }] } },
            { name: 'rate-limit', config: { quota: 1000, window: 60 } },
          ],
          'x-gw-dispatch': { name: 'http-upstream', config: { url: `${upstream}/base` } },
        },
      },
    },
  };
}

describe('metrics', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      setTimeout(() => response.end('slow'), request.url?.startsWith('/slow') ? SLOW_MS : 0);
    });
    gw = await startGateway(await compileSpec(document(upstream.url), PLUGINS));
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  const api = 'counted-things';
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(gw.url + path, init);
    await response.arrayBuffer();
    return response.status;
  };
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    call(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

  it('are those of the reference, each with its type, and no others', async () => {
    const { types, samples } = await scrape(gw.admin);
    expect(Object.fromEntries(types)).toEqual(
      Object.fromEntries(Object.entries(METRICS).map(([name, { type }]) => [name, type])),
    );
    for (const { name, labels } of samples) {
      const metric = name.replace(/_(bucket|sum|count)$/, '');
      const known = METRICS[(types.has(name) ? name : metric) as keyof typeof METRICS];
      const { le: _, ...others } = labels;
      expect(Object.keys(others).sort(), name).toEqual([...known.labels].sort());
    }
    const response = await fetch(`${gw.admin}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it('gw_requests_total counts by operation and status, whatever the path parameters', async () => {
    const labels = { method: 'GET', path: '/counted/{id}', api, status: '200' };
    const before = (await scrape(gw.admin)).value('gw_requests_total', labels);
    for (const id of ['a', 'b', 'c%20d']) expect(await call(`/counted/${id}`)).toBe(200);
    expect(await call('/counted/a', { method: 'HEAD' })).toBe(200);
    const after = await scrape(gw.admin);
    expect(after.value('gw_requests_total', labels) - before).toBe(4);
    expect(after.values('gw_requests_total', 'path').filter((path) => path.startsWith('/counted'))).toEqual([
      '/counted/{id}',
    ]);
  });

  it('gw_requests_total counts what matches no operation under one path, with a closed set of methods', async () => {
    const of = async (method: string, status: string) =>
      (await scrape(gw.admin)).value('gw_requests_total', { method, path: 'unmatched', api: '', status });
    const before = [await of('GET', '404'), await of('OTHER', '404'), await of('DELETE', '405')];
    for (const path of ['/planted-one', '/planted-two']) expect(await call(path)).toBe(404);
    expect(await call('/planted', { method: 'PROPFIND' })).toBe(404);
    expect(await call('/planted', { method: 'MKCALENDAR' })).toBe(404);
    expect(await call('/sized', { method: 'DELETE' })).toBe(405);
    const after = [await of('GET', '404'), await of('OTHER', '404'), await of('DELETE', '405')];
    expect(after.map((value, i) => value - (before[i] ?? 0))).toEqual([2, 2, 1]);
    expect(await (await fetch(`${gw.admin}/metrics`)).text()).not.toMatch(/planted|PROPFIND/);
  });

  it('gw_request_duration_seconds has the time from head to end', async () => {
    const labels = { method: 'GET', path: '/slow', api, status: '200' };
    for (let i = 0; i < 2; i++) await call('/slow');
    const { buckets, sum, count } = (await scrape(gw.admin)).histogram('gw_request_duration_seconds', labels);
    expect(count).toBe(2);
    expect(sum).toBeGreaterThanOrEqual((2 * SLOW_MS) / 1000);
    expect(sum).toBeLessThan(10);
    expect([buckets.get(0.1), buckets.get(10), buckets.get(Number.POSITIVE_INFINITY)]).toEqual([0, 2, 2]);
  });

  it('gw_request_size_bytes and gw_response_size_bytes have the bytes of bodies', async () => {
    const labels = { method: 'POST', path: '/sized', api, status: '200' };
    const bodies = ['{"title":"a"}', `{"title":"${'b'.repeat(500)}"}`];
    for (const body of bodies) expect(await post('/sized', body)).toBe(200);
    const after = await scrape(gw.admin);
    const requests = after.histogram('gw_request_size_bytes', labels);
    expect([requests.count, requests.sum]).toEqual([2, bodies.join('').length]);
    expect([requests.buckets.get(0), requests.buckets.get(256), requests.buckets.get(1024)]).toEqual([0, 1, 2]);
    const responses = after.histogram('gw_response_size_bytes', labels);
    expect([responses.count, responses.sum]).toEqual([2, 2000]);
    expect([responses.buckets.get(256), responses.buckets.get(1024)]).toEqual([0, 2]);
  });

  it('gw_active_connections and gw_connections_total count connections of clients', async () => {
    const before = await scrape(gw.admin);
    const { hostname, port } = new URL(gw.url);
    const sockets = await Promise.all(
      Array.from(
        { length: 3 },
        () =>
          new Promise<ReturnType<typeof connect>>((resolve) => {
            const socket = connect(Number(port), hostname, () =>
              socket.write('GET /counted/x HTTP/1.1\r\nHost: x\r\n\r\n'),
            );
            socket.once('data', () => resolve(socket));
          }),
      ),
    );
    const during = await scrape(gw.admin);
    expect(during.value('gw_connections_total') - before.value('gw_connections_total')).toBe(3);
    expect(during.value('gw_active_connections')).toBeGreaterThanOrEqual(3);
    for (const socket of sockets) socket.destroy();
    const most = during.value('gw_active_connections') - 3;
    await expect.poll(async () => (await scrape(gw.admin)).value('gw_active_connections')).toBeLessThanOrEqual(most);
    expect((await scrape(gw.admin)).value('gw_connections_total')).toBe(during.value('gw_connections_total'));
  });

  it('gw_validation_failures_total has a reason of a closed set for each part of a request', async () => {
    const good = '{"title":"x"}';
    expect(await post('/picky/x', good)).toBe(400);
    expect(await post('/picky/1?q=x', good)).toBe(400);
    expect(await post('/picky/1', good, { 'x-h': 'x' })).toBe(400);
    expect(await post('/picky/1', good, { cookie: 'c=x' })).toBe(400);
    expect(await post('/picky/1', '{}')).toBe(400);
    expect(await post('/picky/1', good, { 'content-type': 'text/csv' })).toBe(415);
    expect(await post('/picky/1', `{"title":"${'x'.repeat(1 << 20)}"}`)).toBe(400);
    const after = await scrape(gw.admin);
    for (const reason of ['path', 'query', 'header', 'cookie', 'body', 'content-type', 'body-size']) {
      const labels = { method: 'POST', path: '/picky/{n}', reason };
      expect(after.value('gw_validation_failures_total', labels), reason).toBe(1);
    }

    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-h${i}`, '1']));
    expect(await call('/planted', { headers: many })).toBe(400);
    expect(await call('/planted', { headers: { 'x-long': 'a'.repeat(8200) } })).toBe(431);
    expect(await call(`/planted?${'a'.repeat(8200)}`)).toBe(400);
    const refused = await scrape(gw.admin);
    for (const reason of ['header-count', 'header-size', 'uri-length']) {
      const labels = { method: 'GET', path: 'unmatched', reason };
      expect(refused.value('gw_validation_failures_total', labels), reason).toBe(1);
    }
  });

  it('gw_middleware_duration_seconds has each middleware and phase', async () => {
    const guarded = () => call('/guarded', { headers: { 'x-api-key': 'k', origin: 'https://shop.example' } });
    for (let i = 0; i < 3; i++) expect(await guarded()).toBe(200);
    expect(await call('/guarded')).toBe(401);
    const after = await scrape(gw.admin);
    const of = (middleware: string) =>
      after.histogram('gw_middleware_duration_seconds', { middleware, phase: 'request' });
    expect(['cors', 'apikey-auth', 'rate-limit'].map((name) => of(name).count)).toEqual([4, 4, 3]);
    expect(of('rate-limit').sum).toBeGreaterThan(0);
    // Preflights are the work of a middleware, too.
    const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    expect(await call('/guarded', { method: 'OPTIONS', headers: preflight })).toBe(204);
    const cors = { middleware: 'cors', phase: 'request' };
    expect((await scrape(gw.admin)).histogram('gw_middleware_duration_seconds', cors).count).toBe(5);
    expect(after.values('gw_middleware_duration_seconds', 'phase')).toEqual(['request', 'response']);
  });

  it('gw_dispatch_duration_seconds has each dispatcher and configured upstream', async () => {
    const [slow, mock] = [
      { dispatcher: 'http-upstream', upstream: `${upstream.url}/` },
      { dispatcher: 'mock', upstream: '' },
    ];
    const before = await scrape(gw.admin);
    await call('/slow?planted=1');
    await call('/counted/a');
    const after = await scrape(gw.admin);
    const added = (labels: Record<string, string>) => {
      const [one, two] = [before, after].map((each) => each.histogram('gw_dispatch_duration_seconds', labels));
      return { count: (two?.count ?? 0) - (one?.count ?? 0), sum: (two?.sum ?? 0) - (one?.sum ?? 0) };
    };
    expect(added(slow).count).toBe(1);
    expect(added(slow).sum).toBeGreaterThanOrEqual(SLOW_MS / 1000);
    expect(added(mock).count).toBe(1);
    for (const name of after.values('gw_dispatch_duration_seconds', 'upstream')) {
      expect(['', `${upstream.url}/`, `${upstream.url}/base`]).toContain(name);
    }
  });

  it('gw_wasm_execution_duration_seconds has the CPU time of each plugin and hook', async () => {
    const labels = { plugin: 'mock', function: 'dispatch' };
    const before = (await scrape(gw.admin)).histogram('gw_wasm_execution_duration_seconds', labels);
    for (let i = 0; i < 5; i++) await call('/counted/a');
    const after = await scrape(gw.admin);
    const now = after.histogram('gw_wasm_execution_duration_seconds', labels);
    expect(now.count - before.count).toBe(5);
    expect(now.sum).toBeGreaterThan(before.sum);
    const hooks = ['dispatch', 'init', 'on_request', 'on_response'];
    for (const fn of after.values('gw_wasm_execution_duration_seconds', 'function')) expect(hooks).toContain(fn);
    // Waiting for an upstream is no CPU time.
    await call('/slow');
    const slow = (await scrape(gw.admin)).histogram('gw_wasm_execution_duration_seconds', {
      plugin: 'http-upstream',
      function: 'dispatch',
    });
    expect(slow.sum).toBeLessThan(SLOW_MS / 1000);
  });

  it('gw_request_headers_dropped_total counts headers that were not admitted', async () => {
    const dropped = async () => (await scrape(gw.admin)).value('gw_request_headers_dropped_total');
    await call('/counted/a');
    const before = await dropped();
    const plain = await call('/counted/a').then(dropped);
    const ofFetch = plain - before;
    await call('/counted/a', { headers: { 'x-one': '1', 'x-two': '2' } });
    expect((await dropped()) - plain).toBe(ofFetch + 2);
  });

  it('go on over a reload', async () => {
    await call('/counted/a');
    const before = await scrape(gw.admin);
    const loads = () => gw.log.filter(({ msg }) => msg === 'artifact loaded').length;
    const past = loads();
    gw.signal('SIGHUP');
    await gw.logged(() => loads() > past);
    await call('/counted/a');
    const after = await scrape(gw.admin);
    const labels = { method: 'GET', path: '/counted/{id}', api, status: '200' };
    expect(after.value('gw_requests_total', labels)).toBe(before.value('gw_requests_total', labels) + 1);
    expect(after.value('gw_connections_total')).toBeGreaterThanOrEqual(before.value('gw_connections_total'));
    const hook = { plugin: 'mock', function: 'dispatch' };
    const count = (each: typeof after) => each.histogram('gw_wasm_execution_duration_seconds', hook).count;
    expect(count(after)).toBe(count(before) + 1);
  });

  const prometheus = process.env['PROMETHEUS_URL'];
  it.skipIf(prometheus === undefined)('are what Prometheus makes of them', async () => {
    const config = await jsonOf<{ data: { yaml: string } }>(await fetch(`${prometheus}/api/v1/status/config`));
    const targets = /files:\s+- (\S+)/.exec(config.data.yaml)?.[1];
    if (targets === undefined || !existsSync(targets)) throw new Error('Prometheus has no file of targets here');
    const others = readFileSync(targets, 'utf8');
    await call('/counted/a');
    writeFileSync(targets, JSON.stringify([...JSON.parse(others), { targets: [new URL(gw.admin).host] }]));
    try {
      const instance = new URL(gw.admin).host;
      const query = async (expression: string): Promise<number> => {
        const url = `${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`;
        const { data } = await jsonOf<{ data: { result: { value: [number, string] }[] } }>(await fetch(url));
        return Number(data.result[0]?.value[1] ?? Number.NaN);
      };
      const polled = { interval: 250 };
      await expect.poll(() => query(`up{instance="${instance}"}`), polled).toBe(1);
      const labels = { method: 'GET', path: '/counted/{id}', api, status: '200' };
      const expected = (await scrape(gw.admin)).value('gw_requests_total', labels);
      const total = `sum(gw_requests_total{instance="${instance}",path="/counted/{id}"})`;
      await expect.poll(() => query(total), polled).toBe(expected);
      const quantile = `histogram_quantile(0.5, sum by (le) (gw_request_duration_seconds_bucket{instance="${instance}"}))`;
      expect(await query(quantile)).toBeGreaterThan(0);
    } finally {
      writeFileSync(targets, others);
    }
  });
});
