/** fire-and-forget through a real `gw serve`, with servers that take copies, hang, or are not there. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

let mirror: Upstream;
let upstream: Upstream;
let gw: Gateway;

function answerCopy(request: IncomingMessage, response: ServerResponse): void {
  if (request.url?.startsWith('/hangs')) return;
  if (request.url?.startsWith('/nonsense')) return void request.socket.end('nonsense');
  if (request.url?.startsWith('/endless')) {
    response.writeHead(200);
    const more = () => void (response.write(Buffer.alloc(1 << 16)) ? setImmediate(more) : response.once('drain', more));
    return more();
  }
  response.writeHead(500, { 'set-cookie': 'planted=1' }).end('planted');
}

const copies = (path: string) => mirror.seen.filter(({ url }) => url.startsWith(path));
const copy = (path: string) =>
  eventually(() => {
    const [first] = copies(path);
    if (first === undefined) throw new Error(`no copy at ${path}`);
    return first;
  });

const HEADERS = ['authorization', 'cookie', 'x-wanted', 'x-private'];
const operation = (config: object = {}, more: object = {}) => {
  const each = {
    responses: { default: { description: 'any' } },
    parameters: HEADERS.map((name) => ({ name, in: 'header', schema: { type: 'string' } })),
    'x-gw-middlewares': [{ name: 'fire-and-forget', config: { url: mirror.url, ...config } }],
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    ...more,
  };
  return { get: each, post: { ...each, requestBody: { content: { '*/*': {} } } } };
};

beforeAll(async () => {
  mirror = await startUpstream(answerCopy);
  upstream = await startUpstream();
  const shadow = { name: 'fire-and-forget', config: { url: mirror.url } };
  const param = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const number = { content: { 'application/json': { schema: { type: 'object', required: ['n'] } } } };
  const paths = {
    '/plain': operation(),
    '/checked': { post: { ...operation().post, requestBody: number } },
    '/based': operation({ url: `${mirror.url}/v2?from=gw` }),
    '/users/{id}': { parameters: [param], ...operation({ url: `${mirror.url}/base`, path: '/shadow/{id}?copy=1' }) },
    '/changed': operation({ headers: { set: { 'X-Copy': 'env://COPY' }, remove: ['X-Private'] } }),
    '/credentials': operation({ forward_credentials: true }, { security: [{ bearer: [] }] }),
    '/limited': operation({ max_body_bytes: 100_000 }),
    '/never': operation({ sample: 0 }),
    '/half': operation({ sample: 50, url: `${mirror.url}/half-of` }),
    '/keys': operation(
      {},
      {
        security: [{ key: [] }],
        'x-gw-middlewares': [shadow, { name: 'apikey-auth', config: { keys: [{ key: 'k', id: 'alice' }] } }],
      },
    ),
    '/unread': operation({}, { 'x-gw-dispatch': { name: 'mock', config: { body: 'mocked' } } }),
    '/hangs': operation({ max_queue_bytes: 100_000, timeout: 60 }),
    '/endless': operation(),
    '/nonsense': operation(),
    '/gone': operation({ url: 'http://127.0.0.1:1/token-in-path' }),
    '/private': operation({ url: mirror.url.replace('127.0.0.1', '127.0.0.2') }),
    '/slow': operation({ max_queue_bytes: 50_000 }),
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Mirrored', version: '1' },
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
    paths,
  };
  const plugins = ['fire-and-forget', 'http-upstream', 'mock', 'apikey-auth'];
  gw = await startGateway(await compileSpec(document, plugins), { env: { COPY: 'copied' } });
});
afterAll(async () => {
  await gw?.stop();
  await Promise.all([mirror?.close(), upstream?.close()]);
});

const call = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(gw.url + path, init);
  return { status: response.status, headers: response.headers, body: await response.text() };
};
const outcome = async (which: string) =>
  (await scrape(gw.admin)).value('gw_deliveries_total', { plugin: 'fire-and-forget', outcome: which });
const queued = async () => (await scrape(gw.admin)).value('gw_deliveries_queued_bytes', { plugin: 'fire-and-forget' });

describe('a copy', () => {
  it('has method, path, query, headers and body of what the upstream gets, and its answer is nobody’s', async () => {
    const answer = await call('/plain?a=1&b=%20', {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json', 'x-wanted': 'yes', 'x-unknown': 'no', 'gw-hops': '1' },
    });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null]);
    expect(answer.body).not.toContain('planted');
    const got = await copy('/plain');
    expect(got).toMatchObject({ method: 'POST', url: '/plain?a=1&b=%20', body: '{"a":1}' });
    expect(got.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '7',
      'x-wanted': 'yes',
      'x-request-id': answer.headers.get('x-request-id'),
      'x-forwarded-for': '127.0.0.1',
      // It ends sooner than a request that goes round.
      'gw-hops': '5',
      host: new URL(mirror.url).host,
    });
    expect(got.headers).not.toHaveProperty('x-unknown');
    await eventually(async () => expect(await outcome('sent')).toBeGreaterThan(0));
  });

  it('has the body as it was sent, and does not change how the upstream gets it', async () => {
    const body = Buffer.from(Array.from({ length: 90_000 }, (_, i) => i % 251));
    const before = copies('/limited').length;
    await call('/limited', { method: 'POST', body });
    const got = await eventually(() => copies('/limited')[before] ?? false);
    expect(got).toMatchObject({ body: body.toString(), headers: { 'content-length': '90000' } });
    const seen = upstream.seen.filter(({ url }) => url === '/limited').at(-1);
    expect(seen).toMatchObject({ body: body.toString(), headers: { 'content-length': '90000' } });
  });

  it('goes below the base URL, and with the query of that', async () => {
    await call('/based?x=1');
    expect((await copy('/v2')).url).toBe('/v2/based?from=gw&x=1');
  });

  it('goes to a path with parameters of the request', async () => {
    await call('/users/a%2Fb?x=1');
    expect((await copy('/base')).url).toBe('/base/shadow/a%2Fb?copy=1&x=1');
  });

  it.each(['%2e%2e', '%2E.', '..%5c'])('leaves its place with no parameter: %s', async (id) => {
    const before = copies('/').length;
    const { hostname, port } = new URL(gw.url);
    const status = await new Promise((resolve, reject) => {
      // As it is, which `fetch` would not send.
      httpRequest({ host: hostname, port, path: `/users/${id}` }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end();
    });
    // The gateway itself lets none of them pass.
    expect(status).toBe(400);
    await call('/plain');
    await eventually(() => expect(copies('/').length).toBeGreaterThan(before));
    expect(
      copies('/')
        .slice(before)
        .map(({ url }) => url),
    ).toEqual(['/plain']);
  });

  it('has no credentials', async () => {
    const before = copies('/plain').length;
    await call('/plain', { headers: { authorization: 'Bearer planted', cookie: 'a=planted', 'x-wanted': 'yes' } });
    const got = await eventually(() => copies('/plain')[before] ?? false);
    expect(JSON.stringify(got)).not.toContain('planted');
    await call('/keys', { headers: { 'x-api-key': 'k' } });
    const { headers } = await copy('/keys');
    for (const name of ['x-auth-consumer', 'x-api-key']) expect(headers).not.toHaveProperty(name);
  });

  it('has them where its config says so', async () => {
    await call('/credentials', { headers: { authorization: 'Bearer t', cookie: 'a=b' } });
    expect((await copy('/credentials')).headers).toMatchObject({ authorization: 'Bearer t', cookie: 'a=b' });
  });

  it('has other headers where its config says so', async () => {
    await call('/changed', { headers: { 'x-private': 'p', 'x-wanted': 'w' } });
    const { headers } = await copy('/changed');
    expect(headers).toMatchObject({ 'x-copy': 'copied', 'x-wanted': 'w' });
    expect(headers).not.toHaveProperty('x-private');
  });

  it('is of requests that go to their dispatcher, and of no others', async () => {
    const before = copies('/keys').length;
    expect((await call('/keys')).status).toBe(401);
    expect((await call('/checked', post('{"m":1}'))).status).toBe(400);
    expect((await call('/checked', post('{"n":1}'))).status).toBe(200);
    expect(await copy('/checked')).toMatchObject({ body: '{"n":1}' });
    expect([copies('/checked').length, copies('/keys').length]).toEqual([1, before]);
  });

  it('is of the share of them that its config says', async () => {
    await Promise.all(Array.from({ length: 200 }, () => call('/half')));
    await call('/never');
    await call('/based?last');
    await eventually(() => expect(copies('/v2/based?from=gw&last')).toHaveLength(1));
    await eventually(async () => expect(await queued()).toBe(0));
    // Of 200 coins, fewer than 50 or more than 150 fall on one side once in 10¹² times.
    expect(copies('/half-of').length).toBeGreaterThan(50);
    expect(copies('/half-of').length).toBeLessThan(150);
    expect(copies('/never')).toEqual([]);
  });
});

const post = (body: string): RequestInit => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } });

describe('a body', () => {
  it.each([true, false])(
    'that is too long goes to the upstream, and is not copied (length known: %s)',
    async (known) => {
      const dropped = await outcome('dropped');
      const before = copies('/limited').length;
      const bytes = Buffer.alloc(100_001, 'x');
      const stream = new Blob([bytes]).stream();
      const body = known ? { body: bytes } : { body: stream, duplex: 'half' };
      expect((await call('/limited', { method: 'POST', ...body } as RequestInit)).status).toBe(200);
      expect((await outcome('dropped')) - dropped).toBe(1);
      expect(copies('/limited')).toHaveLength(before);
      expect(await queued()).toBe(0);
    },
  );

  it('that its dispatcher does not read is not copied', async () => {
    const dropped = await outcome('dropped');
    expect((await call('/unread', { method: 'POST', body: 'x'.repeat(1000) })).body).toBe('mocked');
    await eventually(async () => expect((await outcome('dropped')) - dropped).toBe(1));
    expect(copies('/unread')).toEqual([]);
  });

  it('that comes slowly, or not whole, holds no more than what came, and is let go with its client', async () => {
    const { hostname, port, host } = new URL(gw.url);
    const dropped = await outcome('dropped');
    const clients = Array.from({ length: 5 }, () => connect(Number(port), hostname));
    for (const each of clients) {
      each.on('error', () => {});
      each.write(`POST /slow HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 40000\r\n\r\nx`);
    }
    await eventually(async () => expect(await queued()).toBeGreaterThan(5 * 4096));
    expect((await call('/slow', { method: 'POST', body: 'whole' })).status).toBe(200);
    expect(await copy('/slow')).toMatchObject({ body: 'whole' });
    for (const each of clients) each.destroy();
    await eventually(async () => expect(await queued()).toBe(0));
    expect((await outcome('dropped')) - dropped).toBe(5);
    expect(copies('/slow')).toHaveLength(1);
  });
});

describe('a server for copies that is ill', () => {
  it('costs no request anything, and no other server: copies beyond its queue are dropped and counted', async () => {
    const dropped = await outcome('dropped');
    const bodies = Array.from({ length: 30 }, () => call('/hangs', { method: 'POST', body: 'x'.repeat(20_000) }));
    expect((await Promise.all(bodies)).map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect((await outcome('dropped')) - dropped).toBeGreaterThanOrEqual(25);
    expect(await queued()).toBeLessThanOrEqual(100_000);
    await gw.logged(({ msg, plugin }) => plugin === 'fire-and-forget' && msg.includes('copies are dropped'));
    const before = copies('/plain').length;
    await call('/plain');
    await eventually(() => expect(copies('/plain')).toHaveLength(before + 1));
  });

  it('is not read to the end of an answer that has none', async () => {
    const sent = await outcome('sent');
    await call('/endless');
    await eventually(async () => expect(await outcome('sent')).toBeGreaterThan(sent));
  });

  it('is left alone after five copies without an answer', async () => {
    const [failed, dropped] = [await outcome('failed'), await outcome('dropped')];
    for (let i = 0; i < 5; i++) {
      await call('/gone');
      await eventually(async () => expect((await outcome('failed')) - failed).toBe(i + 1));
    }
    await call('/gone');
    await eventually(async () => expect((await outcome('dropped')) - dropped).toBe(1));
    const told = () => gw.log.filter(({ msg }) => msg.includes('http://127.0.0.1:1: unavailable'));
    await eventually(() => expect(told()).toHaveLength(1));
    expect(JSON.stringify(gw.log.filter(({ msg }) => msg !== 'request'))).not.toContain('token-in-path');
  });

  it('may answer what is no HTTP', async () => {
    const failed = await outcome('failed');
    expect((await call('/nonsense')).status).toBe(200);
    await eventually(async () => expect((await outcome('failed')) - failed).toBe(1));
  });

  it('is not asked where the egress guard does not allow it', async () => {
    const failed = await outcome('failed');
    expect((await call('/private')).status).toBe(200);
    await eventually(async () => expect((await outcome('failed')) - failed).toBe(1));
    expect(copies('/private')).toEqual([]);
  });
});
