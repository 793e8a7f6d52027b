/** Connections that clients keep, and an operator who wants them elsewhere: they end with an answer, and none is lost. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'Kept', version: '1' },
  paths: {
    '/a': { get: { responses: {}, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } } },
  },
};
const CONNECTIONS = 8;

describe.each([1, 2])('connections that are kept, with %i worker(s),', (workers) => {
  let gw: Gateway;
  let agent: Agent;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(document, ['mock']), { args: ['--workers', String(workers)] });
  });
  afterAll(() => gw?.stop());
  afterEach(() => agent?.destroy());

  const close = (body: object) =>
    fetch(`${gw.admin}/connections/close`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  /** Status, `Connection`, and the port that it came from. */
  async function get(): Promise<readonly [number | undefined, string | undefined, number | undefined]> {
    const asked = request(`${gw.url}/a`, { agent }).end();
    const [response] = await once(asked, 'response');
    const { localPort } = asked.socket ?? {};
    response.resume();
    await once(response, 'end');
    return [response.statusCode, response.headers.connection, localPort];
  }
  const all = () => Promise.all(Array.from({ length: CONNECTIONS }, get));

  it('end with their next answers, and those that come after are kept', async () => {
    agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const before = await all();
    expect(new Set(before.map(([, , port]) => port)).size).toBe(CONNECTIONS);
    expect((await close({ within_seconds: 0 })).status).toBe(200);
    await eventually(async () => {
      const answers = await all();
      expect(answers.map(([status, connection]) => [status, connection])).toEqual(
        answers.map(() => [200, 'keep-alive']),
      );
      expect(answers.some(([, , port]) => before.some(([, , old]) => old === port))).toBe(false);
    });
  });

  it('are kept until a moment of their own comes', async () => {
    agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    await all();
    expect((await close({ within_seconds: 3600 })).status).toBe(200);
    const answers = await all();
    expect(answers.filter(([, connection]) => connection === 'keep-alive').length).toBeGreaterThan(CONNECTIONS / 2);
  });

  it('of HTTP/2 hear of their end with their next request, which is answered', async () => {
    const [busy, idle] = [connect(gw.url), connect(gw.url)];
    const over = [busy, idle].map((session) => Promise.all([once(session, 'goaway'), once(session, 'close')]));
    const ask = async (session: typeof busy) => {
      const stream = session.request({ ':path': '/a' });
      const [headers] = await once(stream, 'response');
      stream.resume();
      await once(stream, 'end');
      return headers[':status'];
    };
    expect(await Promise.all([busy, busy, idle].map(ask))).toEqual([200, 200, 200]);
    expect((await close({ within_seconds: 0 })).status).toBe(200);
    expect(await Promise.all([busy, busy, idle].map(ask))).toEqual([200, 200, 200]);
    await Promise.all(over);
  });

  it('of HTTP/2 say of what a client sends meanwhile that it was not served, so that it may go elsewhere', async () => {
    const socket = raw(gw.url);
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS)]));
    socket.write(frame(HEADERS, 5, 1, GET));
    await socket.until((frames) => frames.some(({ type, stream }) => type === HEADERS && stream === 1));
    expect((await close({ within_seconds: 0 })).status).toBe(200);
    // A worker hears of it a moment later: it is told by the first request that is not answered at once.
    const asked = [1];
    let ping: Frame | undefined;
    while (!ping) {
      const id = (asked.at(-1) ?? 0) + 2;
      asked.push(id);
      socket.write(frame(HEADERS, 5, id, GET));
      const isPing = ({ type, flags }: Frame) => type === PING && flags === 0;
      const seen = await socket.until((frames) =>
        frames.some((one) => isPing(one) || (one.stream === id && (one.flags & 1) === 1)),
      );
      ping = seen.find(isPing);
    }
    const last = asked.at(-1) ?? 0;
    socket.write(Buffer.concat([frame(HEADERS, 5, last + 2, GET), frame(PING, 1, 0, ping.payload)]));
    const all = await socket.end;
    const ended = all.filter(({ flags, stream }) => stream > 0 && flags & 1).map(({ stream }) => stream);
    const named = all.filter(({ type }) => type === GOAWAY).map(({ payload }) => payload.readUInt32BE(0));
    expect([ended, named.at(0), named.at(-1)]).toEqual([asked, 2 ** 31 - 1, last]);
  });

  it('are closed by POST with a time, and by nothing else', async () => {
    expect((await close({ within_seconds: -1 })).status).toBe(400);
    expect((await close({})).status).toBe(400);
    const read = await fetch(`${gw.admin}/connections/close`);
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

const [HEADERS, SETTINGS, PING, GOAWAY] = [1, 4, 6, 7] as const;
/** `GET http://a/`: names and values of HPACK's static table, but for the authority. */
const GET = Buffer.from([0x82, 0x86, 0x84, 0x01, 1, 0x61]);

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** RFC 9113, section 4.1. */
function frame(type: number, flags = 0, stream = 0, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A connection by hand. */
function raw(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connectSocket(Number(port), hostname);
  const frames: Frame[] = [];
  let rest = Buffer.alloc(0);
  let look = () => {};
  const end = new Promise<readonly Frame[]>((resolve, reject) => {
    // A reset may take with it what was sent before.
    socket.on('error', reject).on('end', () => resolve(frames));
  });
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const length = 9 + rest.readUIntBE(0, 3);
      const [type = 0, flags = 0] = rest.subarray(3, 5);
      frames.push({ type, flags, stream: rest.readUInt32BE(5), payload: rest.subarray(9, length) });
      rest = rest.subarray(length);
    }
    look();
  });
  return {
    /** All that came; rejects where it ends with a reset. */
    end,
    write: (bytes: Uint8Array) => socket.write(bytes),
    /** All that came, once it fits. Rejects where the connection ends before. */
    until: (fits: (frames: readonly Frame[]) => boolean) =>
      new Promise<readonly Frame[]>((resolve, reject) => {
        look = () => {
          if (fits(frames)) resolve(frames);
        };
        socket.once('close', () =>
          reject(new Error(`it ended after ${JSON.stringify(frames.map(({ type }) => type))}`)),
        );
        look();
      }),
  };
}
