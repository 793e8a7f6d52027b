/** Login tokens of an OIDC issuer as bearer tokens: which open what, and every way in which they do not. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { base64url, goodClaims, type Issuer, jwkOf, newKey, signToken, startIssuer } from '../serve/issuer.ts';
import { PROVIDER, signedByProvider } from '../serve/provider.ts';
import { type ControlServer, startControl } from './server.ts';

const AUDIENCE = 'urn:books';
const PROJECT = 'aaaaaaaa-0000-4000-8000-000000000001';
const ROLES = `platform=admin,readers=viewer,shop=editor@${PROJECT}`;
const flags = (issuer: string, claim = 'realm_access.roles') => [
  ...['--oidc-issuer', issuer, '--oidc-audience', AUDIENCE, '--oidc-roles', ROLES, '--oidc-role-claim', claim],
];
const roles = (...names: string[]) => ({ realm_access: { roles: names } });
const now = () => Math.floor(Date.now() / 1000);

describe('tokens of an issuer', () => {
  let issuer: Issuer;
  let control: ControlServer;
  beforeAll(async () => {
    issuer = await startIssuer();
    control = await startControl({ args: flags(issuer.url) });
  });
  afterAll(async () => {
    await control?.stop();
    await issuer?.down();
  });

  const whoami = async (token: string) => {
    const answer = await control.ask('/whoami', { token });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const key = () => issuer.keys[0] ?? newKey('RS256', 'none');
  const claims = (more: object = {}) => goodClaims(issuer.url, { ...roles('platform'), ...more });

  it.each([
    [['platform'], { role: 'admin', project_id: null }],
    [['readers'], { role: 'viewer', project_id: null }],
    [['shop'], { role: 'editor', project_id: PROJECT }],
    [['shop', 'else', 'readers'], { role: 'viewer', project_id: null }],
  ])('give by the roles %j %j', async (names, expected) => {
    const { status, body } = await whoami(signToken(key(), claims(roles(...names))));
    expect([status, body]).toEqual([200, { actor: 'oidc:alice', ...expected, expires_at: expect.any(String) }]);
  });

  it('without a role that is known are forbidden', async () => {
    expect((await whoami(signToken(key(), claims(roles('guests'))))).status).toBe(403);
    expect((await whoami(signToken(key(), claims({ realm_access: null })))).status).toBe(403);
  });

  const foreign = newKey('RS256', 'a');
  const attacks: readonly (readonly [what: string, token: () => string])[] = [
    ['expired', () => signToken(key(), claims({ exp: now() - 61 }))],
    ['not yet valid', () => signToken(key(), claims({ nbf: now() + 120 }))],
    ['without an expiry', () => signToken(key(), claims({ exp: undefined }))],
    ['for another audience', () => signToken(key(), claims({ aud: 'urn:films' }))],
    ['of another issuer', () => signToken(key(), claims({ iss: 'https://evil.example' }))],
    ['without a subject', () => signToken(key(), claims({ sub: undefined }))],
    ['whose subject has a NUL', () => signToken(key(), claims({ sub: 'al\u0000ice' }))],
    ['whose subject is long', () => signToken(key(), claims({ sub: 'a'.repeat(256) }))],
    ['of another type', () => signToken(key(), claims(), { typ: 'logout+jwt' })],
    ['with a critical extension', () => signToken(key(), claims(), { crit: ['b64'], b64: false })],
    ['signed with a key of the same name', () => signToken({ ...foreign, kid: key().kid }, claims())],
    ['signed with a key that it brings', () => signToken(foreign, claims(), { jwk: jwkOf(foreign) })],
    ['signed with a key that it points to', () => signToken(foreign, claims(), { jku: 'http://127.0.0.1:1/keys' })],
    ['with algorithm none', () => `${base64url({ alg: 'none' })}.${base64url(claims())}.`],
    [
      'with the public key as a shared secret',
      () => {
        const input = `${base64url({ alg: 'HS256', kid: key().kid })}.${base64url(claims())}`;
        const secret = key().publicKey.export({ type: 'spki', format: 'pem' });
        return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
      },
    ],
    [
      'of an algorithm that is not taken',
      () => {
        const input = `${base64url({ alg: 'EdDSA', kid: key().kid })}.${base64url(claims())}`;
        const { privateKey } = generateKeyPairSync('ed25519');
        return `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`;
      },
    ],
    [
      'whose claims were changed',
      () => {
        const [head = '', , signature = ''] = signToken(key(), claims(roles('readers'))).split('.');
        return `${head}.${base64url(claims())}.${signature}`;
      },
    ],
  ];
  it.each(attacks)('are refused, with the words that any bad token gets, where they are %s', async (_what, make) => {
    const bad = await whoami('nonsense');
    const { status, body } = await whoami(make());
    expect([status, body['detail']]).toEqual([401, bad.body['detail']]);
  });

  it('hold on after the keys were rotated, by the new key alone', async () => {
    const old = key();
    issuer.keys = [newKey('ES256', 'next')];
    await eventually(async () => expect((await whoami(signToken(key(), claims()))).status).toBe(200));
    expect((await whoami(signToken(old, claims()))).status).toBe(401);
  });

  it('end a stream when they expire', async () => {
    // Clocks may differ by a minute.
    const token = signToken(key(), claims({ exp: now() - 58 }));
    const { id } = await control.get<{ id: string }>('/projects', { method: 'POST', json: { name: 'streamed' } });
    const answer = await control.ask(`/projects/${id}/events`, { token });
    expect(answer.status).toBe(200);
    await answer.text();
    expect((await control.ask('/whoami', { token })).status).toBe(401);
  });

  it('are never logged', () => {
    expect(JSON.stringify(control.log)).not.toMatch(/eyJ[A-Za-z0-9_-]{20}/);
  });

  it('hold on by known keys while the issuer is away, and unknown keys are refused', async () => {
    await issuer.down();
    expect((await whoami(signToken(key(), claims()))).status).toBe(200);
    expect((await control.ask('/whoami')).status).toBe(200);
    await issuer.up();
  });
});

describe('an issuer that is away from the start', () => {
  it('is 503 for its tokens, and nothing to others, until it is there', async () => {
    const issuer = await startIssuer();
    await issuer.down();
    const control = await startControl({ args: flags(issuer.url) });
    const token = () => signToken(issuer.keys[0] ?? newKey('RS256', 'none'), goodClaims(issuer.url, roles('platform')));
    const away = await control.ask('/whoami', { token: token() });
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await control.ask('/whoami')).status).toBe(200);
    await issuer.up();
    await eventually(async () => expect((await control.ask('/whoami', { token: token() })).status).toBe(200));
    await control.stop();
    await issuer.down();
  });
});

describe.skipIf(PROVIDER === '')('tokens of a real provider (needs OIDC_ISSUER)', () => {
  it('open what their roles say', async () => {
    const control = await startControl({ args: flags(PROVIDER, '/roles') });
    const ask = async (claims: object) =>
      (await control.ask('/whoami', { token: await signedByProvider({ sub: 'alice', aud: AUDIENCE, ...claims }) }))
        .status;
    expect(await ask({ roles: ['platform'] })).toBe(200);
    expect(await ask({ roles: 'readers else' })).toBe(200);
    expect(await ask({ roles: ['nobody'] })).toBe(403);
    expect(await ask({ roles: ['platform'], aud: 'urn:films' })).toBe(401);
    expect(await ask({ roles: ['platform'], exp: now() - 120 })).toBe(401);
    await control.stop();
  });
});
