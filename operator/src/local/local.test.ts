/** `gw-operator local`, as a user runs it: on a copy of the bookstore, with real gateways. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { GW_OPERATOR } from '../../../test/programs/gw-operator.ts';
import { freePort } from './free-port.ts';

const example = join(import.meta.dirname, '..', '..', '..', 'examples', 'bookstore');

let dir: string;
let temporary: string;
let children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-bookstore-'));
  temporary = await mkdtemp(join(tmpdir(), 'gw-bookstore-tmp-'));
  await cp(example, dir, { recursive: true });
});
afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  children = [];
  await rm(dir, { recursive: true });
  await rm(temporary, { recursive: true, maxRetries: 5 });
});

function listenAnywhere(): Promise<{ server: Server; port: number }> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address) resolve({ server, port: address.port });
    });
  });
}

function start(port: number, console = 'off') {
  const child = spawn(
    process.execPath,
    [GW_OPERATOR, 'local', dir, '--allow-commands', '--listen', `127.0.0.1:${port}`, '--console', console],
    {
      env: { PATH: process.env['PATH'], TMPDIR: temporary },
    },
  );
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, exit, output: () => output, url: `http://127.0.0.1:${port}` };
}

async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(dir, file), 'utf8');
  expect(text).toContain(from);
  await writeFile(join(dir, file), text.replace(from, to));
}

describe('gw-operator local', () => {
  it('serves, rolls to changes without a failed request, and survives what does not compile', async () => {
    const { child, exit, output, url } = start(await freePort());
    await eventually(() => expect(output()).toContain(`curl -i ${url}/status`));
    const key = { headers: { 'x-api-key': 'demo-key' } };
    expect(await (await fetch(`${url}/status`)).text()).toBe('{"status":"open"}');
    expect(await (await fetch(`${url}/books/1`, key)).json()).toMatchObject({ title: 'The Dispossessed' });
    expect((await fetch(`${url}/books`)).status).toBe(401);
    expect(output()).not.toContain('\u001b[');
    const inspector = /tools for agents: (http:\/\/127\.0\.0\.1:\d+\/inspector)\n/.exec(output())?.[1] ?? '';
    const page = async () => (await fetch(inspector)).text();
    expect(await page()).toContain('inspector.js');

    const failures: string[] = [];
    let requests = 0;
    let stop = false;
    const load = (async () => {
      while (!stop) {
        requests++;
        const answer = await fetch(`${url}/books/1`, key).catch((error: unknown) => String(error));
        if (typeof answer === 'string') failures.push(answer);
        else {
          await answer.arrayBuffer();
          if (answer.status !== 200) failures.push(String(answer.status));
        }
      }
    })();
    await edit('4-api-spec.yaml', '"status":"open"', '"status":"open late"');
    await eventually(async () => expect(await (await fetch(`${url}/status`)).text()).toContain('open late'));
    // Of other pods by now.
    expect(await page()).toContain('inspector.js');
    await edit('4-api-spec.yaml', '#/components/schemas/NewBook', '#/components/schemas/Nothing');
    const edited = (await readFile(join(dir, '4-api-spec.yaml'), 'utf8')).split('\n');
    const line = edited.findIndex((text) => text.includes('schemas/Nothing')) + 1;
    await eventually(() => expect(output()).toContain(`4-api-spec.yaml:${line}:`));
    expect(output().match(/error E1003 unresolved/g)).toHaveLength(1);
    expect(await (await fetch(`${url}/status`)).text()).toContain('open late');
    await edit('5-gateway-project.yaml', 'replicas: 2', 'replicaz: 2');
    await eventually(() => expect(output()).toContain('unknown field /spec/pods/replicaz'));
    stop = true;
    await load;
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(50);

    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
    await expect(fetch(`${url}/status`)).rejects.toThrow();
  });

  it('says in one line that the port is in use', async () => {
    const { server, port } = await listenAnywhere();
    const { exit, output } = start(port);
    expect(await exit).toBe(1);
    expect(output()).toBe(
      `gw-operator: 127.0.0.1:${port} is in use: stop what listens there, or choose another with --listen\n`,
    );
    await new Promise((resolve) => server.close(resolve));
  });

  it('leaves no process behind when it is killed', async () => {
    const { child, output, url } = start(await freePort());
    await eventually(() => expect(output()).toContain(`curl -i ${url}/status`));
    const pids = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => ''))
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
    child.kill('SIGKILL');
    const alive = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await eventually(() => expect(pids.filter(alive)).toEqual([]));
  });
});
