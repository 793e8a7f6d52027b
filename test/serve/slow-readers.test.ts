/** Clients of `gw serve` that do not read what they asked for, or read it slowly; and how those are counted. */
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { h2, h2session, raw } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const BIG = 64 << 20;
const responses = { 200: { description: 'OK' } };

function document(upstream: string) {
  const proxied = { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } } };
  const body = 'x'.repeat(8 << 20);
  return {
    openapi: '3.1.0',
    info: { title: 'Slow', version: '1' },
    paths: {
      '/big': { get: proxied, put: proxied },
      '/held': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body } } } },
      '/hello': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } } } },
    },
  };
}

describe('clients that do not read', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  let gw: Gateway;
  const port = () => Number(new URL(gw.url).port);
  const counted = async (path: string, status: number) => {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    const line = text.split('\n').find((each) => {
      return each.startsWith('gw_requests_total') && each.includes(`path="${path}"`) && each.includes(`"${status}"`);
    });
    return Number(line?.split(' ')[1] ?? 0);
  };
  const residentMiB = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gw.pid}/status`, 'utf8'))?.[1]) / 1024;

  /** Resolves when the server has ended a connection on which nothing is read. */
  function unread(path: string): Promise<void> {
    const socket = connect(port(), '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`));
    socket.pause();
    return new Promise((resolve) => {
      socket.on('error', () => {});
      // A paused socket sees the end only by writing.
      const probe = setInterval(() => socket.write('\r\n'), 50);
      socket.on('close', () => {
        clearInterval(probe);
        resolve();
      });
    });
  }

  beforeAll(async () => {
    const big = Buffer.alloc(BIG);
    upstream = await startUpstream((_request, response) => void response.end(big));
    artifact = await compileSpec(document(upstream.url), ['http-upstream', 'mock']);
    gw = await startGateway(artifact, {
      args: ['--send-timeout', '0.5', '--body-timeout', '0.5'],
    });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
  });

  it('are cut off after --send-timeout, counted as 499, and hold little memory meanwhile', async () => {
    const before = residentMiB();
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, residentMiB());
    }, 20);
    await Promise.all(Array.from({ length: 20 }, () => unread('/big')));
    clearInterval(watching);
    expect(most - before).toBeLessThan(100);
    await expect.poll(() => counted('/big', 499)).toBe(20);
  });

  it('are cut off where the response stands in memory, too', async () => {
    await unread('/held');
    expect(await counted('/held', 200)).toBe(1);
  });

  it('lose their stream in HTTP/2, and only that', async () => {
    const session = await h2session(gw.url);
    const before = await counted('/big', 499);
    for (const path of ['/big', '/held']) {
      const stream = session.request({ ':path': path });
      const reset = new Promise<void>((resolve) => stream.on('error', () => resolve()));
      await new Promise((resolve) => stream.once('response', resolve));
      expect((await h2(session, { ':path': '/hello' })).status).toBe(200);
      await reset;
    }
    expect((await h2(session, { ':path': '/hello' })).status).toBe(200);
    await expect.poll(() => counted('/big', 499)).toBe(before + 1);
    session.close();
  });

  it('lose it also where they open no window for a short answer', async () => {
    const session = connectHttp2(gw.url, { settings: { initialWindowSize: 0 } });
    const stream = session.request({ ':path': '/hello' });
    await new Promise<void>((resolve) => stream.on('error', () => resolve()));
    session.close();
  });

  it('are left alone while they read, however slowly', async () => {
    // Longer than the time that TCP may hold progress back under load.
    const patient = await startGateway(artifact, { args: ['--send-timeout', '4'] });
    const { socket, all } = raw(Number(new URL(patient.url).port));
    socket.write('GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let bytes = 0;
    const startedAt = performance.now();
    socket.on('data', (text) => {
      bytes += text.length;
      if (performance.now() - startedAt > 7000) return;
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
    await all;
    expect(performance.now() - startedAt).toBeGreaterThan(7000);
    expect(bytes).toBeGreaterThan(BIG);
    expect(await patient.stop()).toBe(0);
  });

  it('count a body that does not go on as 408, not as 499', async () => {
    const { socket, all } = raw(port());
    socket.write('PUT /big HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhi');
    expect(await all).toMatch(/^HTTP\/1\.1 408 /);
    await expect.poll(() => counted('/big', 408)).toBe(1);
    const session = await h2session(gw.url);
    const stream = session.request({ ':path': '/big', ':method': 'PUT' });
    stream.write('hi');
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('response', resolve));
    await expect.poll(() => counted('/big', 408)).toBe(2);
    session.destroy();
  });
});
