/** http-log through a real `gw serve`, with log servers that take entries, refuse them, hang or are not there. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, type LogLine, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

type Entry = Readonly<Record<string, unknown>>;

let logs: Upstream;
let upstream: Upstream;
let gw: Gateway;
/** By path: how often a batch is refused before it is taken. */
const refusals = new Map<string, number>();

function take(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '';
  if (path === '/hangs') return;
  if (path === '/invalid') return void response.writeHead(400).end();
  if (path === '/endless') {
    response.writeHead(200);
    const more = () => void (response.write(Buffer.alloc(1 << 16)) ? setImmediate(more) : response.once('drain', more));
    return more();
  }
  const left = refusals.get(path) ?? 0;
  refusals.set(path, left - 1);
  if (left > 0) return void response.writeHead(503, { 'retry-after': '1' }).end('later');
  response.end('taken');
}

/** What a server has got at a path, batch after batch. */
const batches = (path: string) => logs.seen.filter(({ url }) => url === path);
const entries = (path: string): Entry[] => batches(path).flatMap(({ body }) => JSON.parse(body) as Entry[]);
const entry = (path: string, fits: (entry: Entry) => boolean = () => true) =>
  eventually(() => {
    const found = entries(path).find(fits);
    if (found === undefined) throw new Error(`no such entry among ${JSON.stringify(entries(path))}`);
    return found;
  });

const QUICK = { max_delay: 0.01 };
/** Fields that are as long together as an entry's own strings may not be. */
const MANY = Object.fromEntries(
  Array.from({ length: 15 }, (_, i) => [`${'x'.repeat(50)}${i}`, { from: 'header:X-Long' }]),
);
const operation = (path: string, config: object = {}, more: object = {}) => ({
  get: {
    operationId: `get${path.replace(/\W/g, '')}`,
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': [{ name: 'http-log', config: { url: logs.url + path, batch: QUICK, ...config } }],
    'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } },
    ...more,
  },
});

beforeAll(async () => {
  logs = await startUpstream(take);
  upstream = await startUpstream();
  const log = { name: 'http-log', config: { url: `${logs.url}/keys`, batch: QUICK } };
  const key = { name: 'apikey-auth', config: { keys: [{ key: 'env://KEY', id: 'alice' }] } };
  const paths = {
    '/plain/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      ...operation('/plain'),
    },
    '/proxied': operation(
      '/proxied',
      {},
      {
        'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
      },
    ),
    '/everything': operation('/everything', {
      format: 'ndjson',
      headers: { authorization: 'env://LOG_TOKEN', 'X-Source': 'gw' },
      fields: ['query', 'host', 'scheme', 'user_agent', 'operation_id', 'status', 'consumer'],
    }),
    '/observed': operation(
      '/observed',
      {},
      {
        'x-gw-middlewares': [
          { name: 'http-log', config: { url: `${logs.url}/observed`, batch: QUICK, fields: ['status', 'observed'] } },
          {
            name: 'observability',
            config: {
              fields: { tenant: { from: 'header:X-Tenant' }, ...MANY },
            },
          },
        ],
      },
    ),
    '/keys': operation('/keys', {}, { security: [{ key: [] }], 'x-gw-middlewares': [log, key] }),
    '/twice': operation(
      '/twice',
      {},
      {
        'x-gw-middlewares': [
          { name: 'http-log', config: { url: `${logs.url}/first`, batch: QUICK } },
          { name: 'http-log', config: { url: `${logs.url}/second`, batch: QUICK } },
          { name: 'http-log', config: { url: `${logs.url}/second`, batch: QUICK } },
        ],
      },
    ),
    '/batched': operation('/batched', { batch: { max_entries: 5, max_delay: 300 } }),
    '/refused': operation('/refused'),
    '/invalid': operation('/invalid'),
    '/hangs': operation('/hangs', { max_queue_bytes: 2048 }),
    '/endless': operation('/endless'),
    '/gone': operation('/gone', { url: 'http://127.0.0.1:1/token-in-path' }),
    '/private': operation('/private', { url: logs.url.replace('127.0.0.1', '127.0.0.2') }),
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Logged', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
    paths,
  };
  gw = await startGateway(
    await compileSpec(document, ['http-log', 'observability', 'mock', 'http-upstream', 'apikey-auth']),
    {
      env: { LOG_TOKEN: 'planted-token', KEY: 'planted-key' },
    },
  );
});
afterAll(async () => {
  await gw?.stop();
  await Promise.all([logs?.close(), upstream?.close()]);
});

const call = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(gw.url + path, init);
  await response.arrayBuffer();
  return response;
};
const outcome = async (which: string) =>
  (await scrape(gw.admin)).value('gw_deliveries_total', { plugin: 'http-log', outcome: which });

describe('an entry', () => {
  it('has what observability adds to the access log, where its fields name it', async () => {
    const headers = { 'x-tenant': 'acme "1"', 'x-long': '"'.repeat(300) };
    await call('/observed', { headers });
    const cut = `${headers['x-long'].slice(0, 256)}…`;
    const observed = { tenant: 'acme "1"', ...Object.fromEntries(Object.keys(MANY).map((name) => [name, cut])) };
    expect(await entry('/observed')).toEqual({ status: 200, observed });
    await call('/observed');
    expect(await entry('/observed', (each) => each['observed'] === undefined)).toEqual({ status: 200 });
  });

  it('says what the access log says, and how long the dispatcher took', async () => {
    const response = await call('/plain/7?token=planted');
    const got = await entry('/plain');
    const line = await gw.logged(({ msg, path }) => msg === 'request' && path === '/plain/7');
    const { level: _, msg: __, ...logged } = line;
    expect(got).toEqual({ ...logged, time: got['time'], upstream_ms: expect.any(Number) });
    expect(got).toMatchObject({
      request_id: response.headers.get('x-request-id'),
      trace_id: response.headers.get('x-trace-id'),
      client_ip: '127.0.0.1',
      route: '/plain/{id}',
      api: 'logged',
      status: 200,
      response_bytes: 5,
    });
    expect(Date.parse(String(got['time']))).toBeGreaterThan(0);
    expect(JSON.stringify(got)).not.toContain('planted');
  });

  it('has the fields that the config names, in their order, as one line', async () => {
    await call('/everything?a=1&b=%22', { headers: { 'user-agent': 'x "\u00e9"' } });
    const [batch] = (await eventually(() => {
      const got = batches('/everything');
      return got.length > 0 && got;
    })) as Upstream['seen'];
    const host = new URL(gw.url).host;
    expect(batch?.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      authorization: 'planted-token',
      'x-source': 'gw',
    });
    expect(batch?.body).toBe(
      `${JSON.stringify({
        ...{ query: 'a=1&b=%22', host, scheme: 'http', user_agent: 'x "\u00e9"', operation_id: 'geteverything' },
        status: 200,
      })}\n`,
    );
  });

  it('tells of requests that a later middleware answers, and whose they are', async () => {
    expect((await call('/keys')).status).toBe(401);
    expect((await call('/keys', { headers: { 'x-api-key': 'planted-key' } })).status).toBe(200);
    expect(await entry('/keys', ({ status }) => status === 401)).toMatchObject({
      plugin: 'apikey-auth',
      decision: 'answered',
    });
    const served = await entry('/keys', ({ status }) => status === 200);
    expect(served).toMatchObject({ consumer: 'alice' });
    expect(JSON.stringify(entries('/keys'))).not.toContain('planted');
  });

  it('is made once for each log that the chain has', async () => {
    await call('/twice');
    await entry('/first');
    await entry('/second');
    await call('/twice');
    await eventually(() => expect(entries('/second')).toHaveLength(2));
    expect(entries('/first')).toHaveLength(2);
  });

  it('has status 499 where the client leaves', async () => {
    const hanging = await startUpstream(() => {});
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Left', version: '1' },
        paths: {
          '/left': operation(
            '/left',
            {},
            {
              'x-gw-dispatch': { name: 'http-upstream', config: { url: hanging.url } },
            },
          ),
        },
      },
      ['http-log', 'http-upstream'],
    );
    const other = await startGateway(artifact);
    try {
      const { hostname, port } = new URL(other.url);
      const client = connect(Number(port), hostname);
      client.write('GET /left HTTP/1.1\r\nhost: x\r\n\r\n');
      await eventually(() => expect(hanging.seen).toHaveLength(1));
      client.destroy();
      expect(await entry('/left')).toMatchObject({ status: 499, response_bytes: 0 });
    } finally {
      await other.stop();
      await hanging.close();
    }
  });

  it('says how far its request has come, so that logging of logging ends', async () => {
    await call('/proxied', { headers: { 'gw-hops': '3' } });
    await entry('/proxied');
    expect(batches('/proxied')[0]?.headers['gw-hops']).toBe('4');
  });
});

describe('a batch', () => {
  it('has as many entries as it may, in the order in which requests ended', async () => {
    const ids: (string | null)[] = [];
    for (let i = 0; i < 10; i++) ids.push((await call('/batched')).headers.get('x-request-id'));
    await eventually(() => expect(batches('/batched')).toHaveLength(2));
    expect(batches('/batched').map(({ body }) => (JSON.parse(body) as Entry[]).length)).toEqual([5, 5]);
    expect(entries('/batched').map(({ request_id }) => request_id)).toEqual(ids);
  });

  it('is sent again when the server could not take it, as it was', async () => {
    refusals.set('/refused', 2);
    const sent = await outcome('sent');
    await call('/refused');
    await eventually(() => expect(batches('/refused')).toHaveLength(3));
    const bodies = new Set(batches('/refused').map(({ body }) => body));
    expect(bodies.size).toBe(1);
    await eventually(async () => expect(await outcome('sent')).toBeGreaterThan(sent));
    expect(gw.log.filter(({ msg, plugin }) => plugin === 'http-log' && msg.includes('status 503'))).toHaveLength(1);
    await gw.logged(({ msg }) => msg.includes('available again'));
  });

  it('is not sent again where the server will never take it', async () => {
    const failed = await outcome('failed');
    await call('/invalid');
    await eventually(async () => expect(await outcome('failed')).toBe(failed + 1));
    expect(batches('/invalid')).toHaveLength(1);
  });
});

describe('a log server that is ill', () => {
  it('costs no request anything, and no other server: entries beyond its queue are dropped and counted', async () => {
    const dropped = await outcome('dropped');
    const answers = await Promise.all(Array.from({ length: 50 }, () => call('/hangs')));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    await eventually(async () => expect(await outcome('dropped')).toBeGreaterThan(dropped + 30));
    await call('/plain/8');
    await entry('/plain', ({ path }) => path === '/plain/8');
    const metrics = await scrape(gw.admin);
    expect(metrics.value('gw_deliveries_queued_bytes', { plugin: 'http-log' })).toBeLessThanOrEqual(2048);
    expect(metrics.types.get('gw_deliveries_queued')).toBe('gauge');
    const tells = ({ msg }: LogLine) => msg.includes('entries are dropped');
    expect(await gw.logged(tells)).toMatchObject({ level: 'error', plugin: 'http-log' });
    expect(gw.log.filter(tells)).toHaveLength(1);
  });

  it('is not read to the end of an answer that has none', async () => {
    const sent = await outcome('sent');
    await call('/endless');
    await eventually(async () => expect(await outcome('sent')).toBeGreaterThan(sent));
  });

  it('is named in the log by its origin alone', async () => {
    await call('/gone');
    const line = await gw.logged(({ msg }) => msg.startsWith('http://127.0.0.1:1'));
    expect(line).toMatchObject({ level: 'error', plugin: 'http-log' });
    expect(JSON.stringify(gw.log)).not.toContain('token-in-path');
  });

  it('is not asked where the egress guard does not allow it', async () => {
    const failed = await outcome('failed');
    await call('/private');
    await eventually(async () => expect(await outcome('failed')).toBe(failed + 1));
    expect(batches('/private')).toEqual([]);
  });
});

describe('a gateway that ends', () => {
  const started = async (path: string, args: readonly string[] = []) => {
    const config = { batch: { max_delay: 300 } };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Ends', version: '1' },
      paths: { [path]: operation(path, config) },
    };
    return startGateway(await compileSpec(document, ['http-log', 'mock']), { args });
  };

  it.each([1, 2])('has delivered the entries that were waiting, with %d workers', async (workers) => {
    const path = `/ends-${workers}`;
    const other = await started(path, ['--workers', String(workers)]);
    for (let i = 0; i < 3; i++) await (await fetch(other.url + path)).text();
    expect(batches(path)).toEqual([]);
    expect(await other.stop()).toBe(0);
    expect(entries(path)).toHaveLength(3);
  });

  it('does not wait for a server that hangs beyond its time', async () => {
    const other = await started('/hangs', ['--shutdown-timeout', '1']);
    await (await fetch(`${other.url}/hangs`)).text();
    expect(await other.stop()).toBe(0);
  });
});
