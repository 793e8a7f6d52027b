/** Large bodies on their way through the gateway: they pass whole, and take hardly any memory. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { download, upload } from '../bench/body-clients.ts';
import { watchMemory } from '../bench/resident-memory.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const BYTES = 256 << 20;
const SLOW_BYTES = 64 << 20;
/** Bytes a second that a slow upstream reads. */
const SLOW_RATE = 16 << 20;
/** Megabytes: buffers of sockets and streams, and what the collector has not taken yet. */
const MOST_MORE_MB = 64;

describe('large bodies', () => {
  let upstream: Worker;
  let gw: Gateway;

  beforeAll(async () => {
    upstream = new Worker(join(import.meta.dirname, '..', 'bench', 'body-upstream.ts'));
    const [upstreamPort]: number[] = await once(upstream, 'message');
    const dispatch = { name: 'http-upstream', config: { url: `http://127.0.0.1:${upstreamPort}`, timeout: 600 } };
    const operation = { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch };
    const parameters = [{ name: 'amount', in: 'path', required: true, schema: { type: 'string' } }];
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Large bodies', version: '1' },
        paths: { '/{amount}': { parameters, get: operation, post: operation } },
      },
      ['http-upstream'],
    );
    gw = await startGateway(artifact, { args: ['--max-body-size', String(BYTES)] });
    // Code and buffers that the first bodies bring are there.
    await Promise.all([upload(port(), '/all', 32 << 20), download(port(), `/${32 << 20}`)]);
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.terminate();
  });

  const port = () => Number(new URL(gw.url).port);

  /** Megabytes at most beside those before. */
  async function moreMemory(run: () => Promise<unknown>): Promise<number> {
    const before = watchMemory(gw.pid).stop().peakMb;
    const memory = watchMemory(gw.pid);
    await run();
    return memory.stop().peakMb - before;
  }

  it('pass whole in both directions at once, without memory of their length', async () => {
    const more = await moreMemory(async () => {
      const [sent, received] = await Promise.all([upload(port(), '/all', BYTES), download(port(), `/${BYTES}`)]);
      expect([Number(sent), received]).toEqual([BYTES, BYTES]);
    });
    expect(more).toBeLessThan(MOST_MORE_MB);
  });

  it('wait in their client for an upstream that reads slowly', async () => {
    const more = await moreMemory(async () => {
      const uploads = Array.from({ length: 4 }, () => upload(port(), `/${SLOW_RATE}`, SLOW_BYTES));
      expect((await Promise.all(uploads)).map(Number)).toEqual(Array(4).fill(SLOW_BYTES));
    });
    expect(more).toBeLessThan(MOST_MORE_MB);
  });
});
