/**
 * `jwt-auth` through `gw serve`: who is let in with which key, and what upstreams learn of it
 * (docs/reference/plugins.md#jwt-auth).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { goodClaims, jwkOf, newKey, type SigningAlgorithm, signToken } from '../../../../test/serve/issuer.ts';
import { ask, identityOf, securedDocument, startSecured } from '../../../../test/serve/token-api.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';
import { compile, type Project } from '../../../src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../../src/plugins/builtin.ts';

const issuer = 'https://issuer.example';
const algorithms: readonly SigningAlgorithm[] = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'];
const keys = Object.fromEntries(algorithms.map((alg) => [alg, newKey(alg, alg)])) as Record<
  SigningAlgorithm,
  ReturnType<typeof newKey>
>;
const jwks = { keys: Object.values(keys).map(jwkOf) };
const token = (claims: object = {}, header: object = {}) => signToken(keys.RS256, goodClaims(issuer, claims), header);

describe('jwt-auth', () => {
  let gw: Gateway;
  let upstream: Upstream;
  let secrets: string;
  beforeAll(async () => {
    upstream = await startUpstream();
    secrets = mkdtempSync(join(tmpdir(), 'gw-jwt-'));
    writeFileSync(join(secrets, 'key.pem'), keys.ES512.publicKey.export({ type: 'spki', format: 'pem' }));
    const jwt = (config: object) => ({ plugin: 'jwt-auth' as const, config });
    gw = await startSecured(
      {
        '/jwks': jwt({ jwks, issuer, audience: 'urn:books', groups_claim: 'groups' }),
        '/jwks-env': jwt({ jwks: 'env://JWKS', groups_claim: '/realm_access/roles' }),
        '/pem': jwt({ public_key: `file://${secrets}/key.pem` }),
        '/scope': jwt({ jwks, groups_claim: 'scope' }),
        '/patient': jwt({ jwks, clock_skew_seconds: 600 }),
        '/strip': jwt({ jwks, strip_credentials: true }),
        '/no-key': jwt({}),
        '/unchecked': jwt({ skip_signature_validation: true, issuer }),
        '/two-keys': jwt({
          jwks: { keys: [keys.RS384, keys.RS256].map((key) => ({ ...jwkOf(key), kid: undefined, alg: undefined })) },
        }),
      },
      {
        upstream: upstream.url,
        env: { JWKS: JSON.stringify(jwks), GW_SECRETS_DIR: secrets },
        args: ['--max-header-size', '32768'],
      },
    );
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
    if (secrets) rmSync(secrets, { recursive: true });
  });

  it.each(algorithms)('accepts %s', async (alg) => {
    expect((await ask(`${gw.url}/jwks`, signToken(keys[alg], goodClaims(issuer)))).status).toBe(200);
  });

  it('tells the upstream who it is', async () => {
    const claims = goodClaims(issuer, { groups: ['readers', 'a,b'], name: 'Alice' });
    const answer = await ask(`${gw.url}/jwks`, signToken(keys.RS256, claims));
    const { 'x-auth-claims': said, ...identity } = identityOf(answer);
    expect(identity).toEqual({
      'x-auth-consumer': 'alice',
      'x-auth-consumer-groups': 'readers,a%2Cb',
      'x-auth-sub': 'alice',
    });
    expect(JSON.parse(said ?? '')).toEqual(claims);
    expect(answer.body.headers?.['authorization']).toMatch(/^Bearer eyJ/);
  });

  it('reads keys from secrets: a key set from env://, a PEM from file://', async () => {
    const groups = await ask(`${gw.url}/jwks-env`, token({ realm_access: { roles: ['admin', 'staff'] } }));
    expect(identityOf(groups)['x-auth-consumer-groups']).toBe('admin,staff');
    expect((await ask(`${gw.url}/pem`, signToken(keys.ES512, goodClaims(issuer)))).status).toBe(200);
    expect((await ask(`${gw.url}/pem`, token())).status).toBe(401);
  });

  it('tries the keys of a set that have no names', async () => {
    expect((await ask(`${gw.url}/two-keys`, token())).status).toBe(200);
    expect((await ask(`${gw.url}/two-keys`, signToken(keys.RS512, goodClaims(issuer)))).status).toBe(401);
  });

  it('makes groups of a text claim: one, or those of scope', async () => {
    expect(identityOf(await ask(`${gw.url}/jwks`, token({ groups: 'Domain Users' })))['x-auth-consumer-groups']).toBe(
      'Domain Users',
    );
    expect(identityOf(await ask(`${gw.url}/scope`, token({ scope: 'read write' })))['x-auth-consumer-groups']).toBe(
      'read,write',
    );
    expect(identityOf(await ask(`${gw.url}/jwks`, token()))['x-auth-consumer-groups']).toBe('');
  });

  // docs/decisions.md#identity-headers
  it('percent-encodes what is not ASCII, and leaves out claims of more than 8 KiB', async () => {
    expect(identityOf(await ask(`${gw.url}/jwks`, token({ sub: 'zoë' })))['x-auth-consumer']).toBe('zo%C3%AB');
    const large = identityOf(await ask(`${gw.url}/jwks`, token({ more: 'x'.repeat(8_200) })));
    expect(large).not.toHaveProperty('x-auth-claims');
    expect(large['x-auth-consumer']).toBe('alice');
    const line = await gw.logged(({ msg }) => msg.startsWith('x-auth-claims left out'));
    expect(line).toMatchObject({ level: 'warn', plugin: 'jwt-auth' });
  });

  it('names no consumer where the token has no subject', async () => {
    const identity = identityOf(await ask(`${gw.url}/jwks`, token({ sub: undefined })));
    expect(Object.keys(identity).sort()).toEqual(['x-auth-claims', 'x-auth-consumer-groups']);
  });

  it('has a tolerance of 60 seconds, or what is configured', async () => {
    const now = Math.floor(Date.now() / 1000);
    expect((await ask(`${gw.url}/jwks`, token({ exp: now - 30, nbf: now + 30 }))).status).toBe(200);
    expect((await ask(`${gw.url}/jwks`, token({ exp: now - 120 }))).status).toBe(401);
    expect((await ask(`${gw.url}/patient`, token({ exp: now - 120, nbf: now + 120 }))).status).toBe(200);
  });

  it('removes the credentials before forwarding where that is wanted', async () => {
    expect((await ask(`${gw.url}/strip`, token())).body.headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['no credentials', {}, 'a bearer token is required', ''],
    ['another scheme', { authorization: 'Basic YTpi' }, 'a bearer token is required', ''],
    ['an empty token', { authorization: 'Bearer ' }, 'a bearer token is required', ''],
    [
      'no token',
      { authorization: 'Bearer x' },
      'the token is not a signed JWT',
      ', error="invalid_token", error_description="the token is not a signed JWT"',
    ],
  ])('answers 401 to %s, as RFC 6750 says', async (_what, headers, detail, challenge) => {
    const answer = await ask(`${gw.url}/jwks`, null, headers);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ type: 'urn:gw:error:unauthorized', title: 'Unauthorized', status: 401, detail });
    expect(answer.challenge).toBe(`Bearer realm="api"${challenge}`);
  });

  it('takes the scheme in any case', async () => {
    const answer = await ask(`${gw.url}/jwks`, null, { authorization: `bEARER  ${token()}` });
    expect(answer.status).toBe(200);
  });

  // docs/decisions.md#jwt-without-key
  it('refuses every token without a key, and skips the signature alone where that is said', async () => {
    const refused = await ask(`${gw.url}/no-key`, token());
    expect([refused.status, refused.body['detail']]).toEqual([
      401,
      "the token's signature cannot be verified: no key is configured",
    ]);
    const stranger = newKey('RS256', 'stranger');
    expect((await ask(`${gw.url}/unchecked`, signToken(stranger, goodClaims(issuer)))).status).toBe(200);
    expect((await ask(`${gw.url}/unchecked`, signToken(stranger, goodClaims('https://other.example')))).status).toBe(
      401,
    );
    expect((await ask(`${gw.url}/unchecked`, signToken(stranger, goodClaims(issuer, { exp: 1 })))).status).toBe(401);
    expect((await ask(`${gw.url}/unchecked`, signToken(stranger, goodClaims(issuer), { alg: 'none' }))).status).toBe(
      401,
    );
  });
});

describe('jwt-auth, configured wrongly', () => {
  const compiled = async (config: object, production = false) => {
    const project: Project = {
      specs: ['api.json'],
      files: [
        {
          name: 'api.json',
          bytes: Buffer.from(JSON.stringify(securedDocument({ '/a': { plugin: 'jwt-auth', config } }))),
        },
      ],
      plugins: ['jwt-auth', 'mock'].map((name) => loadBuiltinPlugin(name)),
      flags: { production },
    };
    return compile(project);
  };
  const codes = async (config: object, production = false) => {
    const { diagnostics } = await compiled(config, production);
    return diagnostics.map(({ code, message }) => `${code} ${message}`);
  };

  // docs/decisions.md#jwt-without-key
  it.each([{ jwks }, { jwks_url: 'https://issuer.example/jwks' }, { public_key: 'env://KEY' }])(
    'does not compile with a key source and skip_signature_validation: %o',
    async (source) => {
      expect(await codes({ ...source, skip_signature_validation: true })).toEqual([
        'E1030 plugin "jwt-auth": the config must not have skip_signature_validation together with jwks_url, jwks or public_key: remove one of them',
      ]);
      expect(await codes(source)).toEqual([]);
    },
  );

  // docs/decisions.md#production-builds
  it('does not compile with two sources of keys, or skipping in a production build, or plaintext keys', async () => {
    expect((await codes({ jwks, jwks_url: 'https://issuer.example/jwks' }))[0]).toMatch(/^E1030 .*more than one of/);
    expect((await codes({ skip_signature_validation: true }, true))[0]).toMatch(/^E1073/);
    expect((await codes({ jwks_url: 'http://issuer.example/jwks' }))[0]).toMatch(/^E1031/);
  });

  it.each([
    ['no key set', { jwks: { keys: 'none' } }, 'jwks: it is not a key set'],
    ['a shared secret', { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }, 'jwks: the key set holds no RSA key'],
    ['text that is no JSON', { jwks: 'keys' }, 'jwks is not JSON'],
    ['no PEM', { public_key: 'secret' }, 'public_key: it is not a public key in PEM'],
    [
      'broken PEM',
      { public_key: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----' },
      'public_key: it is not a public key in PEM that can be read',
    ],
  ])('does not compile with %s, and says why', async (_what, config, says) => {
    expect(await codes(config)).toEqual([expect.stringContaining(`plugin "jwt-auth": ${says}`)]);
  });
});
