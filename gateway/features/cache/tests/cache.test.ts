/** The `cache` plugin through a real `gw serve`: what is stored, for whom, and what is never stored (RFC 9111). */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { h2, h2session } from '../../../../test/serve/http.ts';
import { type CachedUpstream, cached, cachedArtifact, fresh, named, startCachedUpstream } from './cached-project.ts';

let upstream: CachedUpstream;
let gw: Gateway;
const keys = [
  { key: 'key-of-ann', id: 'ann' },
  { key: 'key-of-bob', id: 'bob' },
];
const auth = { name: 'apikey-auth', config: { keys } };
const secured = { security: [{ key: [] }] };
const upper = { name: 'stream-upper', config: { trailer: '!' } };
const tagged = (name: string, value: string) => ({
  name: 'response-transformer',
  config: { headers: { add: { [name]: value } } },
});
const mark = (member: string) => ({
  name: 'response-transformer',
  config: { body: { set: { [`/${member}`]: true } } },
});

beforeAll(async () => {
  upstream = await startCachedUpstream();
  const use = (chain = {}) => ({ ...named, get: cached(upstream, chain) });
  const number = { description: 'A number', content: { 'application/json': { schema: { type: 'integer' } } } };
  const checked = { 'x-gw-validate-response': 'enforce', responses: { 200: number } };
  const tenant = { parameters: [{ name: 'X-Tenant', in: 'header', schema: { type: 'string' } }] };
  const paths = {
    '/plain/{name}': { ...named, get: cached(upstream), post: cached(upstream), put: cached(upstream) },
    '/ttl/{name}': use({ config: { default_ttl: 60 } }),
    '/ttl/deep/{name}': use({ config: { default_ttl: 60, ignore_query_parameters: ['utm_*'] } }),
    '/patient/{name}': use({ config: { lock_timeout: 60 } }),
    '/small/{name}': use({ config: { max_body_bytes: 1000 } }),
    '/after-auth/{name}': use({
      before: [auth],
      operation: secured,
      config: { default_ttl: 60, ignore_headers: ['X-API-Key'] },
    }),
    '/before-auth/{name}': use({
      after: [auth],
      operation: secured,
      config: { default_ttl: 60, ignore_headers: ['X-API-Key'] },
    }),
    '/per-consumer/{name}': use({
      before: [auth],
      operation: secured,
      config: { default_ttl: 60, per_consumer: true },
    }),
    '/limited/{name}': use({ before: [{ name: 'rate-limit', config: { quota: 100, window: 60 } }] }),
    '/cors/{name}': use({
      before: [{ name: 'cors', config: { allowed_origins: ['https://a.example', 'https://b.example'] } }],
    }),
    '/headers/{name}': use({ before: [tagged('x-outer', '1')], after: [tagged('x-inner', '1')] }),
    '/chunks/{name}': use({ before: [upper], after: [upper] }),
    '/bodies/{name}': use({ before: [mark('outer')], after: [mark('inner')] }),
    '/flagged/{name}': use({ config: { default_ttl: 60, vary: ['X-Flag'] } }),
    '/checked/{name}': use({ operation: checked }),
    '/tenant/{name}': use({ operation: tenant, config: { default_ttl: 60 } }),
    '/error/{name}': use({ config: { stale_if_error: 60, default_ttl: 1 } }),
    '/mock': {
      get: cached(upstream, { dispatch: { name: 'mock', config: { body: 'mocked' } }, config: { default_ttl: 60 } }),
    },
  };
  gw = await startGateway(await cachedArtifact(paths), { args: ['--trusted-proxies', '127.0.0.1'] });
});
afterAll(async () => {
  await gw?.stop();
  await upstream?.close();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(gw.url + path, { headers, method });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

const says = (got: { headers: Headers }) => got.headers.get('cache-status');

describe('cache', () => {
  it('answers the second request with what it stored of the first, with Age and Cache-Status', async () => {
    upstream.answers.set('/plain/a', fresh({ 'cache-control': 'max-age=60', 'x-kind': 'book' }));
    const [first, second] = [await ask('/plain/a'), await ask('/plain/a')];
    expect(second.body).toBe(first.body);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(says(first)).toBe('gw;fwd=uri-miss;stored');
    expect(says(second)).toMatch(/^gw;hit;ttl=(59|60)$/);
    expect(second.headers.get('age')).toMatch(/^[01]$/);
    expect(second.headers.get('x-kind')).toBe('book');
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(upstream.asked('/plain/a')).toBe(1);
  });

  it('answers HEAD and HTTP/2 from the same response', async () => {
    upstream.answers.set('/plain/head', fresh({ 'cache-control': 'max-age=60' }));
    expect(says(await ask('/plain/head', {}, 'HEAD'))).toBe('gw;fwd=uri-miss');
    const { body } = await ask('/plain/head');
    const head = await ask('/plain/head', {}, 'HEAD');
    expect([head.body, head.headers.get('content-length')]).toEqual(['', String(body.length)]);
    const session = await h2session(gw.url);
    const over2 = await h2(session, { ':path': '/plain/head', ':authority': new URL(gw.url).host });
    session.destroy();
    expect(over2).toMatchObject({ status: 200, body });
    expect(upstream.asked('/plain/head')).toBe(2);
  });

  it('stores answers without a body', async () => {
    upstream.answers.set('/plain/none', (_request, response) => {
      response.writeHead(204, { 'cache-control': 'max-age=60' });
      response.end();
    });
    for (let i = 0; i < 2; i++) expect(await ask('/plain/none')).toMatchObject({ status: 204, body: '' });
    expect(upstream.asked('/plain/none')).toBe(1);
  });

  it('answers a client that has it already with 304, and asks the upstream so itself when it is stale', async () => {
    const etag = '"v1"';
    const ports: (number | undefined)[] = [];
    upstream.answers.set('/plain/etag', (request, response) => {
      ports.push(request.socket.remotePort);
      if (request.headers['if-none-match'] !== etag)
        return fresh({ 'cache-control': 'max-age=1', etag })(request, response);
      response.writeHead(304, { 'cache-control': 'max-age=60', etag });
      response.end();
    });
    const first = await ask('/plain/etag');
    const has = await ask('/plain/etag', { 'if-none-match': etag });
    expect([has.status, has.body, has.headers.get('etag')]).toEqual([304, '', etag]);
    await expect.poll(async () => says(await ask('/plain/etag')), { interval: 100 }).toContain('fwd-status=304');
    const renewed = await ask('/plain/etag');
    expect([renewed.status, renewed.body]).toEqual([200, first.body]);
    expect(upstream.asked('/plain/etag')).toBe(2);
    // The connection that brought the 304 goes on.
    await ask('/plain/etag', { range: 'bytes=0-1' });
    expect(ports[2]).toBe(ports[1]);
  });

  it('stores a body that streams, byte for byte, and passes one that is too large', async () => {
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    const pieces = Array.from({ length: 40 }, (_, i) => `${i}:${'x'.repeat(10_000)}`);
    for (const path of ['/plain/stream', '/small/stream']) {
      upstream.answers.set(path, async (_request, response) => {
        response.writeHead(200, { 'cache-control': 'max-age=60' });
        for (const piece of pieces) {
          response.write(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      const bodies = [await ask(path), await ask(path)].map(({ body }) => digest(body));
      expect(bodies).toEqual([digest(pieces.join('')), digest(pieces.join(''))]);
    }
    expect([upstream.asked('/plain/stream'), upstream.asked('/small/stream')]).toEqual([1, 2]);
  });

  it('has one request fetch, and a hundred wait for it', async () => {
    upstream.answers.set('/plain/once', (request, response) => {
      setTimeout(() => fresh({ 'cache-control': 'max-age=60' })(request, response), 200);
    });
    const got = await Promise.all(Array.from({ length: 100 }, () => ask('/plain/once')));
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    expect(got.every(({ status }) => status === 200)).toBe(true);
    expect(upstream.asked('/plain/once')).toBe(1);
  });

  it('has others get what a client fetches and does not read', async () => {
    const body = 'x'.repeat(500_000);
    upstream.answers.set('/patient/unread', (_request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60' });
      response.end(body);
    });
    const session = connectHttp2(gw.url, { settings: { initialWindowSize: 0 } });
    const unread = session.request({ ':path': '/patient/unread', ':authority': new URL(gw.url).host });
    await once(unread.pause(), 'response');
    const got = await Promise.all(Array.from({ length: 5 }, () => ask('/patient/unread')));
    session.destroy();
    expect(got.map((each) => [each.body === body, each.headers.get('cache-status')?.split(';')[1]])).toEqual(
      Array.from(got, () => [true, 'hit']),
    );
    expect(upstream.asked('/patient/unread')).toBe(1);
  });

  it('has another request fetch where the first client leaves', async () => {
    let arrived = () => {};
    const first = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    upstream.answers.set('/plain/left', (request, response) => {
      if (upstream.asked('/plain/left') === 1) return arrived();
      fresh({ 'cache-control': 'max-age=60' })(request, response);
    });
    const leaving = httpRequest(`${gw.url}/plain/left`).on('error', () => {});
    leaving.end();
    await first;
    const others = Array.from({ length: 5 }, () => ask('/plain/left'));
    leaving.destroy();
    expect(new Set((await Promise.all(others)).map(({ body }) => body)).size).toBe(1);
    expect(upstream.asked('/plain/left')).toBe(2);
  });

  it('gives what it stored in the place of an error', async () => {
    upstream.answers.set('/error/a', fresh({}));
    const { body } = await ask('/error/a');
    upstream.answers.set('/error/a', (request) => void request.socket.destroy());
    await expect.poll(async () => says(await ask('/error/a')), { interval: 100 }).toContain('fwd-status=502');
    expect(await ask('/error/a')).toMatchObject({ status: 200, body });
  });

  it('forgets what a successful unsafe request has changed', async () => {
    upstream.answers.set('/plain/doc', (request, response) => {
      fresh({ 'cache-control': 'max-age=60' }, request.headers['x-fail'] ? 409 : 200)(request, response);
    });
    const first = await ask('/plain/doc?a=1');
    expect((await ask('/plain/doc?a=1')).body).toBe(first.body);
    await ask('/plain/doc', {}, 'PUT');
    expect((await ask('/plain/doc?a=1')).body).not.toBe(first.body);
  });

  it('stores what a dispatcher answers itself', async () => {
    expect(says(await ask('/mock'))).toBe('gw;fwd=uri-miss;stored');
    expect(await ask('/mock')).toMatchObject({ status: 200, body: 'mocked' });
    expect(says(await ask('/mock'))).toContain('hit');
  });
});

describe('in a chain', () => {
  it('stores what plugins behind it have made, and what plugins before it stage is each request’s own', async () => {
    upstream.answers.set('/headers/a', fresh({ 'cache-control': 'max-age=60' }));
    for (let i = 0; i < 3; i++) {
      const { headers } = await ask('/headers/a');
      expect([headers.get('x-outer'), headers.get('x-inner')]).toEqual(['1', '1']);
    }
    upstream.answers.set('/limited/a', fresh({ 'cache-control': 'max-age=60' }));
    const left = [];
    for (let i = 0; i < 3; i++) left.push((await ask('/limited/a')).headers.get('x-ratelimit-remaining'));
    expect(left).toEqual(['99', '98', '97']);
  });

  it('gives each origin its own CORS headers', async () => {
    upstream.answers.set('/cors/a', fresh({ 'cache-control': 'max-age=60' }));
    const allowed = async (origin?: string) =>
      (await ask('/cors/a', origin === undefined ? {} : { origin })).headers.get('access-control-allow-origin');
    expect(await allowed('https://a.example')).toBe('https://a.example');
    expect(await allowed('https://b.example')).toBe('https://b.example');
    expect(await allowed()).toBeNull();
    expect((await ask('/cors/a', { origin: 'https://c.example' })).status).toBe(403);
    expect(upstream.asked('/cors/a')).toBe(1);
  });

  it('stores what has been validated, and nothing that was withheld', async () => {
    const answer = (body: string) => {
      upstream.answers.set(`/checked/${body}`, (_request, response) => {
        response.writeHead(200, { 'cache-control': 'max-age=60', 'content-type': 'application/json' });
        response.end(body);
      });
    };
    answer('1');
    answer('true');
    for (let i = 0; i < 2; i++) expect(await ask('/checked/1')).toMatchObject({ status: 200, body: '1' });
    for (let i = 0; i < 2; i++) expect(await ask('/checked/true')).toMatchObject({ status: 502 });
    expect([upstream.asked('/checked/1'), upstream.asked('/checked/true')]).toEqual([1, 2]);
  });

  it('stores bodies as its place in the chain sees them', async () => {
    upstream.answers.set('/chunks/a', (_request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60', 'content-type': 'text/plain' });
      response.end('abc');
    });
    // One exclamation mark of the plugin behind the cache, which is stored, and one of the plugin before it.
    for (let i = 0; i < 3; i++) expect((await ask('/chunks/a')).body).toBe('ABC!!');
    expect((await ask('/chunks/a', {}, 'HEAD')).status).toBe(200);
    expect(upstream.asked('/chunks/a')).toBe(1);

    upstream.answers.set('/bodies/a', (_request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60', 'content-type': 'application/json' });
      response.end('{}');
    });
    for (let i = 0; i < 2; i++) {
      expect(JSON.parse((await ask('/bodies/a')).body)).toEqual({ inner: true, outer: true });
    }
    expect(upstream.asked('/bodies/a')).toBe(1);
  });
});

describe('callers', () => {
  const as = (name: string) => ({ 'x-api-key': `key-of-${name}` });

  it('behind authentication get no answer that was made for another, unless it says that it is public', async () => {
    const ann = await ask('/after-auth/a', as('ann'));
    const bob = await ask('/after-auth/a', as('bob'));
    expect(bob.body).not.toBe(ann.body);
    expect(says(ann)).toBe('gw;fwd=uri-miss;detail=authenticated');
    upstream.answers.set('/after-auth/public', fresh({ 'cache-control': 'public, max-age=60' }));
    const first = await ask('/after-auth/public', as('ann'));
    expect((await ask('/after-auth/public', as('bob'))).body).toBe(first.body);
    expect((await ask('/after-auth/public')).status).toBe(401);
    expect((await ask('/after-auth/public', { 'x-api-key': 'wrong' })).status).toBe(401);
  });

  it('have stored answers of their own with per_consumer', async () => {
    const ann = await ask('/per-consumer/a', as('ann'));
    expect((await ask('/per-consumer/a', as('ann'))).body).toBe(ann.body);
    expect((await ask('/per-consumer/a', as('bob'))).body).not.toBe(ann.body);
    expect((await ask('/per-consumer/a')).status).toBe(401);
    expect((await ask('/per-consumer/a', { 'x-auth-consumer': 'ann' })).status).toBe(401);
  });

  it('are never bypassed: in front of authentication nothing of a known caller is stored', async () => {
    upstream.answers.set('/before-auth/public', fresh({ 'cache-control': 'public, max-age=60' }));
    const ann = await ask('/before-auth/public', as('ann'));
    expect([ann.status, says(ann)]).toEqual([200, 'gw;fwd=uri-miss;detail=authenticated-later']);
    expect((await ask('/before-auth/public')).status).toBe(401);
    expect((await ask('/before-auth/public', as('bob'))).body).not.toBe(ann.body);
  });
});

describe('attacks', () => {
  it('cache deception: an extension makes nothing public', async () => {
    upstream.answers.set('/plain/account.css', fresh({ 'content-type': 'text/css' }));
    upstream.answers.set('/ttl/account.css', fresh({ 'set-cookie': 'session=1' }));
    for (const path of ['/plain/account.css', '/ttl/account.css']) {
      expect((await ask(path)).body).not.toBe((await ask(path)).body);
    }
  });

  it.each([
    ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example' }],
    ['X-Forwarded-Proto', { 'x-forwarded-proto': 'javascript' }],
    ['Forwarded', { forwarded: 'host="evil.example"' }],
  ])('poisoning by %s: who does not send it does not get it', async (name, headers) => {
    const path = `/ttl/${name}`;
    upstream.answers.set(path, (request, response) => response.end(`${JSON.stringify(request.headers)} evil=`));
    await ask(path, headers);
    expect((await ask(path)).body).not.toMatch(/evil\.example|javascript/);
  });

  it('poisoning by headers that the operation does not know: they do not arrive', async () => {
    upstream.answers.set('/ttl/unknown', (request, response) => response.end(JSON.stringify(request.headers)));
    await ask('/ttl/unknown', { 'x-original-url': '/admin', 'x-host': 'evil.example' });
    expect((await ask('/ttl/unknown')).body).not.toMatch(/admin|evil/);
  });

  it('poisoning by headers that it does know: they are part of the key', async () => {
    upstream.answers.set('/tenant/a', (request, response) => response.end(String(request.headers['x-tenant'])));
    expect((await ask('/tenant/a', { 'x-tenant': 'one' })).body).toBe('one');
    expect((await ask('/tenant/a', { 'x-tenant': 'two' })).body).toBe('two');
    expect((await ask('/tenant/a')).body).toBe('undefined');
  });

  it('poisoning by headers that `vary` names: they arrive, and are part of the key', async () => {
    upstream.answers.set('/flagged/a', (request, response) => response.end(String(request.headers['x-flag'])));
    expect((await ask('/flagged/a', { 'x-flag': 'on' })).body).toBe('on');
    expect((await ask('/flagged/a', { 'x-flag': 'off' })).body).toBe('off');
    expect((await ask('/flagged/a')).body).toBe('undefined');
    expect(upstream.asked('/flagged/a')).toBe(3);
  });

  it('poisoning by parameters that are no part of the key: they do not arrive', async () => {
    upstream.answers.set('/ttl/deep/a', (request, response) => response.end(String(request.url)));
    expect((await ask('/ttl/deep/a?utm_source=%3Cscript%3E&id=1')).body).toBe('/ttl/deep/a?id=1');
  });

  it.each([
    ['an encoded slash', '/ttl/a%2Fb', '/ttl/deep/b'],
    ['case', '/ttl/case', '/ttl/CASE'],
    ['an encoded letter', '/ttl/x%61', '/ttl/xa'],
    ['the order of one parameter', '/ttl/order?id=1&id=2', '/ttl/order?id=2&id=1'],
    ['how often it comes', '/ttl/often?id=1', '/ttl/often?id=1&id=1'],
  ])('key confusion by %s', async (_what, one, other) => {
    expect((await ask(one)).body).not.toBe((await ask(other)).body);
    expect(says(await ask(one))).toContain('hit');
  });

  it.each<[string, (socket: { destroy(): void; end(text: string): void }) => void]>([
    ['fewer bytes than announced', (socket) => socket.end('Content-Length: 100\r\n\r\nshort')],
    ['no last chunk', (socket) => socket.end('Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n')],
    ['an end that only the connection tells', (socket) => socket.end('Connection: close\r\n\r\nshort')],
  ])('truncated bodies are not stored: %s', async (what, rest) => {
    const path = `/plain/cut-${what.replaceAll(' ', '-')}`;
    upstream.answers.set(path, (request) => {
      request.socket.write('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n');
      rest(request.socket);
    });
    const before = upstream.asked(path);
    for (let i = 0; i < 2; i++) await ask(path).catch(() => {});
    expect(upstream.asked(path) - before).toBe(2);
  });

  it('variants without end leave no more than may be', async () => {
    upstream.answers.set('/plain/vary', fresh({ 'cache-control': 'max-age=60', vary: 'user-agent' }));
    const agent = (n: number) => ask('/plain/vary', { 'user-agent': `agent ${n}` });
    for (let n = 0; n < 60; n++) await agent(n);
    upstream.seen.length = 0;
    for (let n = 59; n >= 0; n--) await agent(n);
    const again = upstream.asked('/plain/vary');
    expect(again).toBeGreaterThanOrEqual(60 - 32);
  });
});
