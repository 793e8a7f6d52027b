import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { answering, RecordedAnswer, UpstreamRig } from '../../../../test/upstream-rig.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

let rig: UpstreamRig | null = null;
afterEach(() => {
  rig?.close();
  rig = null;
});

/** Answers that cannot be received, with the reason. */
const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!', /not valid.*Content-Length/i],
  [
    'equal lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
    /not valid.*Content-Length/i,
  ],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok', /not valid.*Content-Length/i],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok', /not valid.*Content-Length/i],
  [
    'a length with chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    /not valid/,
  ],
  [
    'chunks with a length',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    /not valid/,
  ],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok', /not valid/],
  ['chunks inside of another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\nok', /not valid/],
  ['a bare LF in the head', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', /not valid/],
  ['a bare LF behind a header', 'HTTP/1.1 200 OK\r\nX: y\nContent-Length: 2\r\n\r\nok', /not valid/],
  ['a bare CR', 'HTTP/1.1 200 OK\r\nX: y\rContent-Length: 2\r\n\r\nok', /not valid/],
  ['NUL in a value', 'HTTP/1.1 200 OK\r\nX: y\0\r\nContent-Length: 2\r\n\r\nok', /not valid/],
  ['a folded header', 'HTTP/1.1 200 OK\r\nX: y\r\n z\r\nContent-Length: 2\r\n\r\nok', /not valid/],
  ['white space before a colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok', /not valid/],
  ['a bare LF behind a chunk', `${CHUNKED}2\nok\n0\n\n`, /not valid/],
  ['a chunk that is longer than it says', `${CHUNKED}2\r\nokay\r\n0\r\n\r\n`, /not valid/],
  ['a chunk of no number', `${CHUNKED}two\r\nok\r\n0\r\n\r\n`, /not valid/],
  ['a chunk of too many bytes', `${CHUNKED}ffffffffffffffffff\r\nok`, /not valid/],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', /not valid/],
  ['HTTP/2', '\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64', /not valid/],
  ['TLS', '\x15\x03\x03\0\x02\x02\x46', /not valid/],
  ['a request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', /not valid/],
  ['no status', 'HTTP/1.1 OK\r\n\r\n', /not valid/],
  ['a status below 100', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n', /not valid: the status is below 100/],
  ['100 without a request that waits', `HTTP/1.1 100 Continue\r\n\r\n${OK}`, /not valid.*\(100\)/],
  [
    'a protocol that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    /switches to no protocol that was asked for/,
  ],
  ['101 without a protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', /switches to no protocol that was asked for/],
  ['a head of 65 KiB', `HTTP/1.1 200 OK\r\n${`X: ${'y'.repeat(1022)}\r\n`.repeat(65)}\r\n`, /not valid.*too large/],
  ['a header of 65 KiB', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(65 << 10)}`, /not valid.*too large/],
  ['a status line of 65 KiB', `HTTP/1.1 200 ${'y'.repeat(65 << 10)}`, /not valid.*too large/],
  ['trailers of 65 KiB', `${CHUNKED}0\r\n${`X: ${'y'.repeat(1022)}\r\n`.repeat(65)}`, /not valid/],
  ['chunk extensions of 17 KiB', `${CHUNKED}2;${'e'.repeat(17 << 10)}\r\nok`, /not valid/],
];

/** Answers that break off with the connection. */
const CUT_OFF: readonly (readonly [string, string])[] = [
  ['within the head', 'HTTP/1.1 200 OK\r\nContent-'],
  ['before the body', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'],
  ['within a body of known length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok'],
  ['within a chunk', `${CHUNKED}3\r\nok`],
  ['between chunks', `${CHUNKED}2\r\nok\r\n`],
  ['within the trailers', `${CHUNKED}2\r\nok\r\n0\r\nX: y\r\n`],
  ['behind an informational response', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
];

/** The rig's connections to the upstream are gone. */
async function isEmpty({ peer, pool }: UpstreamRig): Promise<void> {
  await eventually(() => expect([peer.sockets.size, pool.isEmpty]).toEqual([0, true]));
}

describe('an upstream that sends', () => {
  it.each(REFUSED)('%s is an error, and its connection is gone', async (_, bytes, reason) => {
    rig = await UpstreamRig.start(answering(bytes));
    await expect(rig.get()).rejects.toThrow(reason);
    await isEmpty(rig);
  });

  it.each(REFUSED)('%s byte by byte is the same error', async (_, bytes, reason) => {
    rig = await UpstreamRig.start((socket) => socket.once('data', () => dribble(socket, bytes)));
    await expect(rig.get()).rejects.toThrow(reason);
    await isEmpty(rig);
  });

  it.each(CUT_OFF)('its end %s is an error', async (_, bytes) => {
    rig = await UpstreamRig.start((socket) => socket.once('data', () => socket.end(bytes, 'latin1')));
    await expect(rig.get()).rejects.toMatchObject({ code: 'GW_UPSTREAM_BROKE_OFF' });
    await isEmpty(rig);
  });

  it.each(CUT_OFF)('a reset %s is an error', async (_, bytes) => {
    rig = await UpstreamRig.start((socket) =>
      socket.once('data', () => socket.write(bytes, 'latin1', () => socket.resetAndDestroy())),
    );
    await expect(rig.get()).rejects.toMatchObject({ code: 'GW_UPSTREAM_BROKE_OFF' });
    await isEmpty(rig);
  });

  it('nothing, and ends the connection, has closed it before an answer', async () => {
    rig = await UpstreamRig.start((socket) => socket.once('data', () => socket.end()));
    await expect(rig.get()).rejects.toMatchObject({ code: 'GW_UPSTREAM_CLOSED' });
    await isEmpty(rig);
  });

  it('nothing at all is waited for until the request is given up', async () => {
    rig = await UpstreamRig.start(() => {});
    const answer = rig.send({});
    await eventually(() => expect(answer.controller).not.toBe(null));
    answer.controller?.abort(new Error('given up'));
    await expect(answer.whole).rejects.toThrow('given up');
    await isEmpty(rig);
  });

  it.each([
    ['informational responses', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
    ['chunks', '2\r\nok\r\n'],
  ])('%s without end is read no faster than the handler takes them', async (_, piece) => {
    const flood = piece.repeat(1000);
    const sent = { bytes: 0 };
    rig = await UpstreamRig.start((socket) =>
      socket.once('data', () => {
        if (piece.startsWith('2')) socket.write(CHUNKED);
        const go = () => {
          do sent.bytes += flood.length;
          while (!socket.destroyed && socket.write(flood));
        };
        socket.on('drain', go);
        go();
      }),
    );
    const answer = rig.send({}, new RecordedAnswer(piece.startsWith('2') ? 'data' : 'hint'));
    await eventually(() => expect(answer.hints.length + answer.pieces).toBe(1));
    const [socket] = rig.peer.sockets;
    await eventually(() => expect(socket?.writableNeedDrain).toBe(true));
    answer.controller?.resume();
    expect(answer.hints.length + answer.pieces).toBe(2);
    answer.controller?.abort(new Error('enough'));
    await expect(answer.whole).rejects.toThrow('enough');
    await isEmpty(rig);
  });
});

describe('bytes behind the end of an answer', () => {
  const behind = {
    'a second answer': `${OK}${OK}`,
    'an answer to come': `${OK}HTTP/1.1 200 OK\r\nContent-`,
    'a single byte': `${OK}!`,
    'an empty line': `${OK}\r\n`,
    'a body behind 204': `HTTP/1.1 204 No Content\r\n\r\n${OK}`,
    'an answer behind chunks': `${CHUNKED}2\r\nok\r\n0\r\n\r\n${OK}`,
  };
  it.each(Object.entries(behind))('end the connection: %s', async (_, bytes) => {
    rig = await UpstreamRig.start(answering(bytes));
    expect((await rig.get()).status).toBeLessThan(300);
    await isEmpty(rig);
  });

  it('end an idle connection, and are no answer to the next request', async () => {
    rig = await UpstreamRig.start((socket, number) => {
      socket.on('data', () => socket.write(number === 1 ? OK : OK.replace('ok', 'no')));
    });
    expect((await rig.get()).body).toBe('ok');
    await eventually(() => expect(rig?.pool.idle).toBe(1));
    for (const socket of rig.peer.sockets) socket.write(OK.replace('ok', 'XX'));
    await isEmpty(rig);
    expect((await rig.get()).body).toBe('no');
  });

  it('are no answer to a request that comes at once, even if they follow in a segment of their own', async () => {
    rig = await UpstreamRig.start((socket, number) => {
      socket.setNoDelay(true).on('data', () => {
        socket.write(number === 1 ? OK : OK.replace('ok', 'no'));
        if (number === 1) socket.write(OK.replace('ok', 'XX'));
      });
    });
    expect((await rig.get()).body).toBe('ok');
    expect((await rig.get()).body).toBe('no');
    expect((await rig.get()).body).toBe('no');
  });

  it('are not read from a connection that answered 304 or 204 with the length of a body', async () => {
    for (const status of ['204 No Content', '304 Not Modified']) {
      rig?.close();
      rig = await UpstreamRig.start(answering(`HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\n`));
      expect((await rig.get()).body).toBe('');
      await isEmpty(rig);
    }
  });
});

async function dribble(socket: Socket, bytes: string): Promise<void> {
  socket.setNoDelay(true);
  const long = bytes.length > 1000;
  const at = long ? bytes.length - 1000 : 0;
  if (long) socket.write(bytes.slice(0, at), 'latin1');
  for (const byte of bytes.slice(at)) {
    if (socket.destroyed) return;
    if (!socket.write(byte, 'latin1')) await once(socket, 'drain');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
