/**
 * An upstream whose answers are nearly right, beside clients that leave at any moment: each request has an end, and the
 * gateway serves others.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MisbehavingPeer } from '../misbehaving-peer.ts';
import { mutated } from '../mutations.ts';
import { propertyRuns } from '../property-runs.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const TIMEOUT_S = 0.3;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n3\r\nabc\r\n0\r\n';
const ANSWERS = [
  `${CHUNKED}x-sum: 1\r\n\r\n`,
  `${CHUNKED}${'x-sum: 1\r\n'.repeat(200)}\r\n`,
  `${CHUNKED}content-length: 9\r\ntransfer-encoding: chunked\r\nset-cookie: a=b\r\n\r\n`,
  'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nabc',
  'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end',
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 5\r\n\r\n',
].map((text) => Buffer.from(text, 'latin1'));
const TOKENS = ['\r\n', '\n', '\r', '\0', ': ', '0\r\n\r\n', 'ffffffff', '-1', ';', '\x80', 'HTTP/1.1 200 OK\r\n\r\n'];

const REQUESTS = [
  'GET /stream HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\n\r\n',
  'HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /held HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST /stream HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc',
  'POST /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx-sum: 1\r\n\r\n',
  'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\nmore',
  `GET /stream HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nabc`,
].map((text) => Buffer.from(text, 'latin1'));

type End = 'close' | 'reset' | 'stay';
const end = fc.constantFrom<End>('close', 'reset', 'stay');

function leave(socket: Socket, how: End): void {
  if (how === 'close') socket.end();
  if (how === 'reset') socket.resetAndDestroy();
}

let answer: { bytes: Buffer; end: End } = { bytes: Buffer.alloc(0), end: 'stay' };
let upstream: MisbehavingPeer;
let gw: Gateway;

beforeAll(async () => {
  upstream = await MisbehavingPeer.start((socket) => {
    socket.once('data', () => socket.write(answer.bytes, () => leave(socket, answer.end)));
  });
  const dispatch = { name: 'http-upstream', config: { url: `http://${upstream.address}`, timeout: TIMEOUT_S } };
  const operation = { responses: {}, 'x-gw-dispatch': dispatch };
  const body = { content: { '*/*': {} } };
  const held = { 200: { description: '', content: { 'application/json': { schema: { type: 'object' } } } } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Lies', version: '1' },
    paths: {
      '/stream': { get: operation, head: operation, post: { ...operation, requestBody: body } },
      '/held': { get: { ...operation, responses: held, 'x-gw-validate-response': 'enforce' } },
      '/other': { get: { responses: {}, 'x-gw-dispatch': { name: 'mock', config: { body: 'here' } } } },
    },
  };
  const limits = ['--headers-timeout', '0.5', '--body-timeout', '0.5', '--keepalive-timeout', '0.5'];
  gw = await startGateway(await compileSpec(document, ['http-upstream', 'mock']), { args: limits });
});
afterAll(async () => {
  await gw?.stop();
  upstream?.close();
});

it('costs its own request, whatever it sends and however it ends', async () => {
  const { port } = new URL(gw.url);
  await fc.assert(
    fc.asyncProperty(
      mutated(ANSWERS, TOKENS),
      end,
      mutated(REQUESTS, ['\r\n', ' ', '\0', 'CONNECT']),
      end,
      async (bytes, upstreamEnd, request, clientEnd) => {
        answer = { bytes, end: upstreamEnd };
        const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
        const closed = once(socket, 'close');
        socket.resume();
        socket.write(request, () => leave(socket, clientEnd));
        await closed;
        expect(await (await fetch(`${gw.url}/other`)).text()).toBe('here');
      },
    ),
    { ...propertyRuns(60), timeout: 20_000 },
  );
});
