/**
 * Clients that stop at any byte of a request: they go silent, close their side, or reset the connection. Each gets its
 * answer within the time that the options give it, and nothing is left of it
 * (docs/reference/gateway.md#slow-clients).
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { eventually } from '../eventually.ts';
import { fixture } from './fixture-plugin.ts';
import { compileSpec } from './gateway.ts';
import { type GatewayHere, startGatewayHere } from './gateway-here.ts';
import { DATA, END_HEADERS, END_STREAM, frame, HEADERS, literal, PREFACE, SETTINGS, WHOLE } from './http2-frames.ts';
import { KEY } from './web-sockets.ts';

/** Seconds of every limit of the gateway, and milliseconds at most until an answer is there. */
const TIMEOUT = 0.25;
const LATEST_MS = 20_000;
const BUFFERED_BYTES = 64 << 10;

const HEAD = 'HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n';
const CHUNKS =
  'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n6;a=1\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n';
const SIZED = 'Content-Length: 11\r\n\r\nhello world';

/** Requests of a connection, one after another, each whole. */
const CONNECTIONS: Readonly<Record<string, readonly string[]>> = {
  GET: ['GET /mock HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\r\n'],
  'a body that a plugin holds': [`POST /held ${HEAD}${SIZED}`],
  'a body that goes on to the upstream': [`POST /passed ${HEAD}${SIZED}`],
  'chunks with a trailer that a plugin holds': [`POST /held ${HEAD}${CHUNKS}`],
  'chunks with a trailer that go on to the upstream': [`POST /passed ${HEAD}${CHUNKS}`],
  'a body that is expected': [`POST /held ${HEAD}Expect: 100-continue\r\n${SIZED}`],
  'requests at once': [
    'GET /mock HTTP/1.1\r\nHost: a\r\n\r\n',
    `POST /held ${HEAD}${SIZED}`,
    `POST /passed ${HEAD}${CHUNKS}`,
  ],
  'a request for another protocol': [
    `GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`,
  ],
};

const fields = (method: string, path: string) =>
  Buffer.concat([
    ...[literal(':method', method), literal(':scheme', 'http'), literal(':path', path), literal(':authority', 'a')],
    literal('content-type', 'text/plain'),
  ]);
const HTTP2 = Buffer.concat([
  ...[PREFACE, frame(SETTINGS, 0, 0), frame(HEADERS, WHOLE, 1, fields('GET', '/mock'))],
  ...[frame(HEADERS, END_HEADERS, 3, fields('POST', '/held')), frame(DATA, 0, 3, Buffer.from('hello'))],
  ...[frame(HEADERS, END_HEADERS, 5, fields('POST', '/passed')), frame(DATA, END_STREAM, 5, Buffer.from('hello'))],
  frame(DATA, END_STREAM, 3, Buffer.from(' world')),
]).toString('latin1');

type End = 'goes silent' | 'closes its side' | 'resets the connection';

interface Stopped {
  /** Statuses but for 100. */
  readonly statuses: readonly string[];
  readonly elapsedMs: number;
}

describe('clients that stop at any byte', () => {
  let gw: GatewayHere;
  let upstream: Server;
  let sockets: WebSocketServer;
  /** Requests that the upstream has not answered, nor lost. */
  let underWay = 0;
  let resources = new Map<string, number>();

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      underWay++;
      response.on('close', () => underWay--);
      request.on('error', () => {});
      request.resume().on('end', () => response.end('ok'));
    });
    sockets = new WebSocketServer({ server: upstream });
    sockets.on('connection', (socket) => socket.on('error', () => {}));
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const { port } = upstream.address() as AddressInfo;
    const responses = { 200: { description: 'OK' } };
    const requestBody = { content: { 'text/plain': { schema: { type: 'string' } } } };
    const passed = { name: 'http-upstream', config: { url: `http://127.0.0.1:${port}` } };
    const socket = { name: 'ws-upstream', config: { url: `ws://127.0.0.1:${port}` } };
    const mock = { name: 'mock', config: { body: 'ok' } };
    const held = [{ name: 'body-reverser', config: {} }];
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Stopped clients', version: '1' },
        paths: {
          '/mock': { get: { responses, 'x-gw-dispatch': mock } },
          '/held': { post: { requestBody, responses, 'x-gw-middlewares': held, 'x-gw-dispatch': mock } },
          '/passed': { post: { responses, 'x-gw-dispatch': passed } },
          '/socket': { get: { responses, 'x-gw-dispatch': socket } },
        },
      },
      ['mock', 'http-upstream', 'ws-upstream'],
      [fixture('body-reverser')],
    );
    gw = await startGatewayHere(artifact, {
      headersTimeout: TIMEOUT,
      bodyTimeout: TIMEOUT,
      keepaliveTimeout: TIMEOUT,
      sendTimeout: TIMEOUT,
      maxBufferedBytes: BUFFERED_BYTES,
    });
    // Every part that starts late has started, and is no client's.
    for (const connection of Object.values(CONNECTIONS)) await stop(connection.join(''), 'closes its side');
    await nothingOpen();
    await eventually(() => expect(activeResources().get('TCPSocketWrap')).toBe(undefined));
    resources = activeResources();
  });
  afterAll(async () => {
    await gw?.stop();
    sockets?.close();
    upstream?.closeAllConnections();
    upstream?.close();
  });

  /** Sends so much, and then ends so; waits until the gateway has ended the connection. */
  function stop(text: string, end: End): Promise<Stopped> {
    const from = performance.now();
    let received = '';
    const socket = connect({ port: gw.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
    socket.on('connect', () => {
      if (text !== '') socket.write(text, 'latin1');
      if (end === 'closes its side') socket.end();
      if (end === 'resets the connection') void reset(socket);
    });
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${JSON.stringify(text)} has no end: ${received}`)), LATEST_MS);
      const ended = () => {
        clearTimeout(late);
        const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);
        resolve({ statuses: statuses.filter((each) => each !== '100'), elapsedMs: performance.now() - from });
        socket.destroy();
      };
      socket.on('end', ended).on('close', ended);
    });
  }

  /** Ends of this kind, at each byte of the text. */
  const stopAtEach = (text: string, end: End) =>
    Promise.all(Array.from({ length: text.length + 1 }, (_, at) => stop(text.slice(0, at), end)));

  /** Connections, requests, plugin instances and memory of headers are gone. */
  async function nothingOpen(): Promise<void> {
    await eventually(async () => {
      upstream.closeIdleConnections();
      const gauges = ['gw_active_connections', 'gw_websocket_connections', 'gw_held_header_bytes'];
      const plugins = ['gw_plugin_instances_busy', 'gw_plugin_queue'];
      const open = await Promise.all([...gauges, ...plugins].map((name) => gw.metric(name)));
      expect([...open, underWay, sockets.clients.size]).toEqual([0, 0, 0, 0, 0, 0, 0]);
    });
  }

  /** Nor is there a socket or a timer, nor memory of bodies. */
  async function nothingLeft(): Promise<void> {
    await nothingOpen();
    await eventually(() => expect(activeResources()).toEqual(resources));
    const length = BUFFERED_BYTES - 2048;
    const { statuses } = await stop(
      `POST /held ${HEAD}Content-Length: ${length}\r\n\r\n${'x'.repeat(length)}`,
      'goes silent',
    );
    expect(statuses).toEqual(['200']);
  }

  const names = Object.keys(CONNECTIONS);

  it.each(names)('and go silent are answered in time, and leave nothing: %s', async (name) => {
    const requests = CONNECTIONS[name] ?? [];
    const isSocket = name === 'a request for another protocol';
    const whole = requests.join('');
    // An open WebSocket may be silent.
    const text = isSocket ? whole.slice(0, -1) : whole;
    const stopped = await stopAtEach(text, 'goes silent');
    expect(stopped.map(({ statuses }) => statuses)).toEqual(stopped.map((_, at) => answersTo(requests, at)));
    await nothingLeft();
  });

  it.each(names)('and close their side have left, and leave nothing: %s', async (name) => {
    const requests = CONNECTIONS[name] ?? [];
    const left = await gw.metric('gw_requests_total', 'status="499"');
    const stopped = await stopAtEach(requests.join(''), 'closes its side');
    for (const [at, { statuses }] of stopped.entries()) {
      // The end may come before the last answer has left.
      const answers = answersTo(requests, at).filter((each) => each === '200');
      expect(answers.slice(0, statuses.length)).toEqual(statuses.filter((each) => each !== '101'));
    }
    await nothingLeft();
    const leaving = (await gw.metric('gw_requests_total', 'status="499"')) - left;
    // The gateway reads a later request only after it has answered the first.
    if (requests.length === 1) expect(leaving).toBeGreaterThanOrEqual(cutsWithinBodies(requests));
  });

  it.each(names)('and reset the connection leave nothing: %s', async (name) => {
    await stopAtEach((CONNECTIONS[name] ?? []).join(''), 'resets the connection');
    await nothingLeft();
  });

  it.each<End>(['goes silent', 'closes its side', 'resets the connection'])(
    'leave nothing of a connection of HTTP/2 that %s',
    async (end) => {
      await stopAtEach(HTTP2, end);
      await nothingLeft();
    },
  );
});

/** Gives the gateway time to read what was sent: a reset may discard it. */
async function reset(socket: Socket): Promise<void> {
  await pause(20);
  socket.resetAndDestroy();
}

/** Statuses that a silent client gets behind so many bytes: of its whole requests, and of the one that it began. */
function answersTo(requests: readonly string[], bytes: number): string[] {
  const answers: string[] = [];
  let left = bytes;
  for (const { length } of requests) {
    if (left < length) return left > 0 ? [...answers, '408'] : answers;
    answers.push('200');
    left -= length;
  }
  return answers;
}

/** Places behind a head, and before the end of its body. */
function cutsWithinBodies(requests: readonly string[]): number {
  return requests.reduce((sum, each) => sum + Math.max(0, each.length - each.indexOf('\r\n\r\n') - 4), 0);
}

/** What keeps the process going, by kind. */
function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of process.getActiveResourcesInfo()) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
}
