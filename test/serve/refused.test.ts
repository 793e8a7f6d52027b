/** Where `gw serve` must not come up: the exit code and one line that says what to do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, refusedStart, startGateway } from './gateway.ts';

const operation = (dispatch: object) => ({
  get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch },
});
const document = (path: object) => ({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': path } });

const connected = (url: string) => [
  ...['--control-plane', url, '--project-id', '00000000-0000-4000-8000-000000000000'],
  ...['--api-key', 'planted-key'],
];

describe('gw serve refuses to start', () => {
  let dir = '';
  const file = (name: string) => join(dir, name);
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-refused-'));
    const good = await compileSpec(document(operation({ name: 'mock', config: {} })), ['mock']);
    writeFileSync(file('good.gwa'), good);
    writeFileSync(file('cut.gwa'), good.subarray(0, good.length / 2));
    writeFileSync(file('text.gwa'), 'hello');
    const secret = operation({ name: 'mock', config: { body: 'env://NOT_SET' } });
    writeFileSync(file('secret.gwa'), await compileSpec(document(secret), ['mock']));
    const plain = operation({ name: 'http-upstream', config: { url: 'http://127.0.0.1:1' } });
    writeFileSync(file('plain.gwa'), await compileSpec(document(plain), ['http-upstream']));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const listen = ['--listen', '127.0.0.1:0', '--admin-bind', 'off'];

  it.each([
    ['a missing artifact', ['--artifact', 'none.gwa'], 1, /none\.gwa/],
    ['a cut one', ['--artifact', 'cut.gwa'], 1, /cut\.gwa.*cut short/],
    ['something else', ['--artifact', 'text.gwa'], 1, /gzip|not an artifact/],
    ['an unresolvable secret', ['--artifact', 'secret.gwa'], 13, /env:\/\/NOT_SET/],
    ['a plaintext upstream', ['--artifact', 'plain.gwa'], 1, /--allow-plaintext-upstream/],
    ['no artifact option', [], 1, /--artifact/],
    [
      'a control plane without a project',
      ['--control-plane', 'wss://c.test', '--api-key', 'k'],
      1,
      /needs --project-id/,
    ],
    ['a project that is no UUID', [...connected('wss://c.test'), '--project-id', 'p'], 1, /not a UUID/],
    ['a control plane without a key', connected('wss://c.test').slice(0, -2), 1, /GW_API_KEY/],
    ['two keys', [...connected('wss://c.test'), '--api-key-file', 'good.gwa'], 1, /given twice/],
    [
      'a key file that is not there',
      [...connected('wss://c.test').slice(0, -2), '--api-key-file', 'none'],
      1,
      /cannot read --api-key-file.*none/,
    ],
    [
      'a CA that is none',
      [...connected('wss://c.test'), '--control-plane-ca', 'text.gwa'],
      1,
      /--control-plane-ca holds no certificate/,
    ],
    ['a control plane that is no WebSocket', connected('https://c.test'), 1, /wss:\/\//],
    ['a control plane at another path', connected('wss://c.test/other'), 1, /must end in \/ws\/data-plane/],
    ['credentials in its URL', connected('wss://u:planted@c.test'), 1, /^(?!.*planted).*GW_API_KEY/s],
    ['a bad label', [...connected('wss://c.test'), '--data-plane-label', 'zone'], 1, /name=value/],
    ['a cache without a control plane', ['--artifact', 'good.gwa', '--cache-dir', 'c'], 1, /--control-plane/],
    ['a cache that is no folder', [...connected('wss://c.test'), '--cache-dir', 'text.gwa'], 1, /--cache-dir/],
    ['an unknown option', ['--artifact', 'good.gwa', '--lisen', 'x'], 1, /unknown option '--lisen'/],
    ['a bad address', ['--artifact', 'good.gwa', '--listen', 'nowhere'], 1, /127\.0\.0\.1:8080/],
    ['a bad proxy', ['--artifact', 'good.gwa', '--trusted-proxies', 'lb'], 1, /--trusted-proxies: "lb" is neither/],
    [
      'a bad range',
      ['--artifact', 'good.gwa', '--egress-allow', '10.0.0.0/99'],
      1,
      /--egress-allow: "10\.0\.0\.0\/99"/,
    ],
    ['a bad level', ['--artifact', 'good.gwa', '--log-level', 'loud'], 1, /trace, debug, info/],
  ])('for %s', async (_name, args, code, text) => {
    const located = args.map((arg) => (arg.endsWith('.gwa') ? file(arg) : arg));
    const result = await refusedStart([...located, ...(args.includes('--listen') ? [] : listen)]);
    expect(result).toMatchObject({ code, stderr: expect.stringMatching(text) });
    expect(result.stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
  });

  it('for a port in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const result = await refusedStart([
      '--artifact',
      file('good.gwa'),
      '--listen',
      `127.0.0.1:${port}`,
      '--admin-bind',
      'off',
    ]);
    server.close();
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('in use') });
  });

  it('takes options from variables, flags first', async () => {
    const artifact = await compileSpec(document(operation({ name: 'mock', config: {} })), ['mock']);
    const gw = await startGateway(artifact, { env: { GW_LISTEN: '127.0.0.1:1', GW_MAX_URI_LENGTH: '32' } });
    expect((await fetch(`${gw.url}/a`)).status).toBe(200);
    expect((await fetch(`${gw.url}/a?${'x'.repeat(32)}`)).status).toBe(400);
    await gw.stop();
  });
});
