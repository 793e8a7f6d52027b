/** `gw dev`: compiles, serves, and does both again when a file changes (docs/reference/cli.md#dev). */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtinPluginFiles } from '../../gateway/src/plugins/builtin.ts';
import { eventually } from '../eventually.ts';
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

  function start(admin = 'off', more: readonly string[] = []): void {
    const always = ['--listen', '127.0.0.1:0', '--admin-bind', admin, '--debounce-ms', '20'];
    child = spawn(process.execPath, [GW, 'dev', '-m', file('gw.yaml'), ...always, ...more], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: programEnv(),
    });
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
    await said(/specs\/api\.json:1:\d+ compile error: E1001 — .+/);
    expect(await text()).toBe('two');
    writeFileSync(file('specs/more.json'), spec('three').replace('"/a"', '"/b"'));
    writeFileSync(file('specs/api.json'), spec('four'));
    await said(/: 2 routes/);
    expect(await text()).toBe('four');
    expect(await (await fetch(`${url}/b`)).text()).toBe('three');
    expect(await stop()).toBe(0);
  });

  it('reads addresses of upstreams from upstreams.yaml, which may come later', async () => {
    const peers = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const server = createServer((_, response) => response.end(name));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      }),
    );
    writeFileSync(file('gw.yaml'), 'specs: specs\nplugins:\n  http-upstream: {}\nupstreams:\n  books: {}\n');
    const dispatch = { name: 'http-upstream', config: { upstream: 'books' } };
    writeFileSync(
      file('specs/api.json'),
      spec('one').replace('{"name":"mock","config":{"body":"one"}}', JSON.stringify(dispatch)),
    );
    start();
    await said(/upstream "books" of the artifact has no addresses.*upstreams\.yaml/);
    writeFileSync(file('upstreams.yaml'), `books: [{ url: "${peers[0]?.url}" }]\n`);
    const [, url] = await said(/compiled in \d+ ms; (http:\S+)/);
    expect(await (await fetch(`${url}/a`)).text()).toBe('one');
    writeFileSync(file('upstreams.yaml'), `books: [{ url: "${peers[1]?.url}" }]\n`);
    await eventually(async () => expect(await (await fetch(`${url}/a`)).text()).toBe('two'));
    expect(await stop()).toBe(0);
    for (const { server } of peers) server.close();
  });

  const referring = (body: string, file: string) =>
    spec(body).replace('{"description":"OK"}', JSON.stringify({ $ref: file }));
  const described = (code: string) => JSON.stringify({ description: code });

  // docs/decisions.md#dev-watches-reads
  it('follows what a document of --spec refers to, also if it was missing', async () => {
    mkdirSync(file('docs'));
    writeFileSync(file('docs/api.json'), referring('one', '../shared/answer.json'));
    start('off', ['--spec', file('docs/api.json'), '--spec', file('specs/own.json')]);
    await said(/cannot read spec .*own\.json/);
    writeFileSync(file('specs/own.json'), spec('own').replace('"/a"', '"/own"'));
    await said(/E1003 — unresolved \$ref: "shared\/answer\.json" is not a file of the project/);
    mkdirSync(file('shared'));
    writeFileSync(file('shared/answer.json'), described('first'));
    writeFileSync(file('docs/api.json'), referring('one', '../specs/answers/answer.json'));
    await said(/E1003 — unresolved \$ref: "specs\/answers\/answer\.json" is not a file of the project/);
    mkdirSync(file('specs/answers'));
    writeFileSync(file('specs/answers/answer.json'), described('first'));
    const [, url] = await said(/compiled in \d+ ms; (http:\S+)/);
    expect(await (await fetch(`${url}/a`)).text()).toBe('one');
    writeFileSync(file('specs/answers/answer.json'), '{"description": 7');
    await said(/specs\/answers\/answer\.json:1:\d+ compile error: E1002/);
    writeFileSync(file('specs/answers/answer.json'), described('second'));
    await said(/reloaded in \d+ ms: 2 routes/);
    expect(await stop()).toBe(0);
  });

  it('follows another folder of specs, and a plugin declared meanwhile', async () => {
    writeFileSync(file('specs/api.json'), spec('one'));
    start();
    const [, url] = await said(/compiled in \d+ ms; (http:\S+)/);
    const text = async () => (await fetch(`${url}/a`)).text();
    writeFileSync(file('gw.yaml'), 'specs: later\nplugins:\n  mock: {}\n');
    await said(/cannot read specs folder .*later: there is no such file/);
    mkdirSync(file('later'));
    await said(/later holds no \.yaml/);
    writeFileSync(file('later/api.json'), spec('two'));
    await said(/reloaded in \d+ ms: 1 routes/);
    expect(await text()).toBe('two');
    writeFileSync(file('later/api.json'), spec('three'));
    await eventually(async () => expect(await text()).toBe('three'));
    writeFileSync(file('gw.yaml'), 'specs: later\nplugins:\n  mock: { path: own/mock.wasm }\n');
    await said(/plugin "mock": cannot read own\/mock\.wasm/);
    mkdirSync(file('own'));
    for (const [name, bytes] of builtinPluginFiles('mock')) writeFileSync(file(`own/${name}`), bytes);
    writeFileSync(file('later/api.json'), spec('four'));
    await eventually(async () => expect(await text()).toBe('four'));
    writeFileSync(file('own/mock.wasm'), 'no module');
    await said(/E1042/);
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
    await said(/there is no such file\n +a document as it is: +gw dev openapi\.yaml --mock\n[\s\S]*gw init --from/);
    expect(await stop()).toBe(0);
  });
});
