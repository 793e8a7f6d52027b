/** Attacks on tokens through a real gateway: not one gets in, and none has the gateway fetch anything (RFC 8725). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../serve/gateway.ts';
import { goodClaims, jwkOf, newKey, signToken } from '../serve/issuer.ts';
import { ask, identityOf, startSecured } from '../serve/token-api.ts';
import { startUpstream, type Upstream } from '../serve/upstream.ts';
import { ATTACKS, type Target } from './jwt-attacks.ts';

const issuer = 'https://issuer.example';
const rsa = newKey('RS256', 'rsa');
const ec = newKey('ES256', 'ec');

describe('tokens that are made to deceive (RFC 8725)', () => {
  let gw: Gateway;
  let upstream: Upstream;
  let trap: Upstream;
  let target: Target;
  beforeAll(async () => {
    [upstream, trap] = await Promise.all([startUpstream(), startUpstream()]);
    target = { issuer, rsa, ec, trap: trap.url };
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const jwks = { keys: [rsa, ec].map(jwkOf) };
    const expected = { issuer, audience: 'urn:books' };
    gw = await startSecured(
      {
        '/jwks': { plugin: 'jwt-auth', config: { ...expected, jwks } },
        '/pem': { plugin: 'jwt-auth', config: { ...expected, public_key: pem, algorithms: ['RS256'] } },
      },
      { upstream: upstream.url, args: ['--max-header-size', '65536'] },
    );
  });
  afterAll(async () => {
    await gw?.stop();
    await Promise.all([upstream?.close(), trap?.close()]);
  });

  it('lets in what is right, by either key', async () => {
    for (const key of [rsa, ec]) {
      const answer = await ask(`${gw.url}/jwks`, signToken(key, goodClaims(issuer)));
      expect([answer.status, identityOf(answer)['x-auth-consumer']]).toEqual([200, 'alice']);
    }
    expect(
      (await ask(`${gw.url}/pem`, signToken(rsa, goodClaims(issuer, { aud: ['urn:a', 'urn:books'] })))).status,
    ).toBe(200);
  });

  it.each(ATTACKS)('refuses (%s) %s', async (_section, _what, make) => {
    const before = upstream.seen.length;
    const token = make(target);
    for (const path of ['/jwks', '/pem']) {
      const { status, body, challenge } = await ask(gw.url + path, token);
      expect([status, body['type']]).toEqual([401, 'urn:gw:error:unauthorized']);
      expect(challenge).toMatch(/^Bearer realm="api"(, error="invalid_token", error_description="[^"\\]+")?$/);
    }
    expect(upstream.seen.length).toBe(before);
    expect(trap.seen).toEqual([]);
  });

  it('does not let a verified token in after its time, though it is remembered', async () => {
    const now = Math.floor(Date.now() / 1000);
    const token = signToken(rsa, goodClaims(issuer, { exp: now - 58 }));
    expect((await ask(`${gw.url}/jwks`, token)).status).toBe(200);
    const deadline = Date.now() + 10_000;
    let last = 200;
    while (last === 200 && Date.now() < deadline) last = (await ask(`${gw.url}/jwks`, token)).status;
    expect(last).toBe(401);
  });

  it.each([
    'x-auth-consumer',
    'X-Auth-Consumer',
    'X-AUTH-CONSUMER',
    'x_auth_consumer',
    'X_Auth_Consumer',
    'x-auth-consumer-groups',
    'x-auth-claims',
    'x-auth-anything',
  ])('never takes %s from a client', async (name) => {
    const answer = await ask(`${gw.url}/jwks`, signToken(rsa, goodClaims(issuer)), { [name]: 'admin' });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body.headers)).not.toContain('admin');
    expect(identityOf(answer)['x-auth-consumer']).toBe('alice');
    expect((await ask(`${gw.url}/jwks`, null, { [name]: 'admin' })).status).toBe(401);
  });

  it('leaves no token in the log', () => {
    expect(JSON.stringify(gw.log)).not.toMatch(/eyJ|invalid_token/);
    expect(gw.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
