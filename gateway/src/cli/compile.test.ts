import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/cli/captured-run.ts';
import { DISPATCHER_WASM } from '../../../test/fixtures/specs/plugins.ts';
import { readArtifact } from '../artifact/read.ts';
import { moduleOf } from '../wasm/binary/module-of.ts';
import { compileCommand } from './compile.ts';

const SPEC = `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books:
    get:
      x-gw-dispatch: { name: echo }
`;
const TOML = '[plugin]\nname = "echo"\nversion = "1.2.3"\ntype = "dispatcher"\n';
const MANIFEST = 'specs: specs\nplugins:\n  echo: { path: echo/echo.wasm }\n';

let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-compile-'));
  await mkdir(at('specs'));
  await mkdir(at('echo'));
  await writeFile(at('specs', 'books.yaml'), SPEC);
  await writeFile(at('echo', 'echo.wasm'), DISPATCHER_WASM);
  await writeFile(at('echo', 'plugin.toml'), TOML);
  await writeFile(at('echo', 'config-schema.json'), '{"type":"object"}');
  await writeFile(at('gw.yaml'), MANIFEST);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const gwCompile = (args: readonly string[] = [], env: Record<string, string> = {}) =>
  runCommand(compileCommand, ['-m', at('gw.yaml'), '-o', at('out.gwa'), ...args], env);

describe('gw compile', () => {
  it('exits 2 for a plugin that serving would refuse, used or not', async () => {
    await writeFile(at('idle.wasm'), moduleOf({ imports: [['gw_abi_1', 'host_log']] }));
    await writeFile(at('gw.yaml'), `${MANIFEST}  idle: { path: idle.wasm }\n`);
    const { code, stderr } = await gwCompile();
    expect(code).toBe(2);
    expect(stderr).toContain('E1042 plugin "idle" imports gw_abi_1.host_log, which its plugin.toml does not declare');
    expect(await readdir(folder)).not.toContain('out.gwa');
  });

  it('writes the artifact to standard output with -o -, and all it says elsewhere', async () => {
    const args = ['-m', at('gw.yaml'), '-o', '-'];
    const { code, stdout, stderr } = await runCommand(compileCommand, args);
    expect(code).toBe(0);
    const { routes } = await readArtifact(Buffer.from(stdout, 'latin1'));
    expect(routes.operations.map(({ path }) => path)).toEqual(['/books']);
    expect(stderr).toContain('sha256:');
    expect((await runCommand(compileCommand, [...args, '--format', 'json'])).code).toBe(2);
    expect((await readdir(folder)).sort()).toEqual(['echo', 'gw.yaml', 'specs']);
  });

  it('takes no manifest for a spec that lies among them', async () => {
    await writeFile(at('books.yaml'), SPEC);
    await writeFile(at('gw.yaml'), MANIFEST.replace('specs: specs', 'specs: .'));
    const { code, stderr } = await gwCompile();
    expect([code, stderr]).toEqual([0, expect.stringContaining('compiling 1 spec ')]);
  });

  it('takes plugin.toml for that of the module where the one that it names is not there', async () => {
    await writeFile(at('echo', 'plugin.toml'), TOML.replace('echo', 'other'));
    const { code, stderr } = await gwCompile();
    expect(code).toBe(2);
    expect(stderr).toContain('E1042 plugin "echo": its plugin.toml is that of "other"');
  });

  it('writes the artifact and one line about it', async () => {
    const { code, stdout } = await gwCompile();
    expect(code).toBe(0);
    expect(stdout).toMatch(/out\.gwa: 1 routes, plugins: echo, sha256:[0-9a-f]{64}, [\d.]+ KiB, [\d.]+ s\n$/);
    expect((await readArtifact(at('out.gwa'))).manifest.plugins).toMatchObject([{ name: 'echo', version: '1.2.3' }]);
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('exits 1 with code, place, pointer and hint where specs do not compile, and leaves the old artifact', async () => {
    await writeFile(at('out.gwa'), 'old');
    await writeFile(at('specs', 'books.yaml'), SPEC.replace('name: echo', 'name: gone'));
    const { code, stderr } = await gwCompile();
    expect(code).toBe(1);
    expect(stderr).toContain('specs/books.yaml:6:24: error E1040 plugin "gone" is not declared (declared: echo)\n');
    expect(stderr).toContain('  at /paths/~1books/get/x-gw-dispatch/name\n  hint: ');
    expect(stderr).toContain('1 error, 0 warnings\n');
    expect(await readFile(at('out.gwa'), 'utf8')).toBe('old');
  });

  it('prints the same as JSON', async () => {
    const good = JSON.parse((await gwCompile(['--format', 'json'])).stdout);
    expect(good).toMatchObject({ ok: true, routes_count: 1, diagnostics: [] });
    await writeFile(at('specs', 'books.yaml'), SPEC.replace('name: echo', 'name: gone'));
    const { code, stdout } = await gwCompile(['--format', 'json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'E1040', severity: 'error', file: 'specs/books.yaml', line: 6, column: 24 }],
    });
  });

  it('takes spec files instead of the folder', async () => {
    await writeFile(at('specs', 'broken.yaml'), '[');
    expect((await gwCompile()).code).toBe(1);
    expect((await gwCompile(['-s', at('specs', 'books.yaml')])).code).toBe(0);
  });

  it('takes rule files that a config names out of the folder of the document', async () => {
    const config = '{ core_rules: false, rules: [waf/*.conf] }';
    await writeFile(at('specs', 'books.yaml'), SPEC.replace('{ name: echo }', `{ name: echo, config: ${config} }`));
    await writeFile(at('echo', 'config-schema.json'), '{"type":"object","x-gw-data":"waf"}');
    await mkdir(at('specs', 'waf'));
    await writeFile(at('specs', 'waf', 'a.conf'), 'SecRule ARGS "@pmFromFile a.data" "id:1001,phase:2,deny"\n');
    expect((await gwCompile()).stderr).toContain('specs/waf/a.conf:1:27: error E1083 there is no file "a.data"');
    await writeFile(at('specs', 'waf', 'a.data'), 'bad\n');
    expect(await gwCompile()).toMatchObject({ code: 0 });
    expect([...(await readArtifact(at('out.gwa'))).data.keys()]).toEqual([expect.stringMatching(/^waf\//)]);
  });

  it('passes provenance on, and signs with GW_SIGNING_KEY', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeFile(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const args = ['--provenance-commit', 'abc', '--provenance-source', 'ci'];
    const { code, stdout } = await gwCompile(args, { GW_SIGNING_KEY: at('key.pem') });
    expect(code).toBe(0);
    expect(stdout).toContain(', signed, ');
    const { manifest } = await readArtifact(at('out.gwa'));
    expect(manifest.provenance).toEqual({ commit: 'abc', source: 'ci' });
    await readArtifact(at('out.gwa'), { trustedKeys: [manifest.signing_public_key ?? ''] });
  });

  it('writes equal bytes with equal SOURCE_DATE_EPOCH', async () => {
    const env = { SOURCE_DATE_EPOCH: '1767225600' };
    await gwCompile([], env);
    const first = await readFile(at('out.gwa'));
    await gwCompile([], env);
    expect((await readFile(at('out.gwa'))).equals(first)).toBe(true);
    expect((await readArtifact(first)).manifest.compiled_at).toBe('2026-01-01T00:00:00.000Z');
  });

  it('refuses a spec that is a link out of the folder, and takes links within it', async () => {
    await writeFile(at('outside.yaml'), SPEC);
    await symlink(at('outside.yaml'), at('specs', 'linked.yaml'));
    const { code, stderr } = await gwCompile();
    expect(code).toBe(1);
    expect(stderr).toContain('linked.yaml: it is a link that leads out of');
    // As the volume of a ConfigMap shows its keys.
    await rm(at('specs'), { recursive: true });
    await mkdir(at('specs', '..2026'), { recursive: true });
    await writeFile(at('specs', '..2026', 'books.yaml'), SPEC);
    await symlink('..2026', at('specs', '..data'));
    await symlink('..data/books.yaml', at('specs', 'books.yaml'));
    expect((await gwCompile()).code).toBe(0);
  });

  it('refuses what describes a plugin if it is a link to elsewhere', async () => {
    await writeFile(at('outside.json'), '{"type":"object"}');
    await rm(at('echo', 'config-schema.json'));
    await symlink(at('outside.json'), at('echo', 'config-schema.json'));
    const { code, stderr } = await gwCompile();
    expect(code).toBe(2);
    expect(stderr).toContain('plugin "echo": cannot read config-schema.json: it is a link that leads out of');
  });

  it('refuses a spec that is no file at once', async () => {
    execFileSync('mkfifo', [at('specs', 'pipe.yaml')]);
    const { code, stderr } = await gwCompile();
    expect(code).toBe(1);
    expect(stderr).toContain('pipe.yaml: it is not a file');
  });

  it('does not follow a $ref through a link out of the folder', async () => {
    await writeFile(at('outside.yaml'), 'get: {}\n');
    await symlink(at('outside.yaml'), at('specs', '.link.yaml'));
    await mkdir(at('specs', 'sub'));
    await symlink(at('outside.yaml'), at('specs', 'sub', 'link.yaml'));
    await writeFile(at('specs', 'books.yaml'), `${SPEC}  /link: { $ref: sub/link.yaml }\n`);
    const { code, stderr } = await gwCompile();
    expect(code).toBe(1);
    expect(stderr).toContain('E1003');
  });
});

describe('manifest and plugins that cannot be used: exit 2', () => {
  it.each([
    ['YAML that does not parse', 'specs: [', 'gw.yaml:'],
    ['an unknown field', 'specs: specs\nplugin: {}\n', 'unknown field "plugin": known are specs, plugins, upstreams'],
    ['no specs', 'plugins: {}\n', 'names no "specs" folder'],
    ['a folder that is not there', 'specs: gone\n', 'there is no such file'],
    ['no built-in plugin of the name', 'specs: specs\nplugins:\n  gone: {}\n', 'there is no built-in plugin "gone"'],
    [
      'a module that is not there',
      'specs: specs\nplugins:\n  echo: { path: gone.wasm }\n',
      'cannot read gone.wasm: there is',
    ],
    [
      'a folder in the place of a module',
      'specs: specs\nplugins:\n  echo: { path: specs }\n',
      'cannot read specs: it is a folder: name the .wasm file in it',
    ],
    [
      'plugins as a list',
      'specs: specs\nplugins: [echo]\n',
      'gw.yaml:2:1: error E1046 "plugins" is a list: it must be an object\n  at /plugins\n  hint: Write its members by name, such as mock: {}.',
    ],
    [
      'a remote plugin without hash',
      'specs: specs\nplugins:\n  echo: { url: "https://x/y.wasm" }\n',
      'needs its "sha256"',
    ],
    [
      'a hash that is none',
      'specs: specs\nplugins:\n  echo: { url: "https://x/y.wasm", sha256: ab }\n',
      '64 hex digits',
    ],
    ['a hash without URL', `specs: specs\nplugins:\n  echo: { sha256: ${'a'.repeat(64)} }\n`, 'without "url"'],
    [
      'a URL with credentials',
      `specs: specs\nplugins:\n  echo: { url: "https://me:pw@x/y.wasm", sha256: ${'a'.repeat(64)} }\n`,
      'holds credentials',
    ],
    [
      'a URL and a path',
      `specs: specs\nplugins:\n  echo: { path: echo/echo.wasm, url: "https://x/y", sha256: ${'a'.repeat(64)} }\n`,
      'both "path" and "url"',
    ],
    [
      'a URL of another protocol',
      `specs: specs\nplugins:\n  echo: { url: "file:///etc/passwd", sha256: ${'a'.repeat(64)} }\n`,
      'must begin with https://',
    ],
    [
      'another version',
      'specs: specs\nplugins:\n  echo: { path: echo/echo.wasm, version: 9.9.9 }\n',
      '9.9.9 is required',
    ],
    ['an upstream with a URL of another type', 'specs: specs\nupstreams:\n  books: { url: 1 }\n', 'must be a full URL'],
    ['a balance that is not known', 'specs: specs\nupstreams:\n  books: { balance: random }\n', 'is not known'],
    ['a hash of two', 'specs: specs\nupstreams:\n  a: { balance: { hash: { header: a, cookie: b } } }\n', 'not known'],
    ['an ejection past its limits', 'specs: specs\nupstreams:\n  a: { ejection: { panic: 2 } }\n', 'from 0 to 1'],
    ['half a failure', 'specs: specs\nupstreams:\n  a: { ejection: { failures: 1.5 } }\n', 'a whole number from 1'],
    [
      'a URL and a policy',
      'specs: specs\nupstreams:\n  a: { url: "https://a", balance: round-robin }\n',
      'has a URL, and',
    ],
    ['a policy under a name with a dot', 'specs: specs\nupstreams:\n  a.b: {}\n', 'is not a name'],
  ])('%s', async (_, manifest, message) => {
    await writeFile(at('gw.yaml'), manifest);
    const { code, stderr } = await gwCompile();
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    const lines = stderr.trim().split('\n');
    if (lines.length === 1) expect(lines[0]).toMatch(/^gw compile: /);
    else
      expect(stderr).toMatch(
        /^\S*gw\.yaml:\d+:\d+: error E\d{4} .*\n(?: {2}at .*\n)? {2}hint: .+\n1 error, 0 warnings\n$/,
      );
  });

  it('proposes the field and the built-in plugin that are probably meant', async () => {
    await writeFile(at('gw.yaml'), `${MANIFEST}upstream: {}\n`);
    expect((await gwCompile()).stderr).toContain('hint: Did you mean "upstreams"?');
    await writeFile(at('gw.yaml'), `${MANIFEST}  moc: {}\n`);
    expect((await gwCompile()).stderr).toContain('hint: Did you mean "mock"?');
  });

  it('cites the manifest for what it declares: secrets, upstreams, plugins', async () => {
    const config = 'config: { keys: [{ id: a, key: hunter2 }] }';
    await writeFile(
      at('gw.yaml'),
      `${MANIFEST}  apikey-auth:\n    ${config}\n  http-upstream: {}\nupstreams:\n  a: { url: "http://a.example" }\n`,
    );
    const operation = (name: string) => `
  ${name}:
    get:
      security: [{ key: [] }]
      x-gw-middlewares: [{ name: apikey-auth }]
      x-gw-dispatch: { name: http-upstream, config: { url: upstream://a } }`;
    const schemes = 'components: { securitySchemes: { key: { type: apiKey, in: header, name: X-API-Key } } }';
    await writeFile(at('specs', 'books.yaml'), `${SPEC}${operation('/a')}${operation('/b')}\n${schemes}\n`);
    const { stderr } = await gwCompile();
    expect(stderr.match(/E1070|E1031/g)).toEqual(['E1070', 'E1031']);
    expect(stderr).toMatch(/gw\.yaml:5:\d+: warning E1070 "keys\/0\/key" of plugin "apikey-auth" is a secret/);
    expect(stderr).toMatch(/gw\.yaml:8:\d+: error E1031 upstream "a", http:\/\/a\.example, is plaintext/);
  });

  it('a plugin.toml that is wrong', async () => {
    await writeFile(at('echo', 'plugin.toml'), TOML.replace('dispatcher', 'router'));
    expect(await gwCompile()).toMatchObject({ code: 2, stderr: expect.stringContaining('"type" must be') });
  });

  it('a signing key that is not there, or none', async () => {
    expect((await gwCompile([], { GW_SIGNING_KEY: at('gone.pem') })).code).toBe(2);
    await writeFile(at('key.pem'), 'secret');
    expect(await gwCompile([], { GW_SIGNING_KEY: at('key.pem') })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('E1043'),
    });
  });

  it('a SOURCE_DATE_EPOCH that is no number', async () => {
    expect((await gwCompile([], { SOURCE_DATE_EPOCH: 'yesterday' })).code).toBe(2);
  });
});

it('says in one line that a spec file is not there, or the output cannot be written: exit 1', async () => {
  expect(await gwCompile(['-s', at('gone.yaml')])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^gw compile: cannot read spec .*gone\.yaml: there is no such file\n$/),
  });
  expect(await gwCompile(['-o', at('gone', 'out.gwa')])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot write'),
  });
});
