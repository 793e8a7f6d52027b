/** Keys of an issuer that changes them, goes away, is slow, or answers nonsense, as callers of a gateway see it. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { askFrom, startFlood } from '../../../../test/serve/flood.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { makeCertificate, OPENSSL } from '../../../../test/serve/http.ts';
import { type Issuer, jwkOf, newKey, startIssuer } from '../../../../test/serve/issuer.ts';
import { ask, type Secured, startSecured } from '../../../../test/serve/token-api.ts';

let issuer: Issuer;
let gw: Gateway | null = null;
beforeEach(async () => {
  issuer = await startIssuer();
});
afterEach(async () => {
  await gw?.stop();
  gw = null;
  await issuer.down();
});

const start = async (plugin: Secured['plugin'], config: object) => {
  gw = await startSecured({ '/a': { plugin, config } });
  return gw;
};
const jwt = (config: object = {}) => start('jwt-auth', { jwks_url: `${issuer.url}/jwks`, ...config });
const oidc = (config: object = {}) => start('oidc-auth', { issuer_url: issuer.url, ...config });
const statusOf = async ({ url }: Gateway, token: string) => (await ask(`${url}/a`, token)).status;

describe('the keys of an issuer', () => {
  it('are fetched once, however many ask', async () => {
    const { url } = await jwt();
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(`${url}/a`, issuer.token())));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(issuer.asks('/jwks')).toBe(1);
  });

  it.each([
    ['jwt-auth', jwt],
    ['oidc-auth', oidc],
  ] as const)('%s: rotate five times under load, and no request fails', async (_plugin, begin) => {
    const gateway = await begin();
    const statuses: number[] = [];
    let loading = true;
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (loading) statuses.push(await statusOf(gateway, issuer.token()));
      }),
    );
    for (let i = 0; i < 5; i++) {
      await sleep(300);
      issuer.keys = [...issuer.keys, newKey(i % 2 === 0 ? 'ES256' : 'RS256', `key-${i}`)];
    }
    await sleep(300);
    loading = false;
    await load;
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(issuer.asks('/jwks')).toBeLessThanOrEqual(7);
  });

  it('are asked for at most every two seconds by tokens that name others', async () => {
    const gateway = await jwt();
    expect(await statusOf(gateway, issuer.token())).toBe(200);
    const started = performance.now();
    const attacks = await Promise.all(
      Array.from({ length: 300 }, (_, i) => statusOf(gateway, issuer.token({}, { kid: `made-up-${i}` }))),
    );
    expect(new Set(attacks)).toEqual(new Set([401]));
    const seconds = (performance.now() - started) / 1000;
    expect(issuer.asks('/jwks')).toBeLessThanOrEqual(2 + seconds / 2);
    expect(await statusOf(gateway, issuer.token())).toBe(200);
  });

  it('are looked for on behalf of a client, however many tokens of another name keys', async () => {
    const gateway = await jwt();
    expect(await statusOf(gateway, issuer.token())).toBe(200);
    const headers = () => ({ ':path': '/a', authorization: `Bearer ${issuer.token({}, { kid: randomUUID() })}` });
    const flood = startFlood({ url: gateway.url, from: '127.0.0.9', inFlight: 600, connections: 8, headers });
    // Those that find no place are answered at once, and each is followed by another.
    await eventually(() => (flood.answers.get(401) ?? 0) > 700);
    issuer.keys = [...issuer.keys, newKey('ES256', 'rotated')];
    const token = issuer.token({}, { kid: 'rotated', alg: 'ES256' });
    const authorization = `Bearer ${token}`;
    expect((await askFrom('127.0.0.1', `${gateway.url}/a`, { authorization })).status).toBe(200);
    flood.stop();
  });

  it.each([
    ['tokens', { token: false, keys: true }],
    ['the key set', { token: true, keys: false }],
    ['both', { token: false, keys: false }],
  ])('that are replaced are found though %s name none, by one look for many tokens', async (_, named) => {
    issuer.instead = ({ url }, response) => {
      if (named.keys || url !== '/jwks') return false;
      response.end(JSON.stringify({ keys: issuer.keys.map((key) => ({ ...jwkOf(key), kid: undefined })) }));
      return true;
    };
    const token = () => issuer.token({}, named.token ? {} : { kid: undefined });
    const gateway = await jwt();
    const before = token();
    expect(await statusOf(gateway, before)).toBe(200);
    issuer.keys = [newKey('RS256', 'second')];
    const asked = issuer.asks('/jwks');
    const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(gateway, token())));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(issuer.asks('/jwks')).toBe(asked + 1);
    expect(await statusOf(gateway, before)).toBe(401);
  });

  it('that are withdrawn no longer hold, also for tokens that were let in before', async () => {
    const gateway = await jwt({ jwks_refresh_seconds: 1 });
    const token = issuer.token();
    expect(await statusOf(gateway, token)).toBe(200);
    issuer.keys = [newKey('RS256', 'second')];
    await expect.poll(() => statusOf(gateway, token), { interval: 200 }).toBe(401);
    expect(await statusOf(gateway, issuer.token())).toBe(200);
  });

  it('serve on while the issuer is away, which is one line in the log, and are refreshed when it is back', async () => {
    const gateway = await oidc({ jwks_refresh_seconds: 1 });
    expect(await statusOf(gateway, issuer.token())).toBe(200);
    await issuer.down();
    const away = await gateway.logged(({ msg }) => msg.includes(': unavailable: '));
    expect(away).toMatchObject({ level: 'error', msg: expect.stringContaining(`keys of ${issuer.url}`) });
    expect(await statusOf(gateway, issuer.token({ sub: 'bob' }))).toBe(200);
    await sleep(2_500);
    expect(gateway.log.filter(({ msg }) => msg.includes(': unavailable: '))).toHaveLength(1);
    issuer.keys = [newKey('ES256', 'new')];
    await issuer.up();
    await gateway.logged(({ msg }) => msg.includes('available again'));
    expect(await statusOf(gateway, issuer.token())).toBe(200);
  });

  it('are not there when the gateway starts: 503, until the issuer is', async () => {
    await issuer.down();
    const gateway = await oidc();
    const answer = await ask(`${gateway.url}/a`, issuer.token());
    expect(answer).toMatchObject({ status: 503, body: { type: 'urn:gw:error:issuer-unavailable', status: 503 } });
    expect(JSON.stringify(answer.body)).not.toContain(issuer.url);
    await issuer.up();
    await expect.poll(() => statusOf(gateway, issuer.token()), { interval: 100 }).toBe(200);
  });

  it('come too slowly: 503 within the time-out, and at once after it', async () => {
    issuer.instead = () => true;
    const gateway = await oidc({ timeout: 2 });
    expect(await statusOf(gateway, issuer.token())).toBe(503);
    for (let i = 0; i < 3; i++) {
      const all = await Promise.all(Array.from({ length: 20 }, () => statusOf(gateway, issuer.token())));
      expect(new Set(all)).toEqual(new Set([503]));
      await sleep(500);
    }
    expect(issuer.asked.length).toBeLessThanOrEqual(5);
  });

  it.each([
    ['a key set of 10 MB', '/jwks', `{"keys":[],"more":"${'x'.repeat(10_000_000)}"}`, 'more than 1048576 bytes'],
    ['10 MB without a length', '/jwks', null, 'more than 1048576 bytes'],
    ['a set without keys', '/jwks', '{"keys":[]}', 'holds no RSA key'],
    ['a shared secret', '/jwks', '{"keys":[{"kty":"oct","k":"c2VjcmV0","alg":"HS256"}]}', 'holds no RSA key'],
    [
      'keys that are too short',
      '/jwks',
      JSON.stringify({ keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] }),
      'holds no RSA key',
    ],
    ['HTML', '/jwks', '<html>', 'did not answer with a JSON object'],
    [
      'a discovery document of another issuer',
      '/.well-known/openid-configuration',
      '{"issuer":"https://evil.example","jwks_uri":"http://127.0.0.1:1/"}',
      'names the issuer "https://evil.example"',
    ],
    ['a discovery document without keys', '/.well-known/openid-configuration', null, 'names no jwks_uri'],
    [
      'a discovery document that is no object',
      '/.well-known/openid-configuration',
      '[]',
      'did not answer with a JSON object',
    ],
    ['keys in a file', '/.well-known/openid-configuration', 'file', 'file: is not http: or https:'],
    ['keys at an inner address', '/.well-known/openid-configuration', 'inner', 'egress to it is not allowed'],
  ])('are refused, with the reason in the log: %s', async (_what, path, body, reason) => {
    if (body === null && path !== '/jwks') issuer.document = { jwks_uri: undefined };
    else if (body === 'file') issuer.document = { jwks_uri: 'file:///etc/passwd' };
    else if (body === 'inner') issuer.document = { jwks_uri: 'http://169.254.169.254/latest/meta-data' };
    else {
      issuer.instead = (request, response) => {
        if (request.url !== path) return false;
        if (body !== null) response.end(body);
        else for (let i = 0; i < 10; i++) response.write('x'.repeat(1_000_000));
        return true;
      };
    }
    const gateway = await oidc();
    expect(await statusOf(gateway, issuer.token())).toBe(503);
    const line = await gateway.logged(({ msg }) => msg.includes(': unavailable: '));
    expect(line.msg).toContain(reason);
  });

  it('are not looked for behind redirects', async () => {
    issuer.instead = (request, response) => {
      if (request.url !== '/jwks') return false;
      response.writeHead(302, { location: '/elsewhere' }).end();
      return true;
    };
    const gateway = await oidc();
    expect(await statusOf(gateway, issuer.token())).toBe(503);
    expect((await gateway.logged(({ msg }) => msg.includes(': unavailable: '))).msg).toContain(
      'answered with status 302',
    );
    expect(issuer.asks('/elsewhere')).toBe(0);
  });

  it.skipIf(!OPENSSL)('come from https:// only where its certificate is known (needs openssl)', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-issuer-'));
    const certificate = makeCertificate(dir, 'issuer');
    const secure = await startIssuer(certificate);
    const paths = { '/a': { plugin: 'oidc-auth' as const, config: { issuer_url: secure.url } } };
    try {
      gw = await startSecured(paths, { args: ['--allow-plaintext-upstream=false'] });
      expect(await statusOf(gw, secure.token())).toBe(503);
      expect((await gw.logged(({ msg }) => msg.includes(': unavailable: '))).msg).toMatch(/certificate/);
      await gw.stop();
      gw = await startSecured(paths, {
        args: ['--allow-plaintext-upstream=false'],
        env: { NODE_EXTRA_CA_CERTS: certificate.cert },
      });
      expect(await statusOf(gw, secure.token())).toBe(200);
    } finally {
      await secure.down();
      rmSync(dir, { recursive: true });
    }
  });

  it('outlive a reload of the artifact', async () => {
    const gateway = await oidc();
    expect(await statusOf(gateway, issuer.token())).toBe(200);
    await issuer.down();
    gateway.signal('SIGHUP');
    await expect.poll(() => gateway.log.filter(({ msg }) => msg === 'artifact loaded').length).toBe(2);
    expect(await statusOf(gateway, issuer.token({ sub: 'bob' }))).toBe(200);
  });
});
