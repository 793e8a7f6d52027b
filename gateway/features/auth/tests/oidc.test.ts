/**
 * `oidc-auth` with a real OpenID provider, and with an issuer that a test has in its hands
 * (docs/reference/plugins.md#oidc-auth).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { goodClaims, type Issuer, newKey, signToken, startIssuer } from '../../../../test/serve/issuer.ts';
import { CLIENT, grantedToken, PROVIDER, signedByProvider } from '../../../../test/serve/provider.ts';
import { ask, identityOf, startSecured } from '../../../../test/serve/token-api.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const now = () => Math.floor(Date.now() / 1000);

describe.skipIf(PROVIDER === '')('oidc-auth with a real provider (needs OIDC_ISSUER)', () => {
  let gw: Gateway;
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream();
    const oidc = (config: object) => ({ plugin: 'oidc-auth' as const, config: { issuer_url: PROVIDER, ...config } });
    gw = await startSecured(
      {
        '/books': oidc({ audience: 'urn:books', required_scopes: 'read' }),
        '/es256': oidc({ audience: 'urn:es256' }),
        '/admin': oidc({ required_scopes: 'read admin' }),
      },
      { upstream: upstream.url },
    );
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  it('lets in a token that the provider granted, and tells the upstream who it is', async () => {
    const token = await grantedToken({ scope: 'read write', resource: 'urn:books', claims: '{"team":"größe"}' });
    const answer = await ask(`${gw.url}/books`, token);
    expect(answer.status).toBe(200);
    expect(identityOf(answer)).toMatchObject({
      'x-auth-consumer': CLIENT.id,
      'x-auth-consumer-groups': 'read,write',
      'x-auth-sub': CLIENT.id,
      'x-auth-scope': 'read write',
      'x-auth-claims': expect.stringContaining('"team":"gr\\u00f6\\u00dfe"'),
    });
  });

  it('takes ES256 as well', async () => {
    expect((await ask(`${gw.url}/es256`, await grantedToken({ resource: 'urn:es256' }))).status).toBe(200);
  });

  it.each([
    ['expired', { aud: 'urn:books', scope: 'read', exp: now() - 61 }, 'the token has expired'],
    ['not yet valid', { aud: 'urn:books', scope: 'read', nbf: now() + 200 }, 'the token is not valid yet'],
    ['for another audience', { aud: 'urn:films', scope: 'read' }, 'the token is not for this audience'],
    ['of another issuer', { iss: 'https://evil.example', aud: 'urn:books' }, "the token's issuer is not accepted"],
    ['without an issuer', { iss: null, aud: 'urn:books' }, "the token's issuer is not accepted"],
  ])('answers 401 to a token that is %s', async (_what, claims, detail) => {
    const answer = await ask(`${gw.url}/books`, await signedByProvider({ sub: 'alice', ...claims }));
    expect([answer.status, answer.body['detail']]).toEqual([401, detail]);
    expect(answer.challenge).toBe(`Bearer realm="api", error="invalid_token", error_description="${detail}"`);
  });

  it('answers 403 to a token without the scopes, and says which', async () => {
    const answer = await ask(`${gw.url}/admin`, await grantedToken({ scope: 'read', resource: 'urn:books' }));
    expect(answer).toMatchObject({ status: 403, body: { type: 'urn:gw:error:forbidden', title: 'Forbidden' } });
    expect(answer.challenge).toBe('Bearer realm="api", error="insufficient_scope", scope="read admin"');
    const enough = await grantedToken({ scope: 'admin read', resource: 'urn:books' });
    expect((await ask(`${gw.url}/admin`, enough)).status).toBe(200);
  });

  it('answers 401 without credentials, without an error code', async () => {
    const answer = await ask(`${gw.url}/books`, null);
    expect([answer.status, answer.challenge]).toEqual([401, 'Bearer realm="api"']);
  });
});

describe('oidc-auth', () => {
  let issuer: Issuer;
  let gw: Gateway;
  let upstream: Upstream;
  beforeAll(async () => {
    [issuer, upstream] = await Promise.all([startIssuer(), startUpstream()]);
    const oidc = (config: object) => ({ plugin: 'oidc-auth' as const, config: { issuer_url: issuer.url, ...config } });
    gw = await startSecured(
      {
        '/plain': oidc({}),
        '/query': oidc({ allow_query_token: true }),
        '/slash': oidc({ issuer_url: `${issuer.url}/` }),
        '/override': oidc({ issuer_override: 'https://public.example' }),
        '/empty-override': oidc({ issuer_override: 'env://NO_OVERRIDE' }),
        '/strip': oidc({ strip_credentials: true }),
      },
      { upstream: upstream.url, args: ['--log-level', 'trace'], env: { NO_OVERRIDE: '' } },
    );
  });
  afterAll(async () => {
    await gw?.stop();
    await Promise.all([upstream?.close(), issuer?.down()]);
  });

  it('takes a token in the query only where that is allowed', async () => {
    const token = issuer.token();
    expect((await ask(`${gw.url}/plain?access_token=${token}`, null)).status).toBe(401);
    expect((await ask(`${gw.url}/query?access_token=${token}`, null)).status).toBe(200);
  });

  it('never shows the upstream, or the log, a token of the query', async () => {
    const token = issuer.token({ sub: 'query' });
    const url = `${gw.url}/query?a=1&access_token=${token}&b=2&access%5Ftoken=${token}`;
    expect((await ask(url, null)).body.url).toBe('/query?a=1&b=2');
    expect((await ask(url, issuer.token())).body.url).toBe('/query?a=1&b=2');
    expect((await ask(`${gw.url}/query?access_token=wrong-${token}`, null)).status).toBe(401);
    await expect.poll(() => gw.log.filter(({ path }) => path === '/query').length).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify(gw.log)).not.toContain(token.slice(-40));
  });

  it('goes by the token of the header where there are two', async () => {
    const query = issuer.token({ sub: 'query' });
    const answer = await ask(`${gw.url}/query?access_token=${query}`, issuer.token({ sub: 'header' }));
    expect(identityOf(answer)['x-auth-consumer']).toBe('header');
    expect((await ask(`${gw.url}/query?access_token=${query}`, 'wrong')).status).toBe(401);
  });

  it('wants the issuer exactly as it is configured (OpenID Connect Discovery, section 4.3)', async () => {
    expect((await ask(`${gw.url}/slash`, issuer.token({ iss: `${issuer.url}/` }))).status).toBe(503);
    const line = await gw.logged(({ msg }) => msg.includes('make them equal'));
    expect(line.msg).toContain(`names the issuer "${issuer.url}", and issuer_url is "${issuer.url}/"`);
  });

  it('expects issuer_override in tokens, where it is not empty', async () => {
    expect((await ask(`${gw.url}/override`, issuer.token({ iss: 'https://public.example' }))).status).toBe(200);
    expect((await ask(`${gw.url}/override`, issuer.token())).status).toBe(401);
    expect((await ask(`${gw.url}/empty-override`, issuer.token())).status).toBe(200);
  });

  it('does not take ES512, which is not among its algorithms', async () => {
    const key = newKey('ES512', 'p521');
    issuer.keys = [key, ...issuer.keys];
    const answer = await ask(`${gw.url}/plain`, signToken(key, goodClaims(issuer.url)));
    expect([answer.status, answer.body['detail']]).toEqual([401, "the token's algorithm is not accepted"]);
  });

  it('reads scopes from scope or scp, text or list', async () => {
    for (const claims of [{ scope: 'a b' }, { scope: ['a', 'b'] }, { scp: ['a', 'b'] }, { scp: 'a b' }]) {
      const identity = identityOf(await ask(`${gw.url}/plain`, issuer.token(claims)));
      expect([identity['x-auth-scope'], identity['x-auth-consumer-groups']]).toEqual(['a b', 'a,b']);
    }
  });

  it('removes the credentials before forwarding where that is wanted', async () => {
    expect((await ask(`${gw.url}/strip`, issuer.token())).body.headers).not.toHaveProperty('authorization');
  });
});
