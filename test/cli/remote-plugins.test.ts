/**
 * Plugins that gw.yaml names by URL, fetched by `gw compile` from a real server (docs/reference/cli.md#remote-plugins,
 * docs/decisions.md#references-stay-inside).
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readArtifact } from '../../gateway/src/artifact/read.ts';
import { compileCommand } from '../../gateway/src/cli/compile.ts';
import { DISPATCHER_WASM } from '../fixtures/specs/plugins.ts';
import { makeCertificate, OPENSSL } from '../serve/http.ts';
import { runCommand } from './captured-run.ts';
import { runGw } from './gw-process.ts';

const SPEC = `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books:
    get:
      x-gw-dispatch: { name: echo }
`;
const TOML = '[plugin]\nname = "echo"\nversion = "1.2.3"\ntype = "dispatcher"\n';

async function packageOf(folder = ''): Promise<Buffer> {
  const tar = pack();
  if (folder !== '') tar.entry({ name: folder, type: 'directory' });
  tar.entry({ name: `${folder}plugin.toml` }, TOML);
  tar.entry({ name: `${folder}config-schema.json` }, '{"type":"object"}');
  tar.entry({ name: `${folder}echo.wasm` }, Buffer.from(DISPATCHER_WASM));
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) if (chunk instanceof Buffer) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let folder: string;
let server: Server;
let seen: string[];
let routes: Record<string, RequestListener>;
const at = (...parts: string[]) => join(folder, ...parts);
const listener: RequestListener = (request, response) => {
  seen.push(request.url ?? '');
  const route = routes[request.url ?? ''];
  if (route) route(request, response);
  else response.writeHead(404).end();
};
const serves =
  (bytes: Uint8Array): RequestListener =>
  (_, response) =>
    void response.end(bytes);

function listen(on: Server): Promise<number> {
  return new Promise((resolve) =>
    on.listen(0, '127.0.0.1', () => {
      const address = on.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    }),
  );
}

let base: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-remote-'));
  await mkdir(at('specs'));
  await writeFile(at('specs', 'books.yaml'), SPEC);
  seen = [];
  routes = {};
  server = createServer(listener);
  base = `http://127.0.0.1:${await listen(server)}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

async function declare(url: string, hash: string, more = ''): Promise<void> {
  await writeFile(at('gw.yaml'), `specs: specs\nplugins:\n  echo: { url: "${url}", sha256: "${hash}"${more} }\n`);
}

const LOCAL = ['--allow-plaintext', '--egress-allow', '127.0.0.1'];
const gwCompile = (args: readonly string[] = LOCAL) =>
  runCommand(compileCommand, ['-m', at('gw.yaml'), '-o', at('out.gwa'), '--cache-dir', at('cache'), ...args]);

describe('a plugin by URL', () => {
  it.each(['', 'echo-1.2.3/'])('is a package in a .tar.gz, in folder "%s"', async (top) => {
    const bytes = await packageOf(top);
    routes = { '/echo.tar.gz': serves(bytes) };
    await declare(`${base}/echo.tar.gz`, sha256(bytes), ', version: 1.2.3');
    const { code, stderr } = await gwCompile();
    expect([code, stderr]).toEqual([0, 'compiling 1 spec with 1 plugin\n']);
    const { manifest } = await readArtifact(at('out.gwa'));
    expect(manifest.plugins).toMatchObject([{ name: 'echo', version: '1.2.3', plugin_type: 'dispatcher' }]);
  });

  it('is a bare module, which says nothing of itself: E1071', async () => {
    routes = { '/echo.wasm': serves(DISPATCHER_WASM) };
    await declare(`${base}/echo.wasm`, `sha256:${sha256(DISPATCHER_WASM)}`);
    const { stderr } = await gwCompile();
    expect(stderr).toContain('E1071 plugin "echo" has no plugin.toml and no config-schema.json');
  });

  it('is fetched once, served from the cache without network, and again with --no-cache or where the cache is damaged', async () => {
    const bytes = await packageOf();
    routes = { '/echo': serves(bytes) };
    await declare(`${base}/echo`, sha256(bytes));
    await gwCompile();
    expect((await gwCompile()).code).toBe(0);
    expect(seen).toEqual(['/echo']);
    expect(await readdir(at('cache', 'plugins'))).toEqual([sha256(bytes)]);
    await writeFile(at('cache', 'plugins', sha256(bytes)), 'damaged');
    expect((await gwCompile()).code).toBe(0);
    expect(await readFile(at('cache', 'plugins', sha256(bytes)))).toEqual(bytes);
    expect((await gwCompile([...LOCAL, '--no-cache'])).code).toBe(0);
    expect(seen).toHaveLength(3);
    routes = {};
    expect((await gwCompile()).code).toBe(0);
    expect((await gwCompile([...LOCAL, '--no-cache'])).code).toBe(2);
  });

  it('keeps its cache in XDG_CACHE_HOME by default', async () => {
    const bytes = await packageOf();
    routes = { '/echo': serves(bytes) };
    await declare(`${base}/echo`, sha256(bytes));
    const args = ['-m', at('gw.yaml'), '-o', at('out.gwa'), ...LOCAL];
    expect((await runCommand(compileCommand, args, { XDG_CACHE_HOME: at('xdg') })).code).toBe(0);
    expect(await readdir(at('xdg', 'gw', 'plugins'))).toEqual([sha256(bytes)]);
  });

  it('follows redirects, to no internal address, and no more than a few', async () => {
    const bytes = await packageOf();
    routes = {
      '/first': (_, response) => void response.writeHead(302, { location: '/second' }).end(),
      '/second': serves(bytes),
      '/inward': (_, response) => void response.writeHead(302, { location: 'http://[::1]:1/' }).end(),
      '/round': (_, response) => void response.writeHead(307, { location: '/round' }).end(),
    };
    await declare(`${base}/first`, sha256(bytes));
    expect((await gwCompile()).code).toBe(0);
    await declare(`${base}/inward`, 'a'.repeat(64));
    expect(await gwCompile()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('egress to it is not allowed'),
    });
    await declare(`${base}/round`, 'a'.repeat(64));
    expect(await gwCompile()).toMatchObject({ code: 2, stderr: expect.stringContaining('redirects more than') });
  });

  it('is refused with exit 2 and both hashes where it is another file', async () => {
    routes = { '/echo': serves(DISPATCHER_WASM) };
    await declare(`${base}/echo?token=secret`, 'a'.repeat(64));
    routes['/echo?token=secret'] = serves(DISPATCHER_WASM);
    const { code, stderr } = await gwCompile();
    expect(code).toBe(2);
    const message = `plugin "echo": ${base}/echo has sha256 ${sha256(DISPATCHER_WASM)}, but gw.yaml requires ${'a'.repeat(64)}`;
    expect(stderr).toMatch(/^\S+gw\.yaml:3:3: error E1046 /);
    expect(stderr).toContain(`${message}\n`);
    expect(stderr).not.toContain('secret');
  });

  it.each<[string, string, RequestListener, string]>([
    ['is not there', '/gone', (_, response) => void response.writeHead(404).end(), 'it answers 404'],
    [
      'says that it is too large',
      '/large',
      (_, response) => void response.writeHead(200, { 'content-length': 1 << 30 }).write('x'),
      'more than',
    ],
    [
      'breaks off',
      '/short',
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('x', () => response.destroy());
      },
      'cannot fetch',
    ],
    ['is no plugin', '/page', serves(Buffer.from('<html>')), 'neither a WebAssembly module nor a .tar.gz'],
    ['is an archive of something else', '/other', serves(gzipSync('text')), 'it is not a tar archive'],
  ])('that %s is exit 2 and one error at its place', async (_, path, answer, message) => {
    routes = { [path]: answer };
    const hash = path === '/page' ? sha256(Buffer.from('<html>')) : sha256(gzipSync('text'));
    await declare(base + path, hash);
    const { code, stderr } = await gwCompile();
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^\S+gw\.yaml:3:3: error E1046 [\s\S]*\n1 error, 0 warnings\n$/),
    ]);
    expect(stderr).toContain(message);
  });

  it('is refused from an internal address, and over http://, unless that is allowed', async () => {
    await declare(`${base}/echo`, 'a'.repeat(64));
    const guarded = await gwCompile(['--allow-plaintext']);
    expect(guarded).toMatchObject({ code: 2, stderr: expect.stringContaining('--egress-allow') });
    const plaintext = await gwCompile(['--egress-allow', '127.0.0.1']);
    expect(plaintext).toMatchObject({ code: 2, stderr: expect.stringContaining('--allow-plaintext permits http://') });
    expect(seen).toEqual([]);
  });

  it('says where it stands where it takes long', async () => {
    const bytes = await packageOf();
    routes = { '/slow': (_, response) => void setTimeout(() => response.end(bytes), 2_500) };
    await declare(`${base}/slow`, sha256(bytes));
    const { code, stderr } = await gwCompile();
    expect([code, stderr.split('\n')[0]]).toEqual([0, `fetching plugin "echo" from ${base}/slow: 0 KiB`]);
  });
});

it.skipIf(!OPENSSL)(
  'comes over https:// from a server that can be trusted, and from no other (needs openssl)',
  async () => {
    const bytes = await packageOf();
    const { cert, key } = makeCertificate(folder, 'localhost');
    routes = { '/echo': serves(bytes) };
    const secure = createSecureServer({ cert: await readFile(cert), key: await readFile(key) }, listener);
    await declare(`https://127.0.0.1:${await listen(secure)}/echo`, sha256(bytes));
    const args = ['compile', '-m', at('gw.yaml'), '-o', at('out.gwa'), '--egress-allow', '127.0.0.1'];
    const untrusted = await runGw(args, { HOME: folder });
    expect(untrusted).toMatchObject({ code: 2, stderr: expect.stringContaining('certificate') });
    expect(await runGw(args, { HOME: folder, NODE_EXTRA_CA_CERTS: cert })).toMatchObject({ code: 0 });
    expect(await readdir(at('.cache', 'gw', 'plugins'))).toEqual([sha256(bytes)]);
    await new Promise((resolve) => secure.close(resolve));
  },
);
