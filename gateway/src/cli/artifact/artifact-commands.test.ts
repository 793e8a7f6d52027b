import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../test/cli/captured-run.ts';
import { printable } from '../../text/printable.ts';
import { VERSION } from '../../version.ts';
import { compileCommand } from '../compile.ts';
import { inspectCommand } from './inspect.ts';
import { keygenCommand } from './keygen.ts';
import { routesCommand } from './routes.ts';
import { verifyCommand } from './verify.ts';

const SPEC = `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books:
    get:
      operationId: listBooks
      deprecated: true
      x-gw-middlewares: [{ name: rate-limit, config: { quota: 1, window: 60 } }]
      x-gw-dispatch: { name: mock }
`;

let folder: string;
const at = (name: string) => join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-artifact-'));
  await writeFile(at('books.yaml'), SPEC);
  await writeFile(at('gw.yaml'), 'plugins:\n  mock: {}\n  rate-limit: {}\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function compiled(env: Record<string, string> = {}): Promise<string> {
  const args = ['-m', at('gw.yaml'), '-s', at('books.yaml'), '-o', at('api.gwa')];
  expect((await runCommand(compileCommand, args, { SOURCE_DATE_EPOCH: '0', ...env })).code).toBe(0);
  return at('api.gwa');
}

/** The hex public key of a new key pair, whose private key is in `file`. */
async function keyPair(file: string): Promise<string> {
  const { code, stdout } = await runCommand(keygenCommand, ['--output', at(file)]);
  expect(code).toBe(0);
  return stdout.trim();
}

describe('gw keygen', () => {
  it('writes a private key that only its owner reads, and prints the public one', async () => {
    expect(await keyPair('key.pem')).toMatch(/^[0-9a-f]{64}$/);
    expect((await stat(at('key.pem'))).mode & 0o777).toBe(0o600);
    expect(await readFile(at('key.pem'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });

  it('replaces a key only with --force, and then also its mode', async () => {
    await writeFile(at('key.pem'), 'mine', { mode: 0o644 });
    const refused = await runCommand(keygenCommand, ['--output', at('key.pem')]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--force');
    expect(await readFile(at('key.pem'), 'utf8')).toBe('mine');
    expect((await runCommand(keygenCommand, ['--output', at('key.pem'), '--force'])).code).toBe(0);
    expect((await stat(at('key.pem'))).mode & 0o777).toBe(0o600);
  });

  it('exits 1 where it cannot write', async () => {
    const { code, stderr } = await runCommand(keygenCommand, ['--output', at('no/such/key.pem')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gw keygen: cannot write /);
  });
});

describe('gw verify', () => {
  it('verifies the signature by any of the trusted keys, given or from GW_TRUSTED_PUBKEY', async () => {
    const [mine, other] = [await keyPair('mine.pem'), await keyPair('other.pem')];
    const path = await compiled({ GW_SIGNING_KEY: at('mine.pem') });
    const good = await runCommand(verifyCommand, [path, '--key', other, '--key', mine]);
    expect(good.code).toBe(0);
    expect(good.stdout).toContain('signature verified with a trusted key');
    expect((await runCommand(verifyCommand, [path], { GW_TRUSTED_PUBKEY: `${other},${mine}` })).code).toBe(0);
    expect((await runCommand(verifyCommand, [path, '--key', other])).code).toBe(1);
    // The flag wins over the variable (docs/decisions.md#precedence).
    expect((await runCommand(verifyCommand, [path, '--key', other], { GW_TRUSTED_PUBKEY: mine })).code).toBe(1);
  });

  it('says that nothing vouches for an artifact without signature, and refuses it where a key is given', async () => {
    const path = await compiled();
    const unchecked = await runCommand(verifyCommand, [path]);
    expect([unchecked.code, unchecked.stdout]).toEqual([
      0,
      expect.stringMatching(/hashes verified.*\n.*not signed\n$/),
    ]);
    const refused = await runCommand(verifyCommand, [path, '--key', await keyPair('key.pem')]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not signed')]);
  });

  it('never takes an empty or malformed key for none', async () => {
    const path = await compiled();
    await expect(runCommand(verifyCommand, [path, '--key', ''])).rejects.toThrow('64 hex digits');
    expect((await runCommand(verifyCommand, [path, '--key', 'abc'])).code).toBe(1);
  });

  it('exits 1 where a byte has changed, and where there is no artifact', async () => {
    const path = await compiled();
    const bytes = await readFile(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    await writeFile(path, bytes);
    expect((await runCommand(verifyCommand, [path])).code).toBe(1);
    expect((await runCommand(inspectCommand, [at('gw.yaml')])).stderr).toBe(
      `gw inspect: ${at('gw.yaml')}: it is not an artifact: a .gwa file is a gzip-compressed tar archive\n`,
    );
    const gone = await runCommand(verifyCommand, [at('gone.gwa')]);
    expect([gone.code, gone.stderr]).toEqual([
      1,
      `gw verify: cannot read artifact ${at('gone.gwa')}: there is no such file or folder\n`,
    ]);
  });
});

describe('gw routes', () => {
  it('lists what is served as a table and as JSON', async () => {
    const path = await compiled();
    const { code, stdout } = await runCommand(routesCommand, [path]);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['METHOD', 'PATH', 'DISPATCHER', 'MIDDLEWARES', 'OPERATION', 'SPEC'],
      ['GET', '/books', 'mock', 'rate-limit', 'listBooks', 'books.yaml (deprecated)'],
      [''],
    ]);
    const json = await runCommand(routesCommand, [path, '--format', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      routes: [{ method: 'GET', path: '/books', dispatcher: 'mock', middlewares: ['rate-limit'], deprecated: true }],
      count: 1,
    });
  });

  it('exits 1 for what is no artifact', async () => {
    const { code, stderr } = await runCommand(routesCommand, [at('books.yaml')]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^gw routes: .+\n$/)]);
  });
});

describe('gw inspect', () => {
  it('shows hash, specs and plugins, and the manifest as JSON', async () => {
    const path = await compiled();
    const json = JSON.parse((await runCommand(inspectCommand, [path, '--format', 'json'])).stdout);
    expect(json).toMatchObject({ manifest: { routes_count: 1, compiler_version: VERSION }, files: ['books.yaml'] });
    const { code, stdout } = await runCommand(inspectCommand, [path]);
    expect(code).toBe(0);
    for (const shown of [json.manifest.artifact_hash, json.tar_sha256, '1970-01-01T00:00:00', 'openapi 3.1.0']) {
      expect(stdout).toContain(shown);
    }
    expect(stdout).toMatch(/\nrate-limit +0\.8\.0 +middleware +host_rate_limit/);
  });

  it('sends no control character of an artifact to the terminal', () => {
    expect(printable('/a\u001b[2J\u202eb\nc')).toBe('/a\\u001b[2J\\u202eb\\u000ac');
  });
});
