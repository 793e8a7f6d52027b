/** What a first user does: `gw init demo`, `gw compile`, `gw serve`, in processes of their own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';

const env = programEnv();
const folder = mkdtempSync(join(tmpdir(), 'gw-first-'));
let gateway: ChildProcess | undefined;

afterEach(async () => {
  if (gateway && gateway.exitCode === null) {
    const exited = new Promise((resolve) => gateway?.once('exit', resolve));
    gateway.kill('SIGTERM');
    await exited;
  }
  rmSync(folder, { recursive: true, force: true });
});

function gw(cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [GW, ...args], { cwd, env, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

it('gw init demo && gw compile && gw serve answers', async () => {
  expect(gw(folder, 'init', 'demo')).toContain('cd demo');
  const demo = join(folder, 'demo');
  expect(gw(demo, 'validate')).toMatch(/^specs\/[\w-]+\.yaml: valid\n1 spec: 1 valid, 0 invalid\n$/);
  expect(parse(gw(demo, 'validate', '--format', 'yaml'))).toMatchObject({
    summary: { total: 1, valid: 1, invalid: 0 },
  });
  expect(gw(demo, 'compile', '--manifest', 'gw.yaml', '--output', 'api.gwa')).toMatch(/^api\.gwa: 4 routes/);
  expect(gw(demo, 'routes', 'api.gwa')).toContain('/users/{id}');
  expect(gw(demo, 'verify', 'api.gwa')).toContain('hashes verified');
  gateway = spawn(
    process.execPath,
    [GW, 'serve', '--artifact', 'api.gwa', '--listen', '127.0.0.1:0', '--admin-bind', 'off'],
    { cwd: demo, env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const url = `http://${await listening(gateway)}`;
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${url}/users`)).json()).toHaveLength(2);
  expect(await (await fetch(`${url}/users/7`)).json()).toEqual({ id: 7, name: 'Ada' });
  expect((await fetch(`${url}/users/seven`)).status).toBe(400);
  const post = (body: string) =>
    fetch(`${url}/users`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  expect((await post('{"name":"Edsger"}')).status).toBe(201);
  expect((await post('{}')).status).toBe(400);
});

/** The address that the gateway says it listens on. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error('the process has no output'));
    createInterface(child.stdout).on('line', (text) => {
      const line: { msg?: string; listen?: string } = JSON.parse(text);
      if (line.msg === 'serving' && line.listen) resolve(line.listen);
    });
    child.once('exit', (code) => reject(new Error(`gw serve exited with ${code}`)));
  });
}
