/** Requests leave nothing in the old generation of V8 (docs/decisions.md#requests-stay-young). */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const CONNECTIONS = 32;
const REQUESTS = 12_000;
/** Rounds for each process: workers share the requests of a round. */
const MOST_ROUNDS = 6;
/** Bytes a request. Anything that keeps requests promotes them whole, which are thousands each. */
const MOST_PROMOTED = 500;
/** The same for requests with a call that may be suspended: V8 makes 380 bytes of each in the old generation at once. */
const MOST_PROMOTED_SUSPENDABLE = 1_000;

const upstream = createServer((incoming, response) => {
  incoming.resume().on('end', () => response.end('{"answer":42}'));
});
const folder = mkdtempSync(join(tmpdir(), 'gw-promoted-'));
const file = join(folder, 'promoted');
let artifact: Uint8Array;
let gateway: Gateway | null = null;

beforeAll(async () => {
  await new Promise<void>((listening) => upstream.listen(0, '127.0.0.1', listening));
  const address = upstream.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const proxied = { name: 'http-upstream', config: { url: `http://127.0.0.1:${port}` } };
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const plain = { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': proxied };
  const limit = { name: 'rate-limit', config: { quota: 1_000_000, window: 60 } };
  const operation = { ...plain, 'x-gw-middlewares': [limit] };
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  const paths = { '/things': { get: operation, post: { ...operation, requestBody } }, '/plain': { get: plain } };
  artifact = await compileSpec({ openapi: '3.1.0', info: { title: 'Things', version: '1' }, paths }, [
    'http-upstream',
    'rate-limit',
  ]);
});

afterEach(async () => {
  await gateway?.stop();
  gateway = null;
});

afterAll(async () => {
  await new Promise((closed) => upstream.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

describe('requests under load', () => {
  it.each([
    ['without a body', 1, 'GET /things', undefined, MOST_PROMOTED],
    ['with a body that is validated', 1, 'POST /things', '{"name":"Ada"}', MOST_PROMOTED],
    ['by workers', 2, 'GET /plain', undefined, MOST_PROMOTED],
    ['by workers with a shared limit', 2, 'GET /things', undefined, MOST_PROMOTED_SUSPENDABLE],
  ])('are collected young: %s', async (_, workers, target, body, most) => {
    const preload = pathToFileURL(join(import.meta.dirname, 'promoted-bytes.mjs'));
    gateway = await startGateway(artifact, {
      args: ['--log-level', 'info', '--workers', String(workers)],
      env: { NODE_OPTIONS: `--import ${preload}`, PROMOTED_FILE: file },
    });
    const pids = workers === 1 ? [gateway.pid] : workersOf(gateway.pid);
    expect(pids).toHaveLength(workers);
    // What was made at the start keeps requests until V8 first collects all, a few rounds later. A defect keeps them in
    // each round.
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < MOST_ROUNDS * workers && least > most; round++) {
      await load(gateway.url, target, body);
      least = Math.min(least, (await promoted(pids)) / REQUESTS);
    }
    expect(least).toBeLessThan(most);
  });
});

/** Returns the worker processes of a gateway, by Linux's list of its children. */
function workersOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children.filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').startsWith('gw worker'));
}

/** Returns the bytes that the old generations of processes have grown by since the last call. */
async function promoted(pids: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const pid of pids) {
    const written = `${file}.${pid}`;
    rmSync(written, { force: true });
    process.kill(pid, 'SIGUSR2');
    await eventually(() => existsSync(written) && readFileSync(written, 'utf8') !== '');
    bytes += Number(readFileSync(written, 'utf8'));
  }
  return bytes;
}

/** Sends all requests, as many at once as there are connections. */
async function load(url: string, target: string, body: string | undefined): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const [method, path] = target.split(' ');
  let left = REQUESTS;
  const one = () =>
    new Promise<void>((done, failed) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
        if (response.statusCode !== 200) failed(new Error(`status ${response.statusCode}`));
        response.resume().on('end', done);
      });
      sent.on('error', failed).end(body);
    });
  const connection = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  agent.destroy();
}
