import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/cli/captured-run.ts';
import { compile } from '../compiler/index.ts';
import { initCommand } from './init.ts';
import { readProjectFolder } from './project/project-folder.ts';
import { remotePluginsOf } from './project/remote-plugins.ts';

let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-init-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const gwInit = (...args: string[]) => runCommand(initCommand, args);

/** Routes of the project as `METHOD path`; throws where there is any diagnostic. */
async function routesOf(project: string): Promise<string[]> {
  const remotePlugins = await remotePluginsOf({ cache: true, egressAllow: [] }, false, { env: {}, stderr: () => {} });
  const manifest = join(project, 'gw.yaml');
  const read = await readProjectFolder({ manifest, specs: [], remotePlugins, flags: { production: true } });
  const result = await compile(read);
  expect(result.diagnostics).toEqual([]);
  if (!result.ok) return [];
  const { readArtifact } = await import('../artifact/read.ts');
  return (await readArtifact(result.artifact)).routes.operations.map(({ method, path }) => `${method} ${path}`);
}

describe('gw init', () => {
  it('creates manifest, spec, plugins folder and .gitignore; the spec compiles for production', async () => {
    const { code, stdout } = await gwInit(at('demo'));
    expect(code).toBe(0);
    expect((await readdir(at('demo'))).sort()).toEqual(['.gitignore', 'gw.yaml', 'plugins', 'specs']);
    expect(await readdir(at('demo', 'plugins'))).toEqual([]);
    expect((await readFile(at('demo', '.gitignore'), 'utf8')).split('\n')).toEqual(
      expect.arrayContaining(['*.gwa', 'target/', 'plugins/*.wasm']),
    );
    expect(await readFile(at('demo', 'specs', 'api.yaml'), 'utf8')).toMatch(/^openapi: 3\.1\.0\n/);
    expect(await routesOf(at('demo'))).toEqual(['GET /health', 'GET /users', 'POST /users', 'GET /users/{id}']);
    expect(stdout).toContain('gw compile --manifest gw.yaml --output api.gwa\n');
  });

  it('has a minimal template with one operation, in an empty folder that exists', async () => {
    expect((await gwInit(folder, '--template', 'minimal')).code).toBe(0);
    expect(await routesOf(folder)).toEqual(['GET /health']);
  });

  it('copies plugins into plugins/ and declares them with --fetch-plugins', async () => {
    expect((await gwInit(at('demo'), '--fetch-plugins')).code).toBe(0);
    expect((await readdir(at('demo', 'plugins'))).sort()).toEqual(['http-upstream', 'mock']);
    expect(await readFile(at('demo', 'gw.yaml'), 'utf8')).toContain('mock: { path: plugins/mock/mock.wasm }\n');
    expect(await routesOf(at('demo'))).toHaveLength(4);
  });

  it('takes any name for a title', async () => {
    const name = `it's "a: b" #1`;
    expect((await gwInit(at(name))).code).toBe(0);
    expect(await routesOf(at(name))).toHaveLength(4);
  });

  it('makes a project of a document, with what it refers to, and leaves the rest of its text as it is', async () => {
    const text = `# kept\nopenapi: 3.1.0\ninfo: { title: My Pets!, version: "1" }\npaths:\n  /pets: { $ref: ./items/pets.yaml }\n`;
    await mkdir(at('items'));
    await writeFile(at('openapi.yaml'), text);
    await writeFile(at('items', 'pets.yaml'), 'get: { responses: { "200": { description: OK } } }\n');
    await writeFile(at('items', 'other.yaml'), '{}\n');
    const { code, stdout } = await gwInit(
      '--from',
      at('openapi.yaml'),
      '--upstream',
      'https://pets.example',
      at('new'),
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 operation passed on to https://pets.example\n')]);
    expect((await readdir(at('new'))).sort()).toEqual(['.gitignore', 'README.md', 'gw.yaml', 'plugins', 'specs']);
    const dispatch = '{"name":"http-upstream","config":{"url":"upstream://api"}}';
    expect(await readFile(at('new', 'specs', 'my-openapi.yaml'), 'utf8')).toBe(
      text.replace('openapi:', `x-gw-dispatch: ${dispatch}\nopenapi:`),
    );
    expect(await readdir(at('new', 'specs', 'items'))).toEqual(['pets.yaml']);
    expect(await readFile(at('new', 'README.md'), 'utf8')).toMatch(/^# My Pets!\n[\s\S]*gw dev/);
    expect(await routesOf(at('new'))).toEqual(['GET /pets']);
  });

  it('prints next steps that work with an http:// upstream', async () => {
    const text = 'openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths: { /a: { get: { responses: {} } } }\n';
    await writeFile(at('books.yaml'), text);
    const { stdout } = await gwInit('--from', at('books.yaml'), '--upstream', 'http://127.0.0.1:3000', at('plain'));
    expect(stdout).toContain('gw compile --manifest gw.yaml --output api.gwa --allow-plaintext\n');
    expect(stdout).toContain('gw serve --artifact api.gwa --allow-plaintext-upstream --egress-allow 127.0.0.0/8\n');
  });

  it('answers a document with its examples without --upstream, also one in JSON', async () => {
    const document = {
      openapi: '3.0.3',
      info: { title: 'x', version: '1' },
      paths: { '/a': { get: { responses: {} } } },
    };
    await writeFile(at('a.json'), JSON.stringify(document));
    expect((await gwInit('--from', at('a.json'), at('new'))).code).toBe(0);
    expect(JSON.parse(await readFile(at('new', 'specs', 'a.json'), 'utf8'))).toEqual({
      'x-gw-dispatch': { name: 'mock' },
      ...document,
    });
    expect(await routesOf(at('new'))).toEqual(['GET /a']);
  });

  it('makes nothing of what is no document, nor with --upstream alone', async () => {
    await writeFile(at('a.yaml'), 'swagger: "2.0"\n');
    const refused = await gwInit('--from', at('a.yaml'), at('new'));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^gw init: .*a\.yaml cannot be served: E1001 /),
    ]);
    expect((await gwInit('--upstream', 'https://a.example', at('new'))).code).toBe(1);
    expect((await readdir(folder)).sort()).toEqual(['a.yaml']);
  });

  it('exits 1 where the folder is not empty, and changes nothing in it', async () => {
    await writeFile(at('mine'), 'mine');
    const { code, stderr } = await gwInit(folder);
    expect([code, stderr]).toEqual([1, `gw init: ${folder} is not empty: give the name of a new folder\n`]);
    expect(await readdir(folder)).toEqual(['mine']);
  });

  it('exits 1 where the system makes no folders, and makes those above it where it does', async () => {
    const { code, stderr } = await gwInit('/proc/gw-init/demo');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gw init: cannot write \/proc\/gw-init\/demo: /);
    expect((await gwInit(at('a', 'b', 'demo'))).code).toBe(0);
  });

  it('exits 1 where it cannot write', async () => {
    await writeFile(at('file'), '');
    const { code, stderr } = await gwInit(at('file', 'below'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gw init: cannot write .*\n$/);
  });
});
