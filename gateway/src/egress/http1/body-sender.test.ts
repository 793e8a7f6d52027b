import type { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { RecordedAnswer, received, UpstreamRig } from '../../../../test/upstream-rig.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let rig: UpstreamRig | null = null;
afterEach(() => {
  rig?.close();
  rig = null;
});

/** An upstream that answers when a request ends so, and keeps what it gets. */
async function answeringAfter(end: string) {
  const seen = { text: '' };
  rig = await UpstreamRig.start((socket: Socket) => {
    socket.on('data', (bytes) => {
      seen.text += bytes.toString('latin1');
      if (seen.text.endsWith(end)) socket.write(OK);
    });
  });
  return { rig, seen };
}

async function isEmpty({ peer, pool }: UpstreamRig): Promise<void> {
  await eventually(() => expect([peer.sockets.size, pool.isEmpty]).toEqual([0, true]));
}

describe('a body that streams', () => {
  it('goes in chunks, and its connection is kept', async () => {
    const { rig, seen } = await answeringAfter('0\r\n\r\n');
    const body = Readable.from([Buffer.from('first'), Buffer.alloc(0), Buffer.from('x'.repeat(16))]);
    expect((await rig.get({ method: 'POST', body })).body).toBe('ok');
    const [head, chunks] = seen.text.split('\r\n\r\n5');
    expect(head).toMatch(/^POST \/ HTTP\/1\.1\r\nhost: .*\r\nconnection: keep-alive\r\ntransfer-encoding: chunked$/);
    expect(chunks).toBe(`\r\nfirst\r\n10\r\n${'x'.repeat(16)}\r\n0\r\n\r\n`);
    await eventually(() => expect(rig.pool.idle).toBe(1));
  });

  it('goes as it is if its length is known', async () => {
    const { rig, seen } = await answeringAfter('body');
    const body = Readable.from([Buffer.from('bo'), Buffer.from('dy')]);
    expect((await rig.get({ method: 'PUT', headers: ['content-length', '4'], body })).body).toBe('ok');
    expect(seen.text).toMatch(/\r\ncontent-length: 4\r\n\r\nbody$/);
    await eventually(() => expect(rig.pool.idle).toBe(1));
  });

  it.each([
    ['POST', 'content-length: 0\r\n\r\n'],
    ['DELETE', 'connection: keep-alive\r\n\r\n'],
  ])('that is empty has no chunks: %s', async (method, end) => {
    const { rig, seen } = await answeringAfter('\r\n\r\n');
    await rig.get({ method, body: Readable.from([]) });
    expect(seen.text.endsWith(end)).toBe(true);
  });

  it('that has ended before there is a connection is sent', async () => {
    const { rig, seen } = await answeringAfter('\r\n\r\n');
    const body = Readable.from([]).resume();
    await eventually(() => expect(body.readableEnded).toBe(true));
    await rig.get({ method: 'POST', body });
    expect(seen.text).toMatch(/content-length: 0\r\n\r\n$/);
  });

  it.each([
    ['longer', 'three', /longer than its length/],
    ['shorter', 'one', /shorter than its length/],
  ])('and is %s than its length ends the connection', async (_, text, reason) => {
    const { rig, seen } = await answeringAfter('never');
    const body = Readable.from([Buffer.from(text.slice(0, 1)), Buffer.from(text.slice(1))]);
    await expect(rig.get({ method: 'POST', headers: ['content-length', '4'], body })).rejects.toThrow(reason);
    await isEmpty(rig);
    expect(seen.text.split('\r\n\r\n')[1]?.length ?? 0).toBeLessThan(4);
  });

  it('that breaks off ends the connection, with its error', async () => {
    const { rig, seen } = await answeringAfter('never');
    const body = new PassThrough();
    body.write('begun');
    const answer = rig.send({ method: 'POST', body });
    await eventually(() => expect(seen.text).toMatch(/begun/));
    body.destroy(new Error('the client went away'));
    await expect(answer.whole).rejects.toThrow('the client went away');
    await isEmpty(rig);
    expect(seen.text).not.toMatch(/0\r\n\r\n$/);
  });

  it.each([new Error('the client went away'), undefined])(
    'that breaks off before there is a connection is an error: %s',
    async (error) => {
      const { rig } = await answeringAfter('never');
      const body = new PassThrough();
      const answer = rig.send({ method: 'POST', body });
      body.destroy(error);
      await expect(answer.whole).rejects.toThrow(error?.message ?? 'broke off');
      await isEmpty(rig);
    },
  );

  it('is read no faster than the upstream takes it', async () => {
    rig = await UpstreamRig.start((socket) => socket.pause());
    let read = 0;
    const piece = Buffer.alloc(64 << 10);
    const body = new Readable({
      read() {
        read += piece.length;
        this.push(read > 256 << 20 ? null : piece);
      },
    });
    const answer = rig.send({ method: 'POST', body });
    await eventually(() => expect(body.isPaused()).toBe(true));
    expect(read).toBeLessThan(32 << 20);
    const [socket] = rig.peer.sockets;
    const before = read;
    socket?.resume();
    await eventually(() => expect(read).toBeGreaterThan(before));
    answer.controller?.abort(new Error('enough'));
    await expect(answer.whole).rejects.toThrow('enough');
    expect(body.destroyed).toBe(true);
    await isEmpty(rig);
  });

  it('is left, without an error, when the answer is whole before it, and the connection is not kept', async () => {
    rig = await UpstreamRig.start((socket) => socket.once('data', () => socket.write(OK)));
    const body = new PassThrough();
    body.write('begun');
    expect((await rig.get({ method: 'POST', body })).body).toBe('ok');
    await eventually(() => expect([body.destroyed, body.errored]).toEqual([true, null]));
    await isEmpty(rig);
  });

  it('that has not begun gets no answer: an early answer belongs to another request', async () => {
    rig = await UpstreamRig.start((socket) =>
      socket.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n'),
    );
    const body = new PassThrough();
    await expect(rig.get({ method: 'POST', body })).rejects.toThrow('it comes before the request');
    expect(body.destroyed).toBe(true);
    await isEmpty(rig);
  });

  it('that was paused is sent', async () => {
    const { rig, seen } = await answeringAfter('0\r\n\r\n');
    const body = Readable.from([Buffer.from('first')]).pause();
    await rig.get({ method: 'POST', body });
    expect(seen.text).toMatch(/\r\nfirst\r\n0\r\n\r\n$/);
  });

  it('goes on while the answer has begun', async () => {
    rig = await UpstreamRig.start((socket) => {
      const all = received(socket);
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n'));
      socket.on('data', () => all.text.endsWith('0\r\n\r\n') && socket.write('1\r\nk\r\n0\r\n\r\n'));
    });
    const body = new PassThrough();
    body.write('begun');
    const answer = rig.send({ method: 'POST', body });
    await eventually(() => expect(answer.body).toBe('o'));
    body.end('ended');
    expect((await answer.whole).body).toBe('ok');
    await eventually(() => expect(rig?.pool.idle).toBe(1));
  });

  it('is left when the upstream ends the connection', async () => {
    rig = await UpstreamRig.start((socket) => socket.once('data', () => socket.end()));
    const body = new PassThrough();
    body.write('begun');
    await expect(rig.get({ method: 'POST', body })).rejects.toMatchObject({ code: 'GW_UPSTREAM_CLOSED' });
    expect(body.destroyed).toBe(true);
    await isEmpty(rig);
  });

  it('is left when the request is given up before there is a connection', async () => {
    const { rig } = await answeringAfter('never');
    const body = new PassThrough();
    const answer = new (class extends RecordedAnswer {
      override start(controller: Parameters<RecordedAnswer['start']>[0]): void {
        controller.abort(new Error('given up'));
      }
    })();
    rig.send({ method: 'POST', body }, answer);
    await expect(answer.whole).rejects.toThrow('given up');
    expect(body.destroyed).toBe(true);
    await isEmpty(rig);
  });
});
