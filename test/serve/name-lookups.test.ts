/** Upstreams whose name servers are silent, beside others (docs/decisions.md#name-lookups). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const SILENT_UPSTREAMS = 8;
const THREADS = 24;
const PRELOAD = pathToFileURL(join(import.meta.dirname, 'silent-names.ts')).href;

const operation = (url: string, timeout: number) => ({
  get: { responses: {}, 'x-gw-dispatch': { name: 'http-upstream', config: { url, timeout } } },
});

function artifactOf(upstream: Upstream): Promise<Uint8Array> {
  const { port } = new URL(upstream.url);
  const silent = Array.from({ length: SILENT_UPSTREAMS }, (_, n) => [
    `/silent-${n}`,
    operation(`http://api.silent-${n}.example:${port}`, 0.5),
  ]);
  const paths = { '/other': operation(`http://api.other.example:${port}`, 60), ...Object.fromEntries(silent) };
  return compileSpec({ openapi: '3.1.0', info: { title: 'Names', version: '1' }, paths }, ['http-upstream']);
}

describe('upstreams whose names are looked up without an end', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    // Each request needs a connection, and so a look-up.
    upstream = await startUpstream((_request, response) => response.setHeader('connection', 'close').end('other'));
    gw = await startGateway(await artifactOf(upstream), { env: { NODE_OPTIONS: `--import ${PRELOAD}` } });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  it.each([1, SILENT_UPSTREAMS])('leave others reachable: %i of them, with many clients', async (upstreams) => {
    const clients = Array.from(
      { length: 32 },
      async (_, n) => (await fetch(`${gw.url}/silent-${n % upstreams}`)).status,
    );
    for (let n = 0; n < 20; n++) expect(await (await fetch(`${gw.url}/other`)).text()).toBe('other');
    // In time, or for want of a turn or by the circuit breaker.
    expect([503, 504]).toEqual(expect.arrayContaining([...new Set(await Promise.all(clients))]));
  });
});

describe.skipIf(process.platform !== 'linux')('the pool of threads (needs Linux)', () => {
  const threadsOf = (pid: number) =>
    readdirSync(`/proc/${pid}/task`).filter(
      (thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim() === 'libuv-worker',
    ).length;

  it.each([
    ['one process', [], {}, THREADS],
    ['workers', ['--workers', '2'], {}, THREADS],
    ['a size that the environment says', [], { UV_THREADPOOL_SIZE: '7' }, 7],
  ])('is large enough for look-ups and files: %s', async (_, args, env, threads) => {
    const upstream = await startUpstream((_request, response) => response.end('other'));
    const gw = await startGateway(await artifactOf(upstream), { args, env });
    const workers = gw.log.filter(({ msg }) => msg === 'worker serving').map(({ pid }) => Number(pid));
    const serving = workers.length === 0 ? [gw.pid] : workers;
    // The pool starts with its first use; whatever a name leads to.
    await eventually(async () => {
      await (await fetch(`${gw.url}/other`, { headers: { connection: 'close' } })).text();
      expect(serving.map(threadsOf)).toEqual(serving.map(() => threads));
    });
    await gw.stop();
    await upstream.close();
  });
});
