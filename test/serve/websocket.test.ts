/** `ws-upstream` in `gw serve`: WebSockets through real processes, with the library `ws` on both sides. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, constants, type IncomingHttpHeaders } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { h2, h2session, makeCertificate, OPENSSL } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import {
  closed,
  connecting,
  frame,
  handshake,
  KEY,
  leaveAll,
  message,
  opened,
  RawClient,
  refused,
  serverClose,
  startEcho,
  startRawUpstream,
  switching,
  type WebSocketUpstream,
} from './web-sockets.ts';

const responses = { default: { description: 'any' } };

type Config = Readonly<Record<string, unknown>>;

function operation(config: Config, middlewares: readonly object[] = []) {
  const dispatch = { name: 'ws-upstream', config };
  return { get: { responses, 'x-gw-dispatch': dispatch, 'x-gw-middlewares': middlewares } };
}

function document(paths: object) {
  return { openapi: '3.1.0', info: { title: 'Sockets', version: '1' }, paths };
}

const PLUGINS = ['ws-upstream', 'http-upstream', 'mock', 'ip-restriction', 'correlation-id', 'response-transformer'];
const gatewayOf = async (paths: object, args: readonly string[] = []): Promise<Gateway> =>
  startGateway(await compileSpec(document(paths), PLUGINS), { args });

/** A sample of the gateway's metrics, or 0. */
async function sample(gw: Gateway, name: string): Promise<number> {
  const text = await (await fetch(`${gw.admin}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(name));
  return Number(line?.slice(line.lastIndexOf(' ') + 1) ?? 0);
}

describe('a WebSocket', () => {
  let echo: WebSocketUpstream;
  let gw: Gateway;
  beforeAll(async () => {
    echo = await startEcho({ handleProtocols: (offered) => (offered.has('chat') ? 'chat' : false) });
    const parameter = { name: 'room', in: 'path', required: true, schema: { type: 'string' } };
    gw = await gatewayOf({
      '/echo': operation({ url: `${echo.url}/base` }),
      '/small': operation({ url: echo.url, max_message_size: 1000 }),
      '/idle': operation({ url: echo.url, idle_timeout: 0.2 }),
      '/rooms/{room}': { parameters: [parameter], ...operation({ url: echo.url, path: '/r/{room}?fixed=1' }) },
      '/transformed': operation({ url: echo.url }, [
        {
          name: 'response-transformer',
          config: { headers: { set: { 'x-set': 'by a plugin' } }, body: { remove: ['/x'] } },
        },
      ]),
      '/traced': operation({ url: echo.url }, [{ name: 'correlation-id', config: {} }]),
    });
  });
  afterEach(async () => {
    leaveAll();
    // Whatever a test has done, nothing is left of it.
    await eventually(async () => {
      expect(await echo.connections()).toBe(0);
      expect(await sample(gw, 'gw_websocket_connections')).toBe(0);
    });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await echo?.close();
  });

  it('carries text and binary messages both ways', async () => {
    const client = await opened(`${gw.url}/echo?a=%20b`);
    for (const data of ['hello', '', 'ü'.repeat(40_000), randomBytes(125), randomBytes(126), randomBytes(70_000)]) {
      client.send(data);
      expect((await message(client)).equals(Buffer.from(data))).toBe(true);
    }
    expect(echo.handshakes.at(-1)?.url).toBe('/base/echo?a=%20b');
    client.close(1000);
    expect(await closed(client)).toEqual({ code: 1000, reason: '' });
  });

  it('carries messages of 16 MiB, and many at once', async () => {
    const data = randomBytes(16 << 20);
    const client = await opened(`${gw.url}/echo`);
    client.send(data);
    expect((await message(client)).equals(data)).toBe(true);
    let left = 2000;
    const all = new Promise<void>((resolve) => {
      client.on('message', () => --left === 0 && resolve());
    });
    for (let i = 0; i < 2000; i++) client.send(`message ${i}`);
    await all;
    client.close();
    await closed(client);
  });

  it('carries fragments, with pings between them', async () => {
    const client = await opened(`${gw.url}/echo`);
    const pong = once(client, 'pong');
    const whole = message(client);
    client.send('one ', { fin: false });
    client.ping('between');
    client.send('two ', { fin: false });
    client.send('three', { fin: true });
    expect(String(await whole)).toBe('one two three');
    expect(String((await pong)[0])).toBe('between');
    const ping = once(client, 'ping');
    echo.latest().ping('from the upstream');
    expect(String((await ping)[0])).toBe('from the upstream');
    client.terminate();
  });

  it('passes the sub-protocol that the upstream chose', async () => {
    const client = await opened(`${gw.url}/echo`, ['other', 'chat']);
    expect(client.protocol).toBe('chat');
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-protocol']).toBe('other,chat');
    client.terminate();
  });

  it('tells the upstream who asks, and makes its handshake with a key of its own', async () => {
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const client = await opened(`${gw.url}/echo`, [], {
      headers: { ...trace, 'x-request-id': 'r-1', 'x-unknown': 'no' },
    });
    const { headers } = echo.handshakes.at(-1) as (typeof echo.handshakes)[number];
    expect(headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-request-id': 'r-1',
    });
    expect(headers['gw-hops']).toBe('1');
    expect(headers['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
    expect(headers['x-unknown']).toBeUndefined();
    client.terminate();
    const bare = new RawClient(gw.url, handshake('/echo'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-key']).not.toBe(KEY);
    // Of RFC 6455, section 1.3.
    expect(bare.text).toContain('sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    bare.socket.destroy();
  });

  it('gets the path that the config says, with parameters and query', async () => {
    const client = await opened(`${gw.url}/rooms/a%2Fb?x=1`);
    expect(echo.handshakes.at(-1)?.url).toBe('/r/a%2Fb?fixed=1&x=1');
    client.terminate();
    const answer = await fetch(`${gw.url}/rooms/x`, { method: 'POST' });
    expect(answer.status).toBe(405);
  });

  it('has the headers that middlewares and the gateway put on every answer', async () => {
    const client = connecting(`${gw.url}/traced`);
    const open = once(client, 'open');
    const [response] = await once(client, 'upgrade');
    expect(response.headers['x-correlation-id']).toMatch(/./);
    expect(response.headers.server).toMatch(/^gw\//);
    await open;
    client.terminate();
  });

  it('opens also where a middleware wants responses whole', async () => {
    const client = connecting(`${gw.url}/transformed`);
    const open = once(client, 'open');
    const [response] = await once(client, 'upgrade');
    expect(response.headers['x-set']).toBe('by a plugin');
    await open;
    client.send('hello');
    expect(String(await message(client))).toBe('hello');
  });

  it.each([1000, 1001, 1008, 3000, 4999])('is closed by the client with %d, and by the upstream', async (code) => {
    const client = await opened(`${gw.url}/echo`);
    const both = Promise.all([closed(client), closed(echo.latest())]);
    client.close(code, 'from the client');
    const [atClient, atUpstream] = await both;
    expect([atClient.code, atUpstream]).toEqual([code, { code, reason: 'from the client' }]);
    const other = await opened(`${gw.url}/echo`);
    echo.latest().close(code, 'from the upstream');
    expect(await closed(other)).toEqual({ code, reason: 'from the upstream' });
  });

  it('is closed without a code', async () => {
    const client = await opened(`${gw.url}/echo`);
    client.close();
    expect((await closed(client)).code).toBe(1005);
  });

  it('is closed with 1001 towards the upstream where the client is lost', async () => {
    const client = await opened(`${gw.url}/echo`);
    const upstream = closed(echo.latest());
    client.terminate();
    expect(await upstream).toEqual({ code: 1001, reason: 'the client has gone' });
  });

  it('is closed with 1011 towards the client where the upstream is lost', async () => {
    const client = await opened(`${gw.url}/echo`);
    echo.latest().terminate();
    expect(await closed(client)).toEqual({ code: 1011, reason: 'the upstream has gone' });
  });

  it('ends the connection to the upstream where the client leaves within a message', async () => {
    const client = new RawClient(gw.url, handshake('/echo'));
    await client.until(({ text }) => text.includes('\r\n\r\n'));
    const upstream = closed(echo.latest());
    client.socket.write(frame('x'.repeat(1000)).subarray(0, 500));
    client.socket.end();
    expect((await upstream).code).toBe(1006);
  });

  it('is closed with 1009 where a message is too large, in one frame or in many', async () => {
    const exact = await opened(`${gw.url}/small`);
    exact.send('x'.repeat(1000));
    expect((await message(exact)).length).toBe(1000);
    exact.send('x'.repeat(1001));
    expect(await closed(exact)).toEqual({ code: 1009, reason: 'the message is too large' });
    const pieces = await opened(`${gw.url}/small`);
    const upstream = closed(echo.latest());
    for (let i = 0; i < 11; i++) pieces.send('x'.repeat(100), { fin: false });
    expect((await closed(pieces)).code).toBe(1009);
    // Within a message, but at the end of a frame.
    expect((await upstream).code).toBe(1001);
  });

  it('is closed with 1001 where neither side sends anything', async () => {
    const client = await opened(`${gw.url}/idle`);
    const upstream = closed(echo.latest());
    expect(await closed(client)).toEqual({ code: 1001, reason: 'idle timeout' });
    expect(await upstream).toEqual({ code: 1001, reason: 'idle timeout' });
  });

  it.each([
    ['a frame without a mask', frame('x', { masked: false })],
    ['a reserved bit', frame('x', { rsv: 1 })],
    ['RSV1 without compression', frame('x', { rsv: 4 })],
    ['a reserved opcode', frame('x', { opcode: 3 })],
    ['a ping in fragments', frame('x', { opcode: 9, fin: false })],
    ['a long ping', frame('x'.repeat(126), { opcode: 9 })],
    ['a continuation of nothing', frame('x', { opcode: 0 })],
    ['half a code', frame('x', { opcode: 8 })],
  ])('is closed with 1002 where the client sends %s', async (_, bytes) => {
    const client = new RawClient(gw.url, handshake('/echo'));
    await client.until(({ text }) => text.includes('\r\n\r\n'));
    const upstream = closed(echo.latest());
    client.socket.write(bytes);
    await client.until(({ ended }) => ended);
    expect([...client.frames.subarray(0, 4)]).toEqual([0x88, client.frames.length - 2, 1002 >> 8, 1002 & 0xff]);
    expect(await upstream).toEqual({ code: 1001, reason: 'the client broke the protocol' });
  });

  it('takes what comes behind the handshake, before it is answered, as its own and not as HTTP', async () => {
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
    const first = new RawClient(gw.url, Buffer.concat([Buffer.from(handshake('/echo')), frame('early')]));
    await first.until(({ frames }) => frames.equals(frame('early', { masked: false })));
    first.socket.destroy();
    const before = await sample(gw, 'gw_requests_total{method="GET",path="unmatched"');
    const second = new RawClient(gw.url, handshake('/echo') + smuggled);
    await second.until(({ ended }) => ended);
    expect(second.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(await sample(gw, 'gw_requests_total{method="GET",path="unmatched"')).toBe(before);
  });

  it('holds little of what one side sends and the other does not read', async () => {
    const client = new RawClient(gw.url, handshake('/echo'));
    await client.until(({ text }) => text.includes('\r\n\r\n'));
    client.socket.pause();
    const upstream = echo.latest();
    const piece = randomBytes(1 << 20);
    for (let i = 0; i < 64; i++) upstream.send(piece);
    await eventually(() => expect(upstream.bufferedAmount).toBeGreaterThan(40 << 20));
    // It goes on where the client reads again.
    client.socket.resume();
    await client.until(({ bytes }) => bytes >= 64 << 20);
    client.socket.destroy();
  });

  it('is one of many at once', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => opened(`${gw.url}/echo`)));
    expect(await sample(gw, 'gw_websocket_connections')).toBe(200);
    await Promise.all(
      clients.map((client, i) => {
        client.send(`message ${i}`);
        return message(client).then((data) => expect(String(data)).toBe(`message ${i}`));
      }),
    );
    for (const client of clients) client.terminate();
  });

  it('is logged and counted when it ends', async () => {
    const before = await sample(gw, 'gw_websocket_messages_total{direction="received"}');
    const client = await opened(`${gw.url}/echo`, [], { headers: { 'x-request-id': 'logged' } });
    client.send('hello');
    await message(client);
    client.close(4001);
    const line = await gw.logged(({ request_id }) => request_id === 'logged');
    expect(line).toMatchObject({ status: 101, route: '/echo', closed_by: 'client', close_code: 4001 });
    // Heads of frames are counted: 6 bytes from clients, 2 to them.
    expect(line).toMatchObject({ request_bytes: 11 + 8, response_bytes: 7 + 4 });
    expect(await sample(gw, 'gw_websocket_messages_total{direction="received"}')).toBe(before + 1);
  });
});

describe('a handshake', () => {
  let echo: WebSocketUpstream;
  let http: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    echo = await startEcho();
    http = await startUpstream((request, response) => {
      if (request.url === '/big') return void response.end('x'.repeat(8 << 20));
      response.end('served');
    });
    const refuses = { name: 'ip-restriction', config: { deny: ['127.0.0.1'], status: 401 } };
    const proxied = { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url: http.url } } };
    gw = await gatewayOf({
      '/echo': operation({ url: echo.url }),
      '/refused': operation({ url: echo.url }, [refuses]),
      '/posted': { post: { ...operation({ url: echo.url }).get, requestBody: { content: { '*/*': {} } } } },
      '/http': { get: proxied },
      '/big': { get: proxied },
    });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await Promise.all([echo?.close(), http?.close()]);
  });

  const answerTo = async (request: string) => {
    const client = new RawClient(gw.url, request);
    await client.until(({ ended }) => ended);
    return client.text;
  };

  it('is asked for with 426 where there is none', async () => {
    const answer = await fetch(`${gw.url}/echo`);
    expect(answer.status).toBe(426);
    expect(answer.headers.get('upgrade')).toBe('websocket');
    expect(await answer.json()).toMatchObject({ type: 'urn:gw:error:upgrade-required', status: 426 });
    // The connection goes on.
    const two = await answerTo(
      'GET /echo HTTP/1.1\r\nHost: a\r\n\r\nGET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(two.match(/HTTP\/1\.1 426/g)).toHaveLength(2);
    expect(two).toMatch(/connection: Upgrade\r\n[\s\S]*connection: Upgrade, close\r\n/i);
  });

  it('is 426 with the version that is spoken where it is another', async () => {
    const answer = await answerTo(handshake('/echo').replace('Version: 13', 'Version: 8'));
    expect(answer).toMatch(/^HTTP\/1\.1 426 /);
    expect(answer).toMatch(/\r\nsec-websocket-version: 13\r\n/i);
    expect(await answerTo(handshake('/echo').replace(/Sec-WebSocket-Version.*\r\n/, ''))).toMatch(/^HTTP\/1\.1 426 /);
  });

  it.each([
    ['no key', handshake('/echo').replace(/Sec-WebSocket-Key.*\r\n/, '')],
    ['a short key', handshake('/echo').replace(KEY, 'c2hvcnQ=')],
    ['a key that is no base64', handshake('/echo').replace(KEY, '!'.repeat(24))],
    ['two keys', handshake('/echo', `Sec-WebSocket-Key: ${KEY}`)],
    ['two hosts', handshake('/echo', 'Host: b')],
  ])('is 400 with %s', async (_, request) => {
    expect(await answerTo(request)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['a body', `${handshake('/echo', 'Content-Length: 5', 'Connection: close')}hello`],
    ['a body in chunks', `${handshake('/echo', 'Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`],
    ['another method', handshake('/posted').replace('GET', 'POST')],
    ['HTTP/1.0', handshake('/echo').replace('HTTP/1.1', 'HTTP/1.0')],
    ['another protocol', handshake('/echo').replace('websocket', 'h2c')],
  ])('with %s is none: 426, and nothing behind it is served', async (_, request) => {
    const answer = await answerTo(`${request}GET /http HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 426 /);
    expect(answer).not.toContain('served');
  });

  it('is answered by a middleware that refuses it', async () => {
    const before = echo.handshakes.length;
    const { status, headers, body } = await refused(`${gw.url}/refused`);
    expect([status, headers['content-type']]).toEqual([401, 'application/problem+json']);
    expect(JSON.parse(body)).toMatchObject({ status: 401 });
    expect(echo.handshakes.length).toBe(before);
  });

  it('does not reach a path without an operation', async () => {
    expect((await refused(`${gw.url}/nowhere`)).status).toBe(404);
  });

  it('is ignored where the operation speaks HTTP, and the whole answer comes', async () => {
    expect(await answerTo(handshake('/http'))).toMatch(/^HTTP\/1\.1 200 [\s\S]*served$/);
    const { status, body } = await refused(`${gw.url}/big`);
    expect([status, body.length]).toEqual([200, 8 << 20]);
  });

  it('behind another request is taken when that is answered, and is none before', async () => {
    const behind = `GET /http HTTP/1.1\r\nHost: a\r\n\r\n${handshake('/echo')}`;
    expect(await answerTo(behind)).toMatch(/^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 426 /);
    const client = new RawClient(gw.url, 'GET /http HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until(({ text }) => text.endsWith('served'));
    client.socket.write(handshake('/echo'));
    await client.until(({ text }) => text.includes(' 101 '));
    client.socket.write(frame('hi'));
    await client.until(({ text }) => text.endsWith('hi'));
    client.socket.destroy();
  });
});

describe('an upstream', () => {
  const upstreams = {
    nonsense: startRawUpstream((socket) => socket.end('nonsense\r\n\r\n')),
    silent: startRawUpstream(() => {}),
    closes: startRawUpstream((socket) => socket.end()),
    accept: startRawUpstream((socket, head) => socket.write(switching(head).replace(/Accept: ./, 'Accept: !'))),
    noAccept: startRawUpstream((socket, head) =>
      socket.write(switching(head).replace(/Sec-WebSocket-Accept.*\r\n/, '')),
    ),
    other: startRawUpstream((socket, head) => socket.write(switching(head).replace('websocket', 'h2c'))),
    noUpgrade: startRawUpstream((socket, head) => socket.write(switching(head).replace('Upgrade: websocket\r\n', ''))),
    extension: startRawUpstream((socket, head) => socket.write(switching(head, 'Sec-WebSocket-Extensions: x-other'))),
    protocol: startRawUpstream((socket, head) => socket.write(switching(head, 'Sec-WebSocket-Protocol: other'))),
    early: startRawUpstream((socket, head) => {
      socket.write(Buffer.concat([Buffer.from(switching(head)), frame('early', { masked: false })]));
    }),
    masks: startRawUpstream((socket, head) => socket.write(Buffer.concat([Buffer.from(switching(head)), frame('x')]))),
  };
  let http: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    http = await startUpstream((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { 'x-from': 'upstream', 'www-authenticate': 'Basic' });
      response.end(`refused ${'x'.repeat(200_000)}`);
    });
    const paths: Record<string, object> = {
      '/down': operation({ url: `ws://127.0.0.1:${await freePort()}` }),
      '/internal': operation({ url: 'ws://10.0.0.1' }),
      '/breaks': operation({ url: `ws://127.0.0.1:${await freePort()}/own` }),
    };
    for (const [name, upstream] of Object.entries(upstreams)) {
      paths[`/${name}`] = operation({ url: (await upstream).url, connect_timeout: name === 'silent' ? 0.2 : 5 });
    }
    const refuses = { name: 'correlation-id', config: {} };
    for (const status of ['401', '500'])
      paths[`/${status}`] = operation({ url: http.url.replace('http', 'ws') }, [refuses]);
    gw = await gatewayOf(paths);
  });
  afterAll(async () => {
    expect(await sample(gw, 'gw_websocket_connections')).toBe(0);
    expect(await gw?.stop()).toBe(0);
    await http?.close();
    for (const upstream of Object.values(upstreams)) await (await upstream).close();
  });

  it.each([
    ...['down', 'internal', 'nonsense', 'closes', 'accept', 'noAccept', 'other', 'noUpgrade', 'extension'],
    'protocol',
  ])('is 502 (%s)', async (name) => {
    const { status, body } = await refused(`${gw.url}/${name}`);
    expect(status).toBe(502);
    expect(JSON.parse(body)).toMatchObject({ type: 'urn:gw:error:upstream-failed' });
    const upstream = await upstreams[name as keyof typeof upstreams];
    await eventually(() => expect(upstream?.sockets.size ?? 0).toBe(0));
  });

  it('is 504 where it does not answer within connect_timeout', async () => {
    const { status, body } = await refused(`${gw.url}/silent`);
    expect(status).toBe(504);
    expect(JSON.parse(body)).toMatchObject({ type: 'urn:gw:error:upstream-timeout' });
    const { sockets } = await upstreams.silent;
    await eventually(() => expect(sockets.size).toBe(0));
  });

  it('is given up where the client leaves before it has answered', async () => {
    const { sockets } = await upstreams.silent;
    const client = new RawClient(gw.url, handshake('/silent'));
    await eventually(() => expect(sockets.size).toBe(1));
    client.socket.end();
    await client.until(({ ended }) => ended);
    await eventually(() => expect(sockets.size).toBe(0));
  });

  it('is 503 where its circuit breaker is open', async () => {
    for (let i = 0; i < 5; i++) expect((await refused(`${gw.url}/breaks`)).status).toBe(502);
    const { status, headers } = await refused(`${gw.url}/breaks`);
    expect(status).toBe(503);
    expect(headers['retry-after']).toMatch(/^\d+$/);
  });

  it.each([401, 500])('that answers with %d is heard by the client, body and all', async (code) => {
    const { status, headers, body } = await refused(`${gw.url}/${code}`);
    expect([status, headers['x-from'], headers['www-authenticate']]).toEqual([code, 'upstream', 'Basic']);
    expect(headers['x-correlation-id']).toMatch(/./);
    expect(body).toBe(`refused ${'x'.repeat(200_000)}`);
  });

  it('may send messages together with its answer', async () => {
    const client = connecting(`${gw.url}/early`);
    expect(String(await message(client))).toBe('early');
    client.terminate();
    await eventually(async () => expect((await upstreams.early).sockets.size).toBe(0));
  });

  it('that masks its frames is told so with 1002, and the client with 1011', async () => {
    const client = connecting(`${gw.url}/masks`);
    expect(await closed(client)).toEqual({ code: 1011, reason: 'the upstream broke the protocol' });
    const upstream = await upstreams.masks;
    await eventually(() => expect(upstream.received.length).toBeGreaterThan(7));
    const [opcode, length, ...rest] = upstream.received;
    expect([opcode, (length ?? 0) & 0x80]).toEqual([0x88, 0x80]);
    const code = [0, 1].map((i) => (rest[4 + i] ?? 0) ^ (rest[i] ?? 0));
    expect(Buffer.from(code).readUInt16BE()).toBe(1002);
    await eventually(() => expect(upstream.sockets.size).toBe(0));
  });
});

describe('compression', () => {
  it('is agreed on between client and upstream', async () => {
    const echo = await startEcho({ perMessageDeflate: { threshold: 0 } });
    const gw = await gatewayOf({ '/echo': operation({ url: echo.url }) });
    const client = await opened(`${gw.url}/echo`, [], { perMessageDeflate: { threshold: 0 } });
    expect(client.extensions).toBe('permessage-deflate');
    const before = await sample(gw, 'gw_websocket_bytes_total{direction="received"}');
    client.send('x'.repeat(1 << 20));
    expect((await message(client)).length).toBe(1 << 20);
    expect((await sample(gw, 'gw_websocket_bytes_total{direction="received"}')) - before).toBeLessThan(10_000);
    client.terminate();
    const other = new RawClient(
      gw.url,
      handshake('/echo', 'Sec-WebSocket-Extensions: x-other; y="a,b", permessage-deflate; server_no_context_takeover'),
    );
    await other.until(({ text }) => text.includes('\r\n\r\n'));
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-extensions']).toBe(
      'permessage-deflate; server_no_context_takeover',
    );
    other.socket.destroy();
    const none = new RawClient(gw.url, handshake('/echo', 'Sec-WebSocket-Extensions: x-other'));
    await none.until(({ text }) => text.includes('\r\n\r\n'));
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-extensions']).toBeUndefined();
    none.socket.destroy();
    expect(await gw.stop()).toBe(0);
    await echo.close();
  });
});

describe('a gateway', () => {
  let echo: WebSocketUpstream;
  beforeAll(async () => {
    echo = await startEcho();
  });
  afterAll(() => echo?.close());
  const paths = () => ({ '/echo': operation({ url: echo.url }) });

  it('that stops tells both sides, at the end of a frame, and ends with the last of them', async () => {
    const gw = await gatewayOf(paths());
    const client = await opened(`${gw.url}/echo`);
    const bare = new RawClient(gw.url, handshake('/echo'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    const upstreams = [...echo.server.clients].map(closed);
    const whole = frame('x'.repeat(1000));
    bare.socket.write(whole.subarray(0, 500));
    // The upstream is told when it has the whole frame.
    gw.signal('SIGTERM');
    const told = { code: 1001, reason: 'the gateway is stopping' };
    expect(await closed(client)).toEqual(told);
    await bare.until(({ frames }) => frames.equals(serverClose(told.code, told.reason)));
    bare.socket.write(whole.subarray(500));
    bare.socket.write(frame(Buffer.from([0x03, 0xe9]), { opcode: 8 }));
    expect(await Promise.all(upstreams)).toEqual([told, told]);
    await bare.until(({ ended }) => ended);
    expect(await gw.exited).toBe(0);
    expect(gw.log.filter(({ status }) => status === 101).map(({ closed_by }) => closed_by)).toEqual([
      'gateway',
      'gateway',
    ]);
  });

  it('that stops waits for nobody who does not answer', async () => {
    const gw = await gatewayOf(paths());
    const bare = new RawClient(gw.url, handshake('/echo'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    bare.socket.write(frame('x'.repeat(1000)).subarray(0, 500));
    expect(await gw.stop()).toBe(0);
    await bare.until(({ ended }) => ended);
    await eventually(async () => expect(await echo.connections()).toBe(0));
  });

  it('that loads another artifact keeps the connections of the one before', async () => {
    const gw = await gatewayOf(paths());
    const client = await opened(`${gw.url}/echo`);
    gw.signal('SIGHUP');
    await eventually(() => expect(gw.log.filter(({ msg }) => msg === 'artifact loaded')).toHaveLength(2));
    client.send('still here');
    expect(String(await message(client))).toBe('still here');
    client.close();
    await closed(client);
    expect(await gw.stop()).toBe(0);
  });

  it('cuts off a client that reads nothing for --send-timeout', async () => {
    const gw = await gatewayOf(paths(), ['--send-timeout', '0.5']);
    const bare = new RawClient(gw.url, handshake('/echo', 'X-Request-Id: unread'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    bare.socket.pause();
    const upstream = echo.latest();
    const over = closed(upstream);
    for (let i = 0; i < 32; i++) upstream.send(randomBytes(1 << 20));
    expect((await over).code).toBe(1001);
    expect(await gw.logged(({ request_id }) => request_id === 'unread')).toMatchObject({
      status: 101,
      close_code: 1006,
    });
    bare.socket.destroy();
    expect(await gw.stop()).toBe(0);
  });

  it('does not start with a plaintext upstream that is not allowed', async () => {
    const artifact = await compileSpec(document(paths()), PLUGINS);
    const started = startGateway(artifact, { egress: ['--egress-allow', '127.0.0.1'] });
    await expect(started).rejects.toThrow(/plaintext: use wss:\/\/, or allow it with --allow-plaintext-upstream/);
  });

  it('serves them from workers too, and stops those', async () => {
    const gw = await gatewayOf(paths(), ['--workers', '2']);
    const clients = await Promise.all(Array.from({ length: 8 }, () => opened(`${gw.url}/echo`)));
    expect(await sample(gw, 'gw_websocket_connections')).toBe(8);
    const all = Promise.all(clients.map(closed));
    expect(await gw.stop()).toBe(0);
    expect(new Set((await all).map(({ code }) => code))).toEqual(new Set([1001]));
  });
});

describe.skipIf(!OPENSSL)('TLS (needs openssl)', () => {
  it('is between client and gateway, and between gateway and upstream', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-wss-'));
    const { cert, key } = makeCertificate(dir, 'server');
    const echo = await startEcho({}, { cert: readFileSync(cert), key: readFileSync(key) });
    const artifact = await compileSpec(document({ '/echo': operation({ url: echo.url, tls: { ca: cert } }) }), PLUGINS);
    const gw = await startGateway(artifact, {
      args: ['--tls-cert', cert, '--tls-key', key],
      egress: ['--egress-allow', '127.0.0.1'],
      env: { GW_SECRETS_DIR: dir },
    });
    const client = await opened(`${gw.url.replace('http', 'wss')}/echo`, [], { ca: readFileSync(cert) });
    client.send(randomBytes(1 << 20));
    expect((await message(client)).length).toBe(1 << 20);
    client.close(1000);
    expect((await closed(client)).code).toBe(1000);
    expect(await gw.stop()).toBe(0);
    await echo.close();
    rmSync(dir, { recursive: true });
  });
});

describe('HTTP/2', () => {
  let echo: WebSocketUpstream;
  let gw: Gateway;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    echo = await startEcho({ perMessageDeflate: true, handleProtocols: () => 'chat' });
    const refuses = { name: 'ip-restriction', config: { deny: ['127.0.0.1'], status: 401 } };
    gw = await gatewayOf({
      '/echo': operation({ url: echo.url }),
      '/refused': operation({ url: echo.url }, [refuses]),
      '/down': operation({ url: `ws://127.0.0.1:${await freePort()}` }),
      '/mock': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'mocked' } } } },
    });
    session = await h2session(gw.url);
    if (!session.remoteSettings.enableConnectProtocol) await once(session, 'remoteSettings');
  });
  afterEach(() =>
    eventually(async () => {
      expect(await echo.connections()).toBe(0);
      expect(await sample(gw, 'gw_websocket_connections')).toBe(0);
    }),
  );
  afterAll(async () => {
    session?.close();
    expect(await gw?.stop()).toBe(0);
    await echo?.close();
  });

  /** An extended CONNECT (RFC 8441, section 5), with all that comes back. */
  async function connected(path: string, headers: Readonly<Record<string, string>> = {}, over = session) {
    const stream = over.request(
      {
        ...{ ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': path },
        ...{ ':authority': new URL(gw.url).host, 'sec-websocket-version': '13', ...headers },
      },
      { endStream: false },
    );
    const chunks: Buffer[] = [];
    stream.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk));
    const [answer]: [IncomingHttpHeaders & { ':status'?: number }] = (await once(stream, 'response')) as never;
    return { stream, answer, status: answer[':status'], received: () => Buffer.concat(chunks) };
  }

  it('carries WebSockets on streams, by extended CONNECT', async () => {
    const sent = { 'sec-websocket-protocol': 'chat', 'sec-websocket-extensions': 'permessage-deflate' };
    const { stream, status, answer, received } = await connected('/echo?x=1', sent);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ ...sent, server: expect.stringMatching(/^gw/) });
    expect(Object.keys(answer)).not.toContain('sec-websocket-accept');
    expect(Object.keys(answer)).not.toContain('upgrade');
    expect(echo.handshakes.at(-1)).toMatchObject({ url: '/echo?x=1', method: 'GET' });
    stream.write(frame('hello'));
    // "hello", as RFC 7692 compresses it (section 7.2.3.1).
    await eventually(() => expect(received().toString('hex')).toBe('c107ca48cdc9c90700'));
    // Other streams of the connection go on.
    expect(await h2(session, { ':path': '/mock' })).toMatchObject({ status: 200, body: 'mocked' });
    const upstream = closed(echo.latest());
    stream.write(frame(Buffer.from([0x0f, 0xa1]), { opcode: 8 }));
    expect((await upstream).code).toBe(4001);
    await once(stream, 'close');
    expect(stream.rstCode).toBe(0);
    expect(await gw.logged(({ close_code }) => close_code === 4001)).toMatchObject({ status: 101, method: 'GET' });
  });

  it('carries long messages, and tells the upstream where the client resets its stream', async () => {
    const { stream, received } = await connected('/echo');
    stream.write(frame(randomBytes(16 << 20), { opcode: 2 }));
    await eventually(() => expect(received().length).toBe((16 << 20) + 10));
    const upstream = closed(echo.latest());
    stream.close(constants.NGHTTP2_CANCEL);
    expect((await upstream).code).toBe(1001);
  });

  it('tells the client where the upstream is lost', async () => {
    const { stream, received } = await connected('/echo');
    echo.latest().terminate();
    await eventually(() => expect(received()).toEqual(serverClose(1011, 'the upstream has gone')));
    stream.end(frame(Buffer.from([0x03, 0xf3]), { opcode: 8 }));
    await once(stream, 'close');
  });

  it.each([
    ['/refused', {}, 401],
    ['/down', {}, 502],
    ['/nowhere', {}, 404],
    ['/mock', {}, 200],
    ['/echo', { 'sec-websocket-version': '8' }, 426],
    ['/echo', { ':protocol': 'connect-udp' }, 501],
  ])('answers %s with %j by %d', async (path, headers, status) => {
    const before = echo.handshakes.length;
    const answered = await connected(path, headers);
    expect(answered.status).toBe(status);
    answered.stream.end();
    await once(answered.stream, 'close');
    expect(echo.handshakes.length).toBe(before);
  });

  it('asks for an extended CONNECT with 426 where a request is none', async () => {
    expect((await h2(session, { ':path': '/echo' })).status).toBe(426);
  });

  it('is told when the gateway stops', async () => {
    const other = await gatewayOf({ '/echo': operation({ url: echo.url }) });
    const own = await h2session(other.url);
    if (!own.remoteSettings.enableConnectProtocol) await once(own, 'remoteSettings');
    const { stream, received } = await connected('/echo', { ':authority': new URL(other.url).host }, own);
    const upstream = closed(echo.latest());
    const over = once(stream, 'close');
    other.signal('SIGTERM');
    const told = serverClose(1001, 'the gateway is stopping');
    await eventually(() => expect(received().equals(told)).toBe(true));
    stream.end(frame(Buffer.from([0x03, 0xe9]), { opcode: 8 }));
    expect((await upstream).code).toBe(1001);
    await over;
    expect(await other.exited).toBe(0);
  });
});
