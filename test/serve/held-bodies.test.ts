/**
 * Clients that make a gateway hold bodies, of requests and of responses: others are served beside them
 * (docs/decisions.md#bodies-in-memory).
 */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from './fixture-plugin.ts';
import { compileSpec, type Gateway, withGateway } from './gateway.ts';
import { raw } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const KIB = 1 << 10;
/** More than a socket's buffers take in, which grow to 4 MiB. */
const BIG = 4.5 * (1 << 20);
const responses = { 200: { description: 'OK', content: { 'application/json': { schema: { type: 'string' } } } } };
const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };

function document(upstream: string) {
  const proxied = (more: object) => ({
    responses,
    ...more,
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
  });
  const mock = { name: 'mock', config: { body: 'ok' } };
  const transformer = { name: 'response-transformer', config: { body: { set: { '/seen': true } } } };
  return {
    openapi: '3.1.0',
    info: { title: 'Held bodies', version: '1' },
    paths: {
      '/bodies': { post: { requestBody, responses: {}, 'x-gw-dispatch': mock } },
      '/others': {
        get: { responses: {}, 'x-gw-dispatch': mock },
        post: { requestBody, responses: {}, 'x-gw-dispatch': mock },
      },
      '/waiting': { post: { ...proxied({ requestBody }), responses: {} } },
      '/kept': { get: { responses: {}, 'x-gw-dispatch': { name: 'caller', config: keeping(upstream) } } },
      '/dripping': { get: { ...proxied({ 'x-gw-validate-response': 'enforce' }) } },
      '/checked': { get: proxied({ 'x-gw-validate-response': 'enforce' }) },
      '/changed': { get: proxied({ 'x-gw-middlewares': [transformer] }) },
    },
  };
}

/** Keeps three values of 64 KiB for the request, and waits for an answer. */
const keeping = (upstream: string) => ({ url: `${upstream}/waiting`, context_values: 3, timeout_ms: 60_000 });

describe('bodies in memory', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      if (request.url?.startsWith('/waiting')) return;
      if (request.url?.startsWith('/dripping')) {
        response.setHeader('content-type', 'application/json');
        return void response.write(`"${'x'.repeat(100 * KIB)}`);
      }
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.headers['x-request-id'] === 'small' ? 'x' : 'x'.repeat(BIG)));
    });
    artifact = await compileSpec(
      document(upstream.url),
      ['mock', 'http-upstream', 'response-transformer'],
      [fixture('caller')],
    );
  });
  afterAll(async () => {
    await upstream?.close();
  });

  const serving = (args: readonly string[], work: (gw: Gateway) => Promise<void>) => withGateway(artifact, args, work);
  const portOf = (gw: Gateway) => Number(new URL(gw.url).port);

  /** One that sends so much of a longer body and then nothing; what it is answered with. */
  function stall(gw: Gateway, sockets: Socket[], bytes: number, answers: string[]): Promise<void> {
    const socket = connect(portOf(gw), '127.0.0.1');
    sockets.push(socket);
    socket.on('data', (chunk) => answers.push(String(chunk).slice(9, 12)));
    socket.on('error', () => {});
    const head = `POST /bodies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes + 100}\r\n\r\n`;
    return new Promise((resolve) => socket.write(`${head}{"a":"${'x'.repeat(bytes - 6)}`, () => resolve()));
  }

  /** The status that a client at another address gets. */
  function other(gw: Gateway, text: string): Promise<string> {
    const socket = connect({ port: portOf(gw), host: '127.0.0.1', localAddress: '127.0.0.2' });
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.once('data', (chunk) => {
        resolve(String(chunk).slice(9, 12));
        socket.destroy();
      });
      socket.write(text);
    });
  }
  const posting = (bytes: number, path = '/others') => {
    const body = JSON.stringify({ a: 'x'.repeat(bytes - 8) });
    return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };

  interface Waiting {
    readonly socket: Socket;
    status: string;
  }

  /** A request whose answer may never come. */
  function waiting(gw: Gateway, text: string): Waiting {
    const socket = connect(portOf(gw), '127.0.0.1', () => socket.write(text));
    const state: Waiting = { socket, status: '' };
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      state.status = String(chunk).slice(9, 12);
    });
    return state;
  }

  it('that do not go on give way, the slowest of the address with most, and not the newcomer', async () => {
    await serving(['--max-buffered-bytes', String(400 * KIB)], async (gw) => {
      const sockets: Socket[] = [];
      const answers: string[] = [];
      for (let i = 0; i < 20; i++) await stall(gw, sockets, 40 * KIB, answers);
      // Ten fit: each that came later has ended one before it.
      await eventually(async () => expect(answers.length).toBeGreaterThanOrEqual(10));
      const statuses = await Promise.all(Array.from({ length: 20 }, (_, i) => other(gw, posting(200 + i * 500))));
      expect(new Set(statuses)).toEqual(new Set(['200']));
      expect(new Set(answers)).toEqual(new Set(['408']));
      expect((await fetch(`${gw.url}/others`)).status).toBe(200);
      const metrics = await (await fetch(`${gw.admin}/metrics`)).text();
      expect(metrics).not.toMatch(/path="\/others".*status="(408|503)"/);
      expect(metrics).toMatch(/path="\/bodies".*status="408"/);
      for (const socket of sockets) socket.destroy();
    });
  });

  it.each([
    ['that have come, and wait for an upstream,', 10, 400, (gw: Gateway) => waiting(gw, posting(40 * KIB, '/waiting'))],
    [
      'and what plugins keep for requests',
      2,
      390,
      (gw: Gateway) => waiting(gw, 'GET /kept HTTP/1.1\r\nHost: x\r\n\r\n'),
    ],
  ])('%s give way to clients that hold less, and not to their own', async (_, most, room, hold) => {
    await serving(['--max-buffered-bytes', String(room * KIB)], async (gw) => {
      const before = upstream.seen.length;
      const held = Array.from({ length: most }, () => hold(gw));
      await eventually(async () => expect(upstream.seen.length - before).toBe(most));
      const more = hold(gw);
      await eventually(async () => expect(more.status).toBe('503'));
      expect(held.map(({ status }) => status)).toEqual(held.map(() => ''));
      for (let i = 0; i < 20; i++) expect(await other(gw, posting(200 + i * 500))).toBe('200');
      expect(new Set(held.map(({ status }) => status))).toEqual(new Set(['', '503']));
      for (const { socket } of [...held, more]) socket.destroy();
    });
  });

  it('of responses that an upstream does not end give way to clients that hold less', async () => {
    await serving(['--max-held-response-bytes', String(350 * KIB)], async (gw) => {
      const text = 'GET /dripping HTTP/1.1\r\nHost: x\r\n\r\n';
      const held = Array.from({ length: 4 }, () => waiting(gw, text));
      const refused = () => held.filter(({ status }) => status === '503').length;
      // Three fit.
      await eventually(async () => expect(refused()).toBe(1));
      const newcomer = connect({ port: portOf(gw), host: '127.0.0.1', localAddress: '127.0.0.2' });
      newcomer.on('error', () => {}).write(text);
      await eventually(async () => expect(refused()).toBe(2));
      newcomer.destroy();
      for (const { socket } of held) socket.destroy();
    });
  });

  it('have a deadline, which those of other requests are not held up by', async () => {
    await serving(['--body-deadline', '0.3', '--min-body-rate', '0'], async (gw) => {
      const { socket, all } = raw(portOf(gw));
      socket.write(
        'POST /bodies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
      );
      const dribbling = setInterval(() => socket.write(' '), 10);
      expect(
        (
          await fetch(`${gw.url}/others`, {
            method: 'POST',
            body: '{}',
            headers: { 'content-type': 'application/json' },
          })
        ).status,
      ).toBe(200);
      const answer = await all;
      clearInterval(dribbling);
      expect(answer).toContain('HTTP/1.1 408');
      expect(answer).toContain('did not arrive within 0.3 seconds');
    });
  });

  it.each(['/checked', '/changed'])('of responses have a budget until clients have read them: %s', async (path) => {
    // Room for three of them.
    const limits = ['--max-held-response-bytes', String(Math.round(3.5 * BIG)), '--send-timeout', '0'];
    // What the plugin does to so large a body is not what this is about.
    const args = [...limits, '--plugin-cpu-ms', '5000'];
    await serving(args, async (gw) => {
      const sockets: Socket[] = [];
      let ended = 0;
      for (let i = 0; i < 12; i++) {
        const before = upstream.seen.length;
        const socket = connect(portOf(gw), '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`));
        sockets.push(socket);
        socket.pause();
        socket.on('error', () => {});
        socket.on('close', () => ended++);
        await eventually(async () => expect(upstream.seen.length).toBeGreaterThan(before));
      }
      // A paused socket sees its end only by writing. How many fit into buffers of the kernel, nobody knows.
      await eventually(async () => {
        for (const socket of sockets) if (!socket.destroyed) socket.write('\r\n');
        expect(ended).toBeGreaterThanOrEqual(1);
      });
      const small = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: small\r\n\r\n`;
      for (let i = 0; i < 5; i++) expect(await other(gw, small)).toBe('200');
      expect(await other(gw, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)).toBe('200');
      for (const socket of sockets) socket.destroy();
    });
  });

  it('of responses that there is no room for are 503, and take none from others', async () => {
    await serving(['--max-held-response-bytes', String(BIG / 2)], async (gw) => {
      expect((await fetch(`${gw.url}/checked`)).status).toBe(503);
      const small = { headers: { 'x-request-id': 'small' } };
      for (let i = 0; i < 3; i++) expect((await fetch(`${gw.url}/checked`, small)).status).toBe(200);
      expect((await fetch(`${gw.url}/checked`)).status).toBe(503);
    });
  });
});
