/**
 * Plugins that misbehave, and plugins that watch a stream, through a real `gw serve` (docs/reference/plugins.md#bodies,
 * docs/reference/plugins.md#cpu).
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture } from './fixture-plugin.ts';
import { compileSpec, type Echo, type Gateway, jsonOf, refusedStart, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const FIXTURES = ['looper', 'allocator', 'trapper', 'stream-upper', 'body-reverser'];
const responses = { 200: { description: 'OK' } };
const mock = { name: 'mock', config: { body: 'fine', content_type: 'text/plain' } };
const run = (...middlewares: object[]) => ({ responses, 'x-gw-middlewares': middlewares, 'x-gw-dispatch': mock });

describe('plugins that misbehave', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const modes = ['loop', 'recursion', 'host', 'log', 'copy'];
    const loops = modes.map((mode) => [`/${mode}`, { get: run({ name: 'looper', config: { mode } }) }]);
    const document = {
      openapi: '3.1.0',
      info: { title: 'Attack', version: '1' },
      paths: {
        ...Object.fromEntries(loops),
        '/allocate': { get: run({ name: 'allocator', config: {} }) },
        '/trap': { get: run({ name: 'trapper', config: {} }) },
        '/fine': { get: { responses, 'x-gw-dispatch': mock } },
      },
    };
    const plugins = FIXTURES.map(fixture);
    gw = await startGateway(await compileSpec(document, ['mock'], plugins));
  });
  afterAll(async () => {
    await gw?.stop();
  });

  it.each(['/loop', '/recursion', '/host', '/log', '/copy', '/allocate', '/trap'])(
    '%s gets a problem document',
    async (path) => {
      const response = await fetch(gw.url + path);
      expect([response.status, response.headers.get('content-type')]).toEqual([500, 'application/problem+json']);
      expect(await jsonOf(response)).toMatchObject({
        type: 'urn:gw:error:plugin-failed',
        title: 'Plugin failed',
        status: 500,
      });
      const line = await gw.logged(
        ({ plugin, msg, request_id }) =>
          plugin !== undefined && msg !== 'request' && request_id === response.headers.get('x-request-id'),
      );
      expect(line.level).toMatch(/warn|error|info/);
    },
  );

  it('leaves the requests beside them alone, under load', async () => {
    const attacks = ['/loop', '/allocate', '/trap', '/recursion'];
    const before = gw.pid;
    let stop = false;
    const others = Array.from({ length: 8 }, async () => {
      const times: number[] = [];
      while (!stop) {
        const from = performance.now();
        const response = await fetch(`${gw.url}/fine`);
        expect([response.status, await response.text()]).toEqual([200, 'fine']);
        times.push(performance.now() - from);
      }
      return times;
    });
    for (let round = 0; round < 20; round++) {
      const path = attacks[round % attacks.length] as string;
      expect((await fetch(gw.url + path)).status).toBe(500);
    }
    stop = true;
    const times = (await Promise.all(others)).flat().sort((a, b) => a - b);
    const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
    console.log(`${times.length} requests beside 20 attacks: p99 ${p99.toFixed(1)} ms`);
    expect(times.length).toBeGreaterThan(100);
    expect(gw.pid).toBe(before);
    expect((await fetch(`${gw.url}/fine`)).status).toBe(200);
  });
});

describe('plugins that see bodies', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    const proxy = { name: 'http-upstream', config: { url: upstream.url } };
    const text = { content: { 'text/plain': { schema: { type: 'string' } } } };
    const short = { content: { 'text/plain': { schema: { type: 'string', maxLength: 5 } } } };
    const operation = (name: string, config: object = {}) => ({
      post: { responses, requestBody: text, 'x-gw-middlewares': [{ name, config }], 'x-gw-dispatch': proxy },
    });
    const document = {
      openapi: '3.1.0',
      info: { title: 'Bodies', version: '1' },
      paths: {
        '/upper': operation('stream-upper', { trailer: '!' }),
        '/checked': { post: { ...operation('stream-upper', { trailer: '!' }).post, requestBody: short } },
        '/reverse': operation('body-reverser'),
      },
    };
    gw = await startGateway(await compileSpec(document, ['http-upstream'], FIXTURES.map(fixture)));
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });
  const post = (path: string, body: string) =>
    fetch(gw.url + path, { method: 'POST', body, headers: { 'content-type': 'text/plain' } });

  it('pass chunks through the hooks in both directions, with a last one of the plugin', async () => {
    const response = await post('/upper', 'quiet');
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('"BODY":"QUIET!"');
    expect(text.endsWith('!')).toBe(true);
    expect(upstream.seen.at(-1)?.body).toBe('QUIET!');
  });

  it('pass a body of many chunks', async () => {
    const response = await post('/upper', 'abc'.repeat(200_000));
    expect(await response.text()).toContain(`"BODY":"${'ABC'.repeat(200_000)}!"`);
  });

  it('pass a body that was held to be validated, too', async () => {
    expect((await post('/checked', 'quiet')).status).toBe(200);
    expect(upstream.seen.at(-1)?.body).toBe('QUIET!');
    expect((await post('/checked', 'louder')).status).toBe(400);
  });

  it('give a whole body to a plugin that declares it', async () => {
    const response = await post('/reverse', 'abc');
    expect(upstream.seen.at(-1)?.body).toBe('cba');
    const text = [...(await response.text())].reverse().join('');
    const echo: Echo = JSON.parse(text.startsWith('{') ? text : [...text].reverse().join(''));
    expect(echo.body).toBe('cba');
  });
});

it('a plugin that imports what it did not declare neither compiles nor starts, and the reason names the import', async () => {
  const looper = fixture('looper');
  if (!looper.manifest) throw new Error('the fixture has a manifest');
  const undeclared = { ...looper, manifest: { ...looper.manifest, host_functions: [] } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths: { '/a': { get: run({ name: 'looper', config: {} }) } },
  };
  const { mkdtempSync, writeFileSync, rmSync } = await import('node:fs');
  const dir = mkdtempSync(join((await import('node:os')).tmpdir(), 'gw-undeclared-'));
  try {
    await expect(compileSpec(document, ['mock'], [undeclared])).rejects.toThrow(
      /imports gw_abi_1\.host_log, which its plugin\.toml does not declare/,
    );
    // As a compiler makes it that does not look.
    writeFileSync(join(dir, 'a.gwa'), await compileSpec(document, ['mock'], [undeclared], { loadsPlugins: false }));
    const result = await refusedStart([
      '--artifact',
      join(dir, 'a.gwa'),
      '--listen',
      '127.0.0.1:0',
      '--admin-bind',
      'off',
    ]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('host_log');
    expect(result.stderr).toContain('plugin.toml does not declare');
  } finally {
    rmSync(dir, { recursive: true });
  }
});

describe('a plugin that declares host_request_raw', () => {
  // docs/decisions.md#raw-request
  it('sees the headers that the client sent, and others only those that were admitted', async () => {
    const document = {
      openapi: '3.1.0',
      info: { title: 'Raw', version: '1' },
      paths: { '/': { get: run({ name: 'raw-counter', config: {} }) } },
    };
    const gw = await startGateway(await compileSpec(document, ['mock'], [fixture('raw-counter')]));
    const headers = { 'X-Probe': "' or 1=1", 'x-auth-consumer': 'admin', Accept: '*/*', Connection: 'close' };
    const response = await fetch(gw.url, { headers });
    const sent = response.headers.get('sent')?.split(';');
    expect(sent).toEqual(expect.arrayContaining(["X-Probe=' or 1=1", 'x-auth-consumer=admin', 'Accept=*/*']));
    const admitted = response.headers.get('admitted') ?? '';
    expect(admitted).toContain('Accept;');
    expect(admitted).not.toContain('X-Probe');
    expect(admitted).not.toContain('x-auth-consumer');
    await gw.stop();
  });
});
