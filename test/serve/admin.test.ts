/** The admin port of a real `gw serve` (docs/reference/gateway.md#admin-port). */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { VERSION } from '../../gateway/src/version.ts';
import { type Gateway, jsonOf, startGateway } from './gateway.ts';

const SPEC = Buffer.from(
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Admin', version: '1' },
    paths: {
      '/a': { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock', config: {} } } },
    },
  }),
);

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

async function build(commit: string) {
  const result = await compile({
    specs: ['admin.json'],
    files: [{ name: 'admin.json', bytes: SPEC }],
    plugins: [loadBuiltinPlugin('mock')],
    flags: { sourceDateEpoch: 1_700_000_000, provenanceCommit: commit, provenanceSource: 'ci' },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

describe('the admin port', () => {
  let gw: Gateway;
  let built: Awaited<ReturnType<typeof build>>;
  beforeAll(async () => {
    built = await build('abc123');
    gw = await startGateway(built.artifact);
  });
  afterAll(async () => void (await gw?.stop()));

  const get = async (path: string) => jsonOf(await fetch(gw.admin + path));

  it('/health is that of the traffic port, and how long it has run', async () => {
    const first = await get('/health');
    expect(first).toEqual({ ...(await jsonOf(await fetch(`${gw.url}/__gw/health`))), uptime_secs: expect.any(Number) });
    expect(Number.isInteger(first['uptime_secs'])).toBe(true);
    const later = Number(first['uptime_secs']) + 1;
    await expect.poll(async () => (await get('/health'))['uptime_secs']).toBe(later);
  });

  it('/provenance has every field', async () => {
    const wasm = loadBuiltinPlugin('mock').wasm;
    expect(await get('/provenance')).toEqual({
      artifact_hash: built.manifest.artifact_hash,
      compiled_at: '2023-11-14T22:13:20.000Z',
      compiler_version: VERSION,
      artifact_version: 6,
      provenance: { commit: 'abc123', source: 'ci' },
      source_specs: [{ file: 'admin.json', sha256: sha256(SPEC), type: 'openapi' }],
      plugins: [{ name: 'mock', version: expect.any(String), sha256: sha256(wasm) }],
      drift_detected: false,
    });
  });

  it('/provenance and /ready are those of the artifact that serves', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-admin-'));
    const file = join(dir, 'api.gwa');
    writeFileSync(file, built.artifact);
    const other = await startGateway(built.artifact, { args: ['--artifact', file] });
    const next = await build('def456');
    writeFileSync(file, next.artifact);
    const commit = async () => (await jsonOf(await fetch(`${other.admin}/provenance`)))['provenance'];
    await expect.poll(commit).toEqual({ commit: 'def456', source: 'ci' });
    const ready = await fetch(`${other.admin}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', artifact_hash: next.manifest.artifact_hash },
    ]);
    await other.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('/ready is 503 while draining, with draining=ok when no more is accepted, and /health is not', async () => {
    const other = await startGateway(built.artifact, { args: ['--drain-delay', '5'] });
    expect((await fetch(`${other.admin}/ready`)).status).toBe(200);
    other.signal('SIGTERM');
    await other.logged(({ msg }) => msg === 'draining');
    const ready = await fetch(`${other.admin}/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining' }]);
    expect((await fetch(`${other.admin}/ready?draining=ok`)).status).toBe(200);
    expect((await fetch(`${other.admin}/health`)).status).toBe(200);
    expect(await other.exited).toBe(0);
  });

  it('warns at the start where it is not on a loopback address', async () => {
    const warning = /admin port has no authentication/;
    expect(gw.log.some(({ msg }) => warning.test(msg))).toBe(false);
    const open = await startGateway(built.artifact, { args: ['--admin-bind', '0.0.0.0:0'] });
    expect(open.log.find(({ msg }) => warning.test(msg))).toMatchObject({
      level: 'warn',
      admin: expect.stringMatching(/^0\.0\.0\.0:\d+$/),
    });
    await open.stop();
  });

  it('is off where --admin-bind says so', async () => {
    const off = await startGateway(built.artifact, { args: ['--admin-bind', 'off'] });
    expect(await off.logged(({ msg }) => msg === 'serving')).toMatchObject({ admin: 'off' });
    expect((await fetch(`${off.url}/a`)).status).toBe(200);
    await off.stop();
  });

  it('answers 404 and 405 with problem documents', async () => {
    const missing = await fetch(`${gw.admin}/nothing`);
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const wrong = await fetch(`${gw.admin}/metrics`, { method: 'POST' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
