/** HTTP/2 without TLS beside HTTP/1.1 on the port of `gw serve`, and clients that are too slow for either. */
import type { ClientHttp2Session } from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../gateway/src/version.ts';
import { compileSpec, type Echo, type Gateway, startGateway } from './gateway.ts';
import { CURL, curl, h2, h2session, raw } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const responses = { 200: { description: 'OK' } };

function document(upstream: string) {
  const proxy = { name: 'http-upstream', config: { url: upstream } };
  const book = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } };
  return {
    openapi: '3.1.0',
    info: { title: 'Transport', version: '1' },
    paths: {
      '/hello': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } } } },
      '/books': {
        post: {
          responses,
          requestBody: { required: true, content: { 'application/json': { schema: book } } },
          'x-gw-dispatch': proxy,
        },
      },
      '/echo': { get: { responses, 'x-gw-dispatch': proxy }, put: { responses, 'x-gw-dispatch': proxy } },
      '/held': { get: { responses, 'x-gw-dispatch': proxy } },
      '/big': { get: { responses, 'x-gw-dispatch': proxy } },
      '/broken': { get: { responses, 'x-gw-dispatch': proxy } },
    },
  };
}

const BIG = 8 << 20;

describe('HTTP/2', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  let gw: Gateway;
  let release: () => void = () => {};
  const held: (() => void)[] = [];
  const sessions: ClientHttp2Session[] = [];
  const open = async (url = gw.url) => {
    const session = await h2session(url);
    sessions.push(session);
    return session;
  };
  const port = (at = gw) => Number(new URL(at.url).port);

  beforeAll(async () => {
    upstream = await startUpstream((request, response, body) => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('keep-alive', 'timeout=5');
      if (request.url === '/held') {
        held.push(() => response.end('"held"'));
        return release();
      }
      if (request.url === '/big') return void response.end(Buffer.alloc(BIG, 'x'));
      if (request.url === '/broken') {
        return void response.write('half', () => response.destroy());
      }
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
    });
    artifact = await compileSpec(document(upstream.url), ['mock', 'http-upstream']);
    gw = await startGateway(artifact, {
      args: ['--headers-timeout', '0.4', '--body-timeout', '0.4', '--max-body-size', '100000'],
    });
  });
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
  });

  it.skipIf(!CURL)('with prior knowledge and HTTP/1.1 share a port; the Upgrade dance is ignored', async () => {
    expect(await curl(`${gw.url}/hello`, '--http2-prior-knowledge')).toEqual({
      status: 200,
      version: '2',
      body: 'hello',
    });
    expect(await curl(`${gw.url}/hello`, '--http1.1')).toMatchObject({ status: 200, version: '1.1' });
    expect(await curl(`${gw.url}/hello`, '--http2')).toMatchObject({ status: 200, version: '1.1', body: 'hello' });
    const sent = await curl(`${gw.url}/echo`, '--http2-prior-knowledge', '-T', import.meta.filename);
    expect(sent.status).toBe(200);
    expect(JSON.parse(sent.body).body).toContain('the Upgrade dance is ignored');
  });

  it('is told from HTTP/1.1 also where the first bytes come one by one', async () => {
    const { socket, all } = raw(port());
    const text = 'PUT /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi';
    socket.setNoDelay(true);
    for (const byte of text) await new Promise((resolve) => socket.write(byte, resolve));
    expect(await all).toMatch(/^HTTP\/1\.1 200 [\s\S]*"body":"hi"/);
    const preface = raw(port());
    preface.socket.setNoDelay(true);
    const frames = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0`;
    for (const byte of frames) {
      await new Promise((resolve) => preface.socket.write(Buffer.from(byte, 'latin1'), resolve));
    }
    // A SETTINGS frame of ours comes first.
    await new Promise((resolve) => preface.socket.once('data', resolve));
    preface.socket.end();
    expect((await preface.all).length).toBeGreaterThanOrEqual(0);
  });

  it('carries requests to an HTTP/1.1 upstream and answers back', async () => {
    const session = await open();
    const { status, headers, body } = await h2(session, { ':path': '/echo?a=1', 'x-request-id': 'mine' });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ server: `gw/${VERSION}`, 'x-request-id': 'mine', 'set-cookie': ['a=1', 'b=2'] });
    expect(headers).not.toHaveProperty('keep-alive');
    expect(headers).not.toHaveProperty('connection');
    const echo: Echo = JSON.parse(body);
    expect([echo.method, echo.url]).toEqual(['GET', '/echo?a=1']);
    expect(echo.headers['x-forwarded-host']).toBe(new URL(gw.url).host);
    const put = await h2(session, { ':path': '/echo', ':method': 'PUT' }, 'x'.repeat(90_000));
    expect(JSON.parse(put.body).body).toHaveLength(90_000);
  });

  it('answers HEAD without a body, and 100 to those who wait for it', async () => {
    const session = await open();
    const head = await h2(session, { ':path': '/hello', ':method': 'HEAD' });
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '5', '']);
    expect(await h2(session, { ':path': '/echo', ':method': 'HEAD' })).toMatchObject({ status: 200, body: '' });
    const stream = session.request({ ':path': '/echo', ':method': 'PUT', expect: '100-continue' });
    await new Promise<void>((resolve) => stream.once('continue', resolve));
    stream.end('late');
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    expect(JSON.parse(text).body).toBe('late');
  });

  it('holds the limits, each with our problem document', async () => {
    const session = await open();
    const cases: [Record<string, string>, number, RegExp][] = [
      [{ ':path': `/hello?${'x'.repeat(9000)}` }, 400, /URI has/],
      [{ ':path': '/hello', 'x-long': 'x'.repeat(9000) }, 431, /limit is 8192/],
      [
        Object.fromEntries([[':path', '/hello'], ...Array.from({ length: 120 }, (_, i) => [`x-${i}`, '1'])]),
        400,
        /headers; the limit is 100/,
      ],
      [{ ':path': '/hello', ':authority': 'a.example', host: 'b.example' }, 400, /differ/],
      [{ ':path': '/nowhere' }, 404, /no operation/i],
    ];
    for (const [headers, status, detail] of cases) {
      const answer = await h2(session, headers);
      expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
      expect(JSON.parse(answer.body).detail).toMatch(detail);
    }
    const large = await h2(session, { ':path': '/echo', ':method': 'PUT' }, Buffer.alloc(120_000));
    expect([large.status, JSON.parse(large.body).detail]).toEqual([400, expect.stringContaining('limit is 100000')]);
    const invalid = { ':path': '/books', ':method': 'POST', 'content-type': 'application/json' };
    expect((await h2(session, invalid, '{}')).status).toBe(400);
    expect((await h2(session, { ':path': '/hello' })).status).toBe(200);
  });

  it('goes at the pace of the client, stream by stream', async () => {
    const session = await open();
    const slow = session.request({ ':path': '/big' });
    await new Promise((resolve) => slow.once('response', resolve));
    const others = await Promise.all(Array.from({ length: 50 }, () => h2(session, { ':path': '/hello' })));
    expect(others.every(({ status }) => status === 200)).toBe(true);
    let bytes = 0;
    for await (const chunk of slow) bytes += chunk.length;
    expect(bytes).toBe(BIG);
  });

  it('resets the stream where an upstream breaks off', async () => {
    const session = await open();
    await expect(h2(session, { ':path': '/broken' })).rejects.toThrow('INTERNAL_ERROR');
    expect((await h2(session, { ':path': '/hello' })).status).toBe(200);
  });

  // docs/decisions.md#http2-limits
  it('tells clients how many streams they may open, and ends connections that reset too many', async () => {
    const session = await open();
    if (session.remoteSettings.maxConcurrentStreams === undefined) {
      await new Promise((resolve) => session.once('remoteSettings', resolve));
    }
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
    const ended = new Promise<number>((resolve) => session.once('goaway', resolve));
    session.on('error', () => {});
    let over = false;
    void ended.then(() => {
      over = true;
    });
    for (let i = 0; i < 5000 && !over; i++) {
      const stream = session.request({ ':path': '/echo' });
      stream.on('error', () => {});
      stream.close(8);
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await ended).not.toBe(0);
    expect((await h2(await open(), { ':path': '/hello' })).status).toBe(200);
  });

  it('answers 408 to a request that does not go on, in both protocols', async () => {
    const silent = raw(port());
    expect(await silent.all).toBe('');
    const head = raw(port());
    head.socket.write('GET /hello HTTP/1.1\r\nhost: a\r\nx-slow: ');
    expect(await head.all).toMatch(/^HTTP\/1\.1 408 [\s\S]*problem\+json[\s\S]*urn:gw:error:request-timeout/);
    for (const path of ['/books', '/echo']) {
      const body = raw(port());
      const method = path === '/echo' ? 'PUT' : 'POST';
      body.socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{"ti`,
      );
      expect(await body.all, path).toMatch(
        /^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*urn:gw:error:request-timeout/i,
      );
      const stream = (await open()).request({
        ':path': path,
        ':method': method,
        'content-type': 'application/json',
      });
      stream.write('{"ti');
      const answer = new Promise<object>((resolve) => stream.once('response', resolve));
      expect(await answer, path).toMatchObject({ ':status': 408, 'content-type': 'application/problem+json' });
      stream.on('error', () => {}).destroy();
    }
  });

  it('closes what is idle, and drops connections past the limit', async () => {
    const small = await startGateway(artifact, { args: ['--keepalive-timeout', '0.2', '--max-connections', '2'] });
    try {
      const one = await h2session(small.url);
      const two = raw(port(small));
      two.socket.write('GET /hello HTTP/1.1\r\nhost: a\r\n\r\n');
      await new Promise((resolve) => two.socket.once('data', resolve));
      const third = raw(port(small));
      third.socket.write('GET /hello HTTP/1.1\r\nhost: a\r\n\r\n');
      expect(await third.all).toBe('');
      await Promise.all([new Promise((resolve) => one.once('close', resolve)), two.all]);
    } finally {
      expect(await small.stop()).toBe(0);
    }
  });

  it('drains with GOAWAY: what is in flight is answered, and the process exits with 0', async () => {
    const draining = await startGateway(artifact, { args: ['--drain-delay', '5'] });
    const session = await h2session(draining.url);
    const arrived = new Promise<void>((resolve) => {
      release = resolve;
    });
    const pending = h2(session, { ':path': '/held' });
    await arrived;
    const goaway = new Promise<number>((resolve) => session.once('goaway', resolve));
    const exit = draining.stop();
    expect(await goaway).toBe(0);
    // Connections are still taken in during the delay.
    const late = await h2session(draining.url);
    const told = new Promise<number>((resolve) => late.once('goaway', resolve));
    expect((await h2(late, { ':path': '/hello' })).status).toBe(200);
    expect(await told).toBe(0);
    for (const answer of held.splice(0)) answer();
    expect(await pending).toMatchObject({ status: 200, body: '"held"' });
    expect(await exit).toBe(0);
  });
});
