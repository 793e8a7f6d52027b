/** basic-auth, apikey-auth and hashed credentials through the compiler and a real `gw serve`. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Echo, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';
import { makeHash } from '../../../src/cli/hash.ts';
import { compile } from '../../../src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../../src/plugins/builtin.ts';

const BCRYPT = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
const schemes = { user: { type: 'http', scheme: 'basic' }, key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } };
const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

describe('passwords and keys, through gw serve', () => {
  let upstream: Upstream;
  let gw: Gateway;
  const argon2 = makeHash('argon2-secret', 'argon2id');
  const credentials = [
    { username: 'alice', password: 'env://ALICE', roles: ['admin'] },
    { username: 'bob', password: argon2 },
    { username: 'carol', password: BCRYPT },
    { username: 'dave', password: 'env://DAVE_HASH' },
  ];
  const operation = (security: string, ...middlewares: object[]) => ({
    responses: { 200: { description: 'OK' } },
    security: [{ [security]: [] }],
    'x-gw-middlewares': middlewares,
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
  });
  const document = (paths: object) => ({
    openapi: '3.1.0',
    info: { title: 'Credentials', version: '1' },
    components: { securitySchemes: schemes },
    paths,
  });
  beforeAll(async () => {
    upstream = await startUpstream();
    const keys = [{ key: `sha256:${createHash('sha256').update('k-alice').digest('hex')}`, id: 'alice' }];
    const artifact = await compileSpec(
      document({
        '/user': { get: operation('user', { name: 'basic-auth', config: { credentials } }) },
        '/key': { get: operation('key', { name: 'apikey-auth', config: { keys } }) },
      }),
      ['basic-auth', 'apikey-auth', 'http-upstream'],
    );
    const env = { ALICE: 'plain:secret', DAVE_HASH: makeHash('scrypt-secret', 'scrypt') };
    gw = await startGateway(artifact, { env });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
  });

  const spoofed = { 'x-auth-consumer': 'root', 'x-auth-roles': 'root', 'x-auth-user': 'root', 'x-auth-claims': '{}' };
  it.each([
    ['alice', 'plain:secret', { 'x-auth-roles': 'admin', 'x-auth-consumer-groups': 'admin' }],
    ['bob', 'argon2-secret', { 'x-auth-consumer-groups': '' }],
    ['carol', 'U*U', { 'x-auth-consumer-groups': '' }],
    ['dave', 'scrypt-secret', { 'x-auth-consumer-groups': '' }],
  ])('knows %s, whose headers nobody else can set', async (name, password, rest) => {
    const answer = await fetch(`${gw.url}/user`, { headers: { ...basic(name, password), ...spoofed } });
    expect(answer.status).toBe(200);
    const { headers } = await jsonOf<Echo>(answer);
    const said = Object.fromEntries(Object.entries(headers).filter(([key]) => /^(x-auth-|authorization)/.test(key)));
    expect(said).toEqual({ 'x-auth-consumer': name, 'x-auth-user': name, ...rest });
    const wrong = await fetch(`${gw.url}/user`, { headers: { ...basic(name, `${password}x`), ...spoofed } });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="api"']);
    expect(await wrong.json()).toEqual({
      type: 'urn:gw:error:authentication-failed',
      title: 'Authentication failed',
      status: 401,
      detail: 'Invalid username or password',
    });
  });

  it('verifies a hash once for many requests, and has others served meanwhile', async () => {
    const headers = basic('dave', 'scrypt-secret');
    const all = await Promise.all(Array.from({ length: 200 }, () => fetch(`${gw.url}/user`, { headers })));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    await Promise.all(all.map((each) => each.arrayBuffer()));
  });

  it('says 503 past what waits to be verified, and goes on', async () => {
    const guesses = Array.from({ length: 300 }, (_, i) =>
      fetch(`${gw.url}/user`, { headers: basic('bob', `guess ${i}`) }),
    );
    const answers = await Promise.all(guesses);
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 503]));
    const busy = answers.find(({ status }) => status === 503);
    expect(busy?.headers.get('retry-after')).toBe('1');
    expect(await busy?.json()).toMatchObject({ type: 'urn:gw:error:overloaded' });
    expect((await fetch(`${gw.url}/user`, { headers: basic('alice', 'plain:secret') })).status).toBe(200);
  });

  it('finds API keys by their hashes', async () => {
    const known = await fetch(`${gw.url}/key`, { headers: { 'x-api-key': 'k-alice', ...spoofed } });
    expect((await jsonOf<Echo>(known)).headers).toMatchObject({ 'x-auth-consumer': 'alice', 'x-api-key': 'k-alice' });
    expect((await fetch(`${gw.url}/key`, { headers: { 'x-api-key': 'k-alicf' } })).status).toBe(401);
  });

  it('has no password and no hash in its log', () => {
    expect(JSON.stringify(gw.log)).not.toMatch(/secret|argon2|guess/);
  });

  it('takes hashes for no secrets in plain text (E1070), and nothing else', async () => {
    const keys = [{ key: `sha256:${'ab'.repeat(32)}`, id: 'a' }];
    const plain = { credentials: [{ username: 'a', password: 'plain' }] };
    const codes = async (name: string, config: object) => {
      const result = await compile({
        specs: ['api.json'],
        files: [
          {
            name: 'api.json',
            bytes: Buffer.from(
              JSON.stringify(
                document({ '/a': { get: operation(name === 'apikey-auth' ? 'key' : 'user', { name, config }) } }),
              ),
            ),
          },
        ],
        plugins: ['basic-auth', 'apikey-auth', 'ldap-auth', 'http-upstream'].map((each) => loadBuiltinPlugin(each)),
        flags: { allowPlaintext: true, sourceDateEpoch: 0 },
      });
      return result.diagnostics.map(({ code }) => code);
    };
    expect(await codes('basic-auth', { credentials })).toEqual([]);
    expect(await codes('apikey-auth', { keys })).toEqual([]);
    expect(await codes('basic-auth', plain)).toEqual(['E1070']);
    expect(await codes('apikey-auth', { keys: [{ key: argon2, id: 'a' }] })).toContain('E1070');
    const directory = { url: 'ldaps://ldap.example.org', user_base_dn: 'dc=x', bind_dn: 'cn=x', bind_password: argon2 };
    expect(await codes('ldap-auth', directory)).toEqual(['E1070']);
  });

  it('does not compile with a hash that it cannot verify, and names its place, not the hash', async () => {
    const broken = [{ username: 'eve', password: '$argon2id$v=19$m=19456,t=2,p=1$broken' }];
    const compiling = compileSpec(
      document({ '/a': { get: operation('user', { name: 'basic-auth', config: { credentials: broken } }) } }),
      ['basic-auth', 'http-upstream'],
    );
    const message = await compiling.then(String, String);
    expect(message).toContain('credentials/0: password looks like a hash of an unknown kind');
    expect(message).not.toContain('broken');
  });
});
