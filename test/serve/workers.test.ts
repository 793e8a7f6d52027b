/**
 * `gw serve --workers`: several processes serve one port, and what they count they count together
 * (docs/decisions.md#counted-over-workers).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { compileSpec, type Gateway, type LogLine, refusedStart, startGateway } from './gateway.ts';

const QUOTA = 20;

const artifact = (body: string) =>
  compileSpec(
    {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: {
        '/a': operation(body, []),
        '/limited': operation(body, [{ name: 'rate-limit', config: { quota: QUOTA, window: 60 } }]),
      },
    },
    ['mock', 'rate-limit'],
  );

const operation = (body: string, middlewares: readonly object[]) => ({
  get: {
    responses: { 200: { description: 'OK' } },
    'x-gw-middlewares': middlewares,
    'x-gw-dispatch': { name: 'mock', config: { body } },
  },
});

/** One request on a connection of its own, or of the agent's: the status, or 0 where it failed. */
function request(url: string, agent: Agent | false = false): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', () => resolve({ status: 0, body }));
    }).on('error', () => resolve({ status: 0, body: '' }));
  });
}

const isServing = ({ msg }: LogLine) => msg === 'worker serving';
const pidsOf = (gw: Gateway) => gw.log.filter(isServing).map(({ pid }) => Number(pid));

/** What has ended and is not collected yet is no longer alive. */
function alive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

const eventually = { timeout: 30_000 };

describe('gw serve --workers', () => {
  let dir = '';
  let file = '';
  let gw: Gateway | null = null;
  const replace = (bytes: Uint8Array) => {
    writeFileSync(`${file}.new`, bytes);
    renameSync(`${file}.new`, file);
  };
  async function start(...args: string[]): Promise<Gateway> {
    gw = await startGateway(await artifact('unused'), { args: ['--artifact', file, '--workers', '2', ...args] });
    return gw;
  }

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-workers-'));
    file = join(dir, 'api.gwa');
    writeFileSync(file, await artifact('one'));
  });
  afterEach(async () => {
    await gw?.stop();
    gw = null;
    rmSync(dir, { recursive: true, force: true });
  });

  it('serves one port by two processes, and sums their metrics', async () => {
    const { url, admin, log } = await start();
    const statuses = await Promise.all(Array.from({ length: 40 }, () => request(`${url}/a`)));
    expect(statuses.every(({ status }) => status === 200)).toBe(true);
    const metrics = await (await fetch(`${admin}/metrics`)).text();
    expect(metrics).toContain('gw_requests_total{method="GET",path="/a",api="t",status="200"} 40');
    expect(metrics).toMatch(/gw_request_duration_seconds_count\{[^}]*path="\/a"[^}]*\} 40/);
    expect(metrics).toMatch(/^gw_connections_total 40$/m);
    expect(metrics.match(/^# TYPE gw_requests_total counter$/gm)).toHaveLength(1);
    expect(pidsOf(gw as Gateway)).toHaveLength(2);
    await expect.poll(() => log.filter(({ msg }) => msg === 'request').length, eventually).toBe(40);
  });

  it('counts rate limits over all workers, exactly', async () => {
    const { url } = await start();
    const answers = await Promise.all(Array.from({ length: QUOTA * 4 }, () => request(`${url}/limited`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(QUOTA);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(QUOTA * 3);
  });

  it('counts connections over all workers', async () => {
    const { url } = await start('--max-connections', '5');
    const { port } = new URL(url);
    const sockets: Socket[] = [];
    let open = 0;
    for (let i = 0; i < 12; i++) {
      const socket = connect(Number(port), '127.0.0.1');
      sockets.push(socket);
      open++;
      socket.on('error', () => {}).on('close', () => open--);
    }
    await expect.poll(() => open, eventually).toBe(5);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await request(`${url}/a`)).status, eventually).toBe(200);
  });

  it('starts another worker where one is killed under load: only what it held fails, and no count goes back', async () => {
    const { url, admin } = await start();
    const counted = async () => {
      const text = await (await fetch(`${admin}/metrics`)).text();
      return Number(/gw_requests_total\{[^}]*path="\/a"[^}]*status="200"\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    let stop = false;
    let failed = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (!stop) if ((await request(`${url}/a`, agent)).status !== 200) failed++;
    });
    await expect.poll(counted, eventually).toBeGreaterThan(100);
    const before = await counted();
    const [victim = 0] = pidsOf(gw as Gateway);
    process.kill(victim, 'SIGKILL');
    await gw?.logged(({ msg, pid }) => msg.startsWith('a worker died') && pid === victim);
    await expect.poll(() => pidsOf(gw as Gateway).length, eventually).toBe(3);
    expect(await counted()).toBeGreaterThanOrEqual(before);
    stop = true;
    await Promise.all(load);
    agent.destroy();
    // Each of the eight had one request in flight at most.
    expect(failed).toBeLessThanOrEqual(8);
  });

  it('takes a new artifact in all workers or in none; who comes later serves the last good one', async () => {
    const { url } = await start();
    const bodies = async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => request(`${url}/a`)));
      return new Set(answers.map(({ body }) => body));
    };
    expect(await bodies()).toEqual(new Set(['one']));
    replace(await artifact('two'));
    await expect.poll(() => gw?.log.filter(({ msg }) => msg === 'artifact loaded').length, eventually).toBe(2);
    expect(await bodies()).toEqual(new Set(['two']));
    replace(await artifact('env://GW_TEST_NOT_SET'));
    const refused = await gw?.logged(({ msg }) => msg.startsWith('new artifact rejected'));
    expect(refused?.['reason']).toContain('env://GW_TEST_NOT_SET');
    expect(await bodies()).toEqual(new Set(['two']));
    process.kill(pidsOf(gw as Gateway)[0] ?? 0, 'SIGKILL');
    await expect.poll(() => pidsOf(gw as Gateway).length, eventually).toBe(3);
    expect(await bodies()).toEqual(new Set(['two']));
  });

  it('drains all workers on SIGTERM, under load and without a failed request, and leaves none behind', async () => {
    const { url, exited } = await start('--drain-delay', '5');
    let stop = false;
    const statuses: number[] = [];
    const load = Array.from({ length: 4 }, async () => {
      while (!stop) statuses.push((await request(`${url}/a`)).status);
    });
    await expect.poll(() => statuses.length, eventually).toBeGreaterThan(20);
    const pids = pidsOf(gw as Gateway);
    gw?.signal('SIGTERM');
    await gw?.logged(({ msg }) => msg === 'draining');
    const atDrain = statuses.length;
    await expect.poll(() => statuses.length, eventually).toBeGreaterThan(atDrain + 20);
    stop = true;
    await Promise.all(load);
    expect(statuses.every((status) => status === 200)).toBe(true);
    expect(await exited).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
  });

  it('ends its workers where it is killed itself', async () => {
    await start();
    const pids = pidsOf(gw as Gateway);
    gw?.signal('SIGKILL');
    await expect.poll(() => pids.filter(alive), eventually).toEqual([]);
  });

  it('does not start where one worker cannot: exit 13 for a secret, 1 for a port in use', async () => {
    writeFileSync(file, await artifact('env://GW_TEST_NOT_SET'));
    const secret = await refusedStart(['--artifact', file, '--workers', '2', '--admin-bind', 'off']);
    expect(secret).toMatchObject({ code: 13, stderr: expect.stringContaining('env://GW_TEST_NOT_SET') });
    writeFileSync(file, await artifact('one'));
    const { url } = await start();
    const taken = await refusedStart([
      ...['--artifact', file, '--workers', '2', '--admin-bind', `127.0.0.1:${await freePort()}`],
      ...['--listen', new URL(url).host],
    ]);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('--listen') });
  });
});
