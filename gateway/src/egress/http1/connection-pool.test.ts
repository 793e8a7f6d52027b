import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { answering, RecordedAnswer, received, UpstreamRig } from '../../../../test/upstream-rig.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const answer = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}Content-Length: 2\r\n\r\nok`;

let rig: UpstreamRig | null = null;
afterEach(() => {
  rig?.close();
  rig = null;
});

/** Says the number of its connection. */
function numbered(socket: Socket, number: number): void {
  socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${number}`));
}

async function becomesIdle({ pool }: UpstreamRig, connections = 1): Promise<void> {
  await eventually(() => expect(pool.idle).toBe(connections));
}

async function isEmpty({ peer, pool }: UpstreamRig): Promise<void> {
  await eventually(() => expect([peer.sockets.size, pool.isEmpty]).toEqual([0, true]));
}

describe('connections to an upstream', () => {
  it('are kept for the next request', async () => {
    rig = await UpstreamRig.start(numbered);
    for (let i = 0; i < 5; i++) {
      expect((await rig.get()).body).toBe('1');
      await becomesIdle(rig);
    }
  });

  it('are as many as requests are under way, and the one that was used last is used first', async () => {
    const waiting: Socket[] = [];
    rig = await UpstreamRig.start((socket) => socket.on('data', () => waiting.push(socket)));
    const three = [rig.send({}), rig.send({}), rig.send({})];
    await eventually(() => expect(waiting.length).toBe(3));
    expect(rig.pool.idle).toBe(0);
    const [first, second, third] = waiting.splice(0);
    for (const [i, socket] of [second, third, first].entries()) {
      socket?.write(OK);
      await becomesIdle(rig, i + 1);
    }
    await Promise.all(three.map(({ whole }) => whole));
    const next = rig.send({});
    await eventually(() => expect(waiting).toEqual([first]));
    waiting[0]?.write(OK);
    await next.whole;
    await becomesIdle(rig, 3);
  });

  it.each([
    ['Connection: close', answer('Connection: close\r\n')],
    ['HTTP/1.0', answer('').replace('1.1', '1.0')],
    ['HTTP/1.0 and Connection: close, keep-alive', answer('Connection: close, keep-alive\r\n').replace('1.1', '1.0')],
    ['a body that ends with the connection', 'HTTP/1.1 200 OK\r\n\r\nok'],
    ['Keep-Alive: timeout=0', answer('Keep-Alive: timeout=0\r\n')],
    ['Keep-Alive: timeout=2', answer('Keep-Alive: max=5, timeout=2\r\n')],
  ])('are not kept behind an answer with %s', async (_, bytes) => {
    rig = await UpstreamRig.start((socket) =>
      socket.on('data', () => (bytes.includes('Length') ? socket.write(bytes) : socket.end(bytes))),
    );
    expect((await rig.get()).body).toBe('ok');
    await isEmpty(rig);
  });

  it.each([
    ['Keep-Alive: timeout=3', answer('Keep-Alive: timeout=3\r\n')],
    ['a Keep-Alive without timeout', answer('Keep-Alive: max=5\r\n')],
    ['HTTP/1.0 and Connection: keep-alive', answer('Connection: keep-alive\r\n').replace('1.1', '1.0')],
    ['chunks and trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n'],
  ])('are kept behind an answer with %s', async (_, bytes) => {
    rig = await UpstreamRig.start(answering(bytes));
    expect((await rig.get()).body).toBe('ok');
    await becomesIdle(rig);
  });

  it('are not used for requests that the upstream might take for two', async () => {
    rig = await UpstreamRig.start(answering('HTTP/1.1 204 No Content\r\n\r\n'));
    await rig.get({ method: 'HEAD' });
    await isEmpty(rig);
    await rig.get({ body: Buffer.from('a body with GET') });
    await isEmpty(rig);
    await rig.get({ upgrade: 'websocket' });
    await isEmpty(rig);
    await rig.get({ method: 'POST', body: Buffer.from('a body') });
    await becomesIdle(rig);
  });

  it('are closed when their time is over, and when the upstream has said that it is', async () => {
    rig = await UpstreamRig.start(numbered, { idleMs: 50 });
    await rig.get();
    await isEmpty(rig);
    rig.close();
    rig = await UpstreamRig.start(answering(answer('Keep-Alive: timeout=3\r\n')));
    await rig.get();
    await isEmpty(rig);
  });

  it('are left when the upstream ends or resets them while they are idle', async () => {
    for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      rig?.close();
      rig = await UpstreamRig.start(numbered);
      expect((await rig.get()).body).toBe('1');
      await becomesIdle(rig);
      for (const socket of rig.peer.sockets) leave(socket);
      await isEmpty(rig);
      expect((await rig.get()).body).toBe('2');
    }
  });

  it('are new if the request says so', async () => {
    rig = await UpstreamRig.start(numbered);
    await rig.get();
    await becomesIdle(rig);
    expect((await rig.get({ newConnection: true })).body).toBe('2');
    await becomesIdle(rig, 2);
  });

  it('that were kept and are closed by the upstream at the next request say so', async () => {
    let requests = 0;
    rig = await UpstreamRig.start((socket) =>
      socket.on('data', () => (++requests === 1 ? socket.write(OK) : socket.destroy())),
    );
    await rig.get();
    await becomesIdle(rig);
    const error = await rig.get().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: expect.stringMatching(/^(GW_UPSTREAM_CLOSED|ECONNRESET)$/) });
    await isEmpty(rig);
  });

  it('that are idle are closed with the pool, and those in use with their answers', async () => {
    const waiting: Socket[] = [];
    rig = await UpstreamRig.start((socket, number) =>
      socket.on('data', () => (number === 1 ? socket.write(OK) : waiting.push(socket))),
    );
    await rig.get();
    await becomesIdle(rig);
    const late = rig.send({ newConnection: true });
    await eventually(() => expect(waiting.length).toBe(1));
    rig.pool.close();
    await eventually(() => expect(rig?.peer.sockets.size).toBe(1));
    waiting[0]?.write(OK);
    expect((await late.whole).body).toBe('ok');
    await isEmpty(rig);
  });

  it('that cannot be opened are an error of the request', async () => {
    let emptied = 0;
    rig = await UpstreamRig.start(numbered, { emptied: () => emptied++ });
    rig.peer.close();
    await expect(rig.get()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect([rig.pool.isEmpty, emptied]).toEqual([true, 1]);
  });
});

describe('a request', () => {
  it('is written with Host, Connection, headers and framing, head and body at once', async () => {
    const seen: string[] = [];
    rig = await UpstreamRig.start((socket) =>
      socket.on('data', (bytes) => {
        seen.push(bytes.toString('latin1'));
        socket.write(OK);
      }),
    );
    await rig.get({ method: 'PUT', path: '/a?b', headers: ['host', 'a.example', 'x', 'é'], body: Buffer.from('body') });
    await becomesIdle(rig);
    await rig.get();
    await rig.get({ method: 'POST', headers: ['connection', 'close'] });
    await rig.get({ method: 'HEAD' });
    const host = `host: ${rig.peer.address}\r\n`;
    expect(seen).toEqual([
      'PUT /a?b HTTP/1.1\r\nhost: a.example\r\nconnection: keep-alive\r\nx: é\r\ncontent-length: 4\r\n\r\nbody',
      `GET / HTTP/1.1\r\n${host}connection: keep-alive\r\n\r\n`,
      `POST / HTTP/1.1\r\n${host}connection: keep-alive\r\ncontent-length: 0\r\n\r\n`,
      `HEAD / HTTP/1.1\r\n${host}connection: close\r\n\r\n`,
    ]);
  });

  it('with a large body in memory arrives whole', async () => {
    const body = Buffer.alloc(3 << 20, 'x');
    rig = await UpstreamRig.start((socket) => {
      const all = received(socket);
      socket.on('data', () => all.text.length > body.length && all.text.endsWith('x') && socket.write(OK));
    });
    expect((await rig.get({ method: 'POST', body })).body).toBe('ok');
  });

  it.each([
    ['a line break in a value', { headers: ['x', 'a\r\nhost: b'] }],
    ['CR in a value', { headers: ['x', 'a\rb'] }],
    ['LF in a value', { headers: ['x', 'a\nb'] }],
    ['NUL in a value', { headers: ['x', 'a\0'] }],
    ['DEL in a value', { headers: ['x', '\x7f'] }],
    ['a character beyond Latin-1', { headers: ['x', '\u010d\u010a'] }],
    ['a line break in a name', { headers: ['x: a\r\ny', 'b'] }],
    ['a space in a name', { headers: ['x ', 'b'] }],
    ['an empty name', { headers: ['', 'b'] }],
    ['a line break in the path', { path: '/ HTTP/1.1\r\nx: a' }],
    ['a space in the path', { path: '/a b' }],
    ['a path of another form', { path: '*' }],
    ['a character beyond Latin-1 in the path', { path: '/\u0120' }],
    ['a line break in the method', { method: 'GET / HTTP/1.1\r\nx: a\r\n' }],
    ['CONNECT', { method: 'CONNECT' }],
    ['a line break in the protocol', { upgrade: 'a\r\nb' }],
    ['two Host', { headers: ['host', 'a', 'Host', 'b'] }],
    ['two Content-Length', { headers: ['content-length', '1', 'content-length', '1'] }],
    ['a Content-Length of no number', { headers: ['content-length', '0x1'] }],
    ['Transfer-Encoding', { headers: ['Transfer-Encoding', 'chunked'] }],
    ['Expect', { headers: ['expect', '100-continue'] }],
    ['Upgrade', { headers: ['upgrade', 'h2c'] }],
  ])('with %s is not sent', async (_, request) => {
    rig = await UpstreamRig.start(numbered);
    const { pool } = rig;
    expect(() => rig?.send(request)).toThrow(expect.objectContaining({ code: 'GW_INVALID_REQUEST' }));
    expect(pool.isEmpty).toBe(true);
  });
});

describe('an answer', () => {
  it('has lower-case names in their order, repeated ones too, and trailers', async () => {
    const head =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nX-One:  1 \r\nset-cookie: b\r\nTransfer-Encoding: chunked\r\n\r\n';
    rig = await UpstreamRig.start(answering(`${head}2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n`));
    const { headers, body, length, trailers } = await rig.get();
    expect(headers).toEqual(['set-cookie', 'a', 'x-one', '1', 'set-cookie', 'b', 'transfer-encoding', 'chunked']);
    expect([body, length, trailers]).toEqual(['ok', -1, ['x-sum', '1']]);
  });

  it.each([
    ['a known length', answer('X: y\r\n')],
    [
      'chunks and trailers',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\no\r\n1\r\nk\r\n0\r\nX-Sum: 1\r\n\r\n',
    ],
    ['informational responses', `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${OK}`],
    ['no body', 'HTTP/1.1 204 No Content\r\nX: y\r\n\r\n'],
  ])('is the same wherever it is cut: %s', async (_, bytes) => {
    let cut = 0;
    rig = await UpstreamRig.start((socket) => {
      socket.setNoDelay(true).on('data', () => {
        socket.write(bytes.slice(0, cut));
        setImmediate(() => setImmediate(() => socket.write(bytes.slice(cut))));
      });
    });
    const whole = await rig.get();
    for (cut = 1; cut < bytes.length; cut++) {
      const { status, headers, body, hints, trailers } = await rig.get();
      expect({ status, headers, body, hints, trailers }).toEqual({
        status: whole.status,
        headers: whole.headers,
        body: whole.body,
        hints: whole.hints,
        trailers: whole.trailers,
      });
    }
  });

  it('comes behind informational responses', async () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
    rig = await UpstreamRig.start(answering(`${hint}HTTP/1.1 102 Processing\r\n\r\n${hint}${OK}`));
    const { hints, body } = await rig.get();
    expect([hints, body]).toEqual([[103, 102, 103], 'ok']);
    await becomesIdle(rig);
  });

  it.each([
    ['HEAD', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['HEAD in chunks', 'HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 5\r\n\r\n'],
  ])('has no body: %s', async (_, method, bytes) => {
    rig = await UpstreamRig.start(answering(bytes));
    expect(await rig.get({ method })).toMatchObject({ body: '', length: 0, endsByClosing: false });
  });

  it('ends with the connection where nothing else tells its end', async () => {
    rig = await UpstreamRig.start((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nok')));
    expect(await rig.get()).toMatchObject({ body: 'ok', length: -1, endsByClosing: true });
    await isEmpty(rig);
  });

  it('that ends with the connection is broken off by a reset', async () => {
    rig = await UpstreamRig.start((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nok', () => socket.resetAndDestroy())),
    );
    await expect(rig.get()).rejects.toMatchObject({ code: 'GW_UPSTREAM_BROKE_OFF' });
  });

  it.each(['head', 'data'] as const)('waits for a handler that pauses at its %s', async (moment) => {
    rig = await UpstreamRig.start((socket) =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n'),
      ),
    );
    const paused = rig.send({}, new RecordedAnswer(moment));
    await eventually(() => expect(paused.status).toBe(200));
    await eventually(() => expect(rig?.peer.sockets.size).toBe(0));
    expect(paused.body).toBe(moment === 'head' ? '' : 'o');
    while (paused.body !== 'ok') paused.controller?.resume();
    paused.controller?.resume();
    expect((await paused.whole).body).toBe('ok');
    await isEmpty(rig);
  });

  it.each(['hint', 'head', 'data'] as const)(
    'leaves a connection that is read after a pause at its %s',
    async (moment) => {
      rig = await UpstreamRig.start(answering(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}`));
      const paused = rig.send({}, new RecordedAnswer(moment));
      await eventually(() => expect(paused.hints).toEqual([103]));
      paused.controller?.resume();
      expect((await paused.whole).body).toBe('ok');
      await becomesIdle(rig);
      expect((await rig.get()).body).toBe('ok');
      await becomesIdle(rig);
      for (const socket of rig.peer.sockets) socket.end();
      await isEmpty(rig);
    },
  );

  it('of megabytes is read no faster than the handler takes it', async () => {
    const bytes = 64 << 20;
    rig = await UpstreamRig.start((socket) =>
      socket.once('data', () =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`),
      ),
    );
    const paused = rig.send({}, new RecordedAnswer('head'));
    await eventually(() => expect(paused.status).toBe(200));
    const [socket] = rig.peer.sockets;
    await eventually(() => expect(socket?.bytesWritten ?? 0).toBeGreaterThan(0));
    expect(paused.body).toBe('');
    expect(socket?.writableLength).toBeGreaterThan(bytes / 2);
    paused.controller?.resume();
    expect((await paused.whole).body.length).toBe(bytes);
  });

  it('that switches protocols brings its connection, with the bytes behind it', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: Echo\r\n\r\n';
    rig = await UpstreamRig.start((socket) => {
      const all = received(socket);
      socket.once('data', () => socket.write(`${head}first`));
      socket.on('data', () => all.text.endsWith('ping') && socket.end('pong'));
    });
    const { headers, connection } = await rig.get({ upgrade: 'echo' });
    expect(headers).toEqual(['connection', 'Upgrade', 'upgrade', 'Echo']);
    expect(connection?.readableFlowing).toBe(null);
    for (const event of ['data', 'error', 'drain']) expect(connection?.listenerCount(event)).toBe(0);
    expect(rig.pool.isEmpty).toBe(true);
    connection?.write('ping');
    let text = '';
    for await (const piece of connection ?? []) text += piece;
    expect(text).toBe('firstpong');
  });

  it('that refuses to switch is an answer as any other', async () => {
    rig = await UpstreamRig.start(answering('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno'));
    expect(await rig.get({ upgrade: 'websocket' })).toMatchObject({ status: 426, body: 'no', connection: null });
    await isEmpty(rig);
  });
});
