/** How WebSockets begin in `gw serve`, or do not: requests that are no handshake, and upstreams that refuse or fail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import type { Gateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import { gatewayOf, operation, responses, sample } from './web-socket-project.ts';
import {
  closed,
  connecting,
  frame,
  handshake,
  KEY,
  message,
  RawClient,
  refused,
  startEcho,
  startRawUpstream,
  switching,
  type WebSocketUpstream,
} from './web-sockets.ts';

/** Ends its connection, which answers wait for. */
const LAST = handshake('/echo', 'Connection: close');
const PLAIN = 'GET /http HTTP/1.1\r\nHost: a\r\n\r\n';

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
    const answer = await answerTo(LAST.replace('Version: 13', 'Version: 8'));
    expect(answer).toMatch(/^HTTP\/1\.1 426 /);
    expect(answer).toMatch(/\r\nsec-websocket-version: 13\r\n/i);
    expect(await answerTo(LAST.replace(/Sec-WebSocket-Version.*\r\n/, ''))).toMatch(/^HTTP\/1\.1 426 /);
  });

  it.each([
    ['no key', LAST.replace(/Sec-WebSocket-Key.*\r\n/, '')],
    ['a short key', LAST.replace(KEY, 'c2hvcnQ=')],
    ['a key that is no base64', LAST.replace(KEY, '!'.repeat(24))],
    ['two keys', handshake('/echo', `Sec-WebSocket-Key: ${KEY}`, 'Connection: close')],
    ['two hosts', handshake('/echo', 'Host: b')],
  ])('is 400 with %s', async (_, request) => {
    expect(await answerTo(request)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['a body', `${handshake('/echo', 'Content-Length: 5', 'Connection: close')}hello`],
    ['a body in chunks', `${handshake('/echo', 'Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`],
    ['HTTP/1.0', handshake('/echo').replace('HTTP/1.1', 'HTTP/1.0')],
  ])('with %s is 426, and nothing behind it is served', async (_, request) => {
    const answer = await answerTo(`${request}GET /http HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 426 /);
    expect(answer).not.toContain('served');
  });

  it('with another protocol is 426, and the request behind it is served', async () => {
    const request = handshake('/echo').replace('websocket', 'h2c');
    const answer = await answerTo(`${request}GET /http HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 426 [\s\S]*HTTP\/1\.1 200 [\s\S]*served$/);
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
    expect(await answerTo(handshake('/http', 'Connection: close'))).toMatch(/^HTTP\/1\.1 200 [\s\S]*served$/);
    const { status, body } = await refused(`${gw.url}/big`);
    expect([status, body.length]).toEqual([200, 8 << 20]);
  });

  it.each([
    ['together', (client: RawClient) => client.socket.write(`${PLAIN}${handshake('/echo')}`)],
    [
      'one after the other',
      async (client: RawClient) => {
        client.socket.write(PLAIN);
        await client.until(({ text }) => text.endsWith('served'));
        client.socket.write(handshake('/echo'));
      },
    ],
  ])('behind another request is taken when that is answered: %s', async (_, send) => {
    const client = new RawClient(gw.url, '');
    await send(client);
    await client.until(({ text }) => /^HTTP\/1\.1 200 [\s\S]*served[\s\S]* 101 /.test(text));
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
