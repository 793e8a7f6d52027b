/** `gw dev`: compiles, serves, and does both again when a file changes (docs/reference/cli.md#dev). */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';

const spec = (body: string) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths: {
      '/a': { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock', config: { body } } } },
    },
  });

describe('gw dev', () => {
  let dir = '';
  let child: ChildProcess;
  let stderr = '';
  let waiting: (() => void)[] = [];
  const file = (name: string) => join(dir, name);
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-dev-test-'));
    mkdirSync(file('specs'));
    writeFileSync(file('gw.yaml'), 'specs: specs\nplugins:\n  mock: {}\n');
    stderr = '';
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function start(admin = 'off'): void {
    child = spawn(
      process.execPath,
      [GW, 'dev', '-m', file('gw.yaml'), '--listen', '127.0.0.1:0', '--admin-bind', admin, '--debounce-ms', '20'],
      { stdio: ['ignore', 'ignore', 'pipe'], env: programEnv() },
    );
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
      for (const look of waiting) look();
    });
  }

  /** Resolves with the match once standard error has it. */
  const said = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      const look = () => {
        const match = pattern.exec(stderr);
        if (!match) return;
        waiting = waiting.filter((each) => each !== look);
        resolve(match);
      };
      waiting.push(look);
      look();
    });

  const stop = async () => {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    return exited;
  };

  it('says where tools are called by hand', async () => {
    const document = { ...JSON.parse(spec('one')), 'x-gw-mcp': { enabled: true } };
    writeFileSync(file('specs/api.json'), JSON.stringify(document));
    start('127.0.0.1:0');
    const [, url = ''] = await said(/tools for agents: (http:\S+\/inspector)\n/);
    expect(await (await fetch(url)).text()).toContain('gw inspector');
    await stop();
  });

  it('serves, reloads what changes, and keeps serving when a change does not compile', async () => {
    writeFileSync(file('specs/api.json'), spec('one'));
    start();
    const [, url] = await said(/compiled in \d+ ms; (http:\S+)/);
    const text = async () => (await fetch(`${url}/a`)).text();
    expect(stderr).toMatch(/GET +\/a {2}mock/);
    expect(await text()).toBe('one');
    writeFileSync(file('specs/api.json'), spec('two'));
    await said(/reloaded in \d+ ms: 1 routes/);
    expect(await text()).toBe('two');
    writeFileSync(file('specs/api.json'), '{"openapi": "9.0.0"}');
    await said(/specs\/api\.json:1 compile error: E1001 — .+/);
    expect(await text()).toBe('two');
    writeFileSync(file('specs/more.json'), spec('three').replace('"/a"', '"/b"'));
    writeFileSync(file('specs/api.json'), spec('four'));
    await said(/: 2 routes/);
    expect(await text()).toBe('four');
    expect(await (await fetch(`${url}/b`)).text()).toBe('three');
    expect(await stop()).toBe(0);
  });

  it('waits for a change where the project does not compile at the start', async () => {
    writeFileSync(file('specs/api.json'), '{"openapi": "3.1.0"}');
    start();
    await said(/E1004[\s\S]*waiting for a change that compiles/);
    writeFileSync(file('specs/api.json'), spec('at last'));
    const [, url] = await said(/compiled in \d+ ms; (http:\S+)/);
    expect(await (await fetch(`${url}/a`)).text()).toBe('at last');
    expect(await stop()).toBe(0);
  });

  it('says what to do where there is no manifest', async () => {
    rmSync(file('gw.yaml'));
    start();
    await said(/there is no such file\n +A new project: gw init .*gw dev --mock --spec/);
    expect(await stop()).toBe(0);
  });
});
