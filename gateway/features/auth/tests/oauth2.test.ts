/**
 * `oauth2-auth` with a real authorization server, and with one that a test has in its hands (RFC 7662;
 * docs/reference/plugins.md#oauth2-auth).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { type Issuer, startIssuer } from '../../../../test/serve/issuer.ts';
import { CLIENT, grantedToken, PROVIDER, revoke } from '../../../../test/serve/provider.ts';
import { ask, identityOf, startSecured } from '../../../../test/serve/token-api.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

describe.skipIf(PROVIDER === '')('oauth2-auth with a real provider (needs OIDC_ISSUER)', () => {
  let gw: Gateway;
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream();
    const oauth2 = (config: object = {}) => ({
      plugin: 'oauth2-auth' as const,
      config: {
        introspection_endpoint: `${PROVIDER}/token/introspection`,
        client_id: CLIENT.id,
        client_secret: 'env://CLIENT_SECRET',
        ...config,
      },
    });
    gw = await startSecured(
      {
        '/books': oauth2(),
        '/admin': oauth2({ required_scopes: 'read admin' }),
        '/stranger': oauth2({ client_secret: 'wrong' }),
      },
      { upstream: upstream.url, env: { CLIENT_SECRET: CLIENT.secret } },
    );
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  it('lets in a token that is active, and tells the upstream who it is', async () => {
    const answer = await ask(`${gw.url}/books`, await grantedToken({ scope: 'read write' }));
    expect(answer.status).toBe(200);
    expect(identityOf(answer)).toEqual({
      'x-auth-consumer': CLIENT.id,
      'x-auth-consumer-groups': 'read,write',
      'x-auth-scope': 'read write',
      'x-auth-client-id': CLIENT.id,
      'x-auth-claims': expect.stringContaining('"active":true'),
    });
  });

  it('answers 401 to a token that nobody granted, and to one that was revoked, at once', async () => {
    const unknown = await ask(`${gw.url}/books`, 'made-up');
    expect([unknown.status, unknown.challenge]).toEqual([
      401,
      'Bearer realm="api", error="invalid_token", error_description="the token is not active"',
    ]);
    const token = await grantedToken({ scope: 'read' });
    expect((await ask(`${gw.url}/books`, token)).status).toBe(200);
    await revoke(token);
    expect((await ask(`${gw.url}/books`, token)).status).toBe(401);
  });

  it('answers 403 to a token without the scopes', async () => {
    const answer = await ask(`${gw.url}/admin`, await grantedToken({ scope: 'read' }));
    expect([answer.status, answer.challenge]).toEqual([
      403,
      'Bearer realm="api", error="insufficient_scope", scope="read admin"',
    ]);
  });

  it('answers 503 where the server does not know the gateway', async () => {
    const answer = await ask(`${gw.url}/stranger`, await grantedToken({ scope: 'read' }));
    expect([answer.status, answer.body['type']]).toEqual([503, 'urn:gw:error:issuer-unavailable']);
    expect((await gw.logged(({ msg }) => msg.includes(': unavailable: '))).msg).toContain('answered with status 401');
    expect(JSON.stringify(gw.log)).not.toContain(CLIENT.secret);
  });
});

describe('oauth2-auth', () => {
  let issuer: Issuer;
  let gw: Gateway;
  let upstream: Upstream;
  beforeAll(async () => {
    [issuer, upstream] = await Promise.all([startIssuer(), startUpstream()]);
    const oauth2 = (config: object = {}) => ({
      plugin: 'oauth2-auth' as const,
      config: {
        introspection_endpoint: `${issuer.url}/introspect`,
        client_id: 'gate:way',
        client_secret: 'env://CLIENT_SECRET',
        timeout: 1,
        ...config,
      },
    });
    gw = await startSecured(
      {
        '/a': oauth2(),
        '/broken': oauth2({ required_scopes: '' }),
        '/cached': oauth2({ cache_ttl_seconds: 2 }),
        '/strip': oauth2({ strip_credentials: true }),
      },
      { upstream: upstream.url, env: { CLIENT_SECRET: 's&cret %' } },
    );
  });
  afterAll(async () => {
    await gw?.stop();
    await Promise.all([upstream?.close(), issuer?.down()]);
  });
  const grant = (more: Record<string, unknown> = {}) => {
    const token = crypto.randomUUID();
    issuer.active.set(token, { active: true, sub: 'alice', ...more });
    return token;
  };
  const asked = () => issuer.asks('/introspect');

  it('sends its credentials by Basic, form-encoded (RFC 6749, section 2.3.1)', async () => {
    expect((await ask(`${gw.url}/a`, grant())).status).toBe(200);
    const [, credentials = ''] = issuer.asked.at(-1)?.headers.authorization?.split(' ') ?? [];
    expect(Buffer.from(credentials, 'base64').toString()).toBe('gate%3Away:s%26cret+%25');
  });

  it('names the consumer by sub, else username, else client', async () => {
    const identity = async (more: object) => identityOf(await ask(`${gw.url}/a`, grant({ sub: undefined, ...more })));
    const whole = { username: 'al', client_id: 'app' };
    expect(await identity({ sub: 's', ...whole })).toMatchObject({
      'x-auth-consumer': 's',
      'x-auth-sub': 's',
      'x-auth-username': 'al',
      'x-auth-client-id': 'app',
    });
    expect((await identity(whole))['x-auth-consumer']).toBe('al');
    expect((await identity({ client_id: 'app' }))['x-auth-consumer']).toBe('app');
    expect(await identity({})).not.toHaveProperty('x-auth-consumer');
  });

  it('asks each time by default, and once for all that ask at the same time', async () => {
    const token = grant();
    const before = asked();
    await ask(`${gw.url}/a`, token);
    await ask(`${gw.url}/a`, token);
    expect(asked() - before).toBe(2);
    const release: (() => void)[] = [];
    issuer.instead = (_request, response) => {
      release.push(() => response.end('{"active":true,"sub":"alice"}'));
      return true;
    };
    const together = Promise.all(Array.from({ length: 20 }, () => ask(`${gw.url}/a`, token)));
    await expect.poll(() => release.length).toBe(1);
    await sleep(100);
    issuer.instead = null;
    for (const each of release) each();
    expect((await together).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(release).toHaveLength(1);
  });

  it('keeps an answer for cache_ttl_seconds, never past the expiry, and only of active tokens', async () => {
    const token = grant();
    const short = grant({ exp: Math.floor(Date.now() / 1000) + 1 });
    const before = asked();
    for (let i = 0; i < 5; i++) expect((await ask(`${gw.url}/cached`, token)).status).toBe(200);
    expect(asked() - before).toBe(1);
    issuer.active.delete(token);
    await ask(`${gw.url}/cached`, short);
    const since = asked();
    await expect.poll(async () => (await ask(`${gw.url}/cached`, token)).status).toBe(401);
    await ask(`${gw.url}/cached`, token);
    expect(asked() - since).toBeGreaterThanOrEqual(2);
    const after = asked();
    await ask(`${gw.url}/cached`, short);
    expect(asked() - after).toBe(1);
  });

  it('lets valid tokens in however many odd ones the server refuses with 4xx', async () => {
    const odd = (status: number, body = '') => {
      issuer.instead = (_request, response) => {
        response.writeHead(status).end(body);
        return true;
      };
    };
    for (const [status, answer] of [
      [400, 401],
      [422, 401],
      [414, 401],
      [404, 503],
    ] as const) {
      odd(status, '{"error":"invalid_request"}');
      for (let i = 0; i < 6; i++)
        expect([status, (await ask(`${gw.url}/a`, `odd-${i}`)).status]).toEqual([status, answer]);
      issuer.instead = null;
      expect((await ask(`${gw.url}/a`, grant())).status).toBe(200);
    }
    // What is about the gateway is no fault of the token.
    odd(400, '{"error":"invalid_client"}');
    expect((await ask(`${gw.url}/a`, grant())).status).toBe(503);
    issuer.instead = null;
    expect((await ask(`${gw.url}/a`, grant())).status).toBe(200);
  });

  it.each([
    ['status 500', 500, '{"active":true,"sub":"alice"}', 'answered with status 500'],
    ['HTML', 200, '<html>', 'did not answer with a JSON object'],
    ['no "active"', 200, '{"sub":"alice"}', 'without "active"'],
    ['"active" in text', 200, '{"active":"true","sub":"alice"}', 'without "active"'],
    ['two answers in one', 200, '{"active":false,"active":true,"sub":"alice"}', 'did not answer with a JSON object'],
    ['40 KB', 200, `{"active":true,"more":"${'x'.repeat(40_000)}"}`, 'more than 32768 bytes'],
  ])('answers 503 where the server answers with %s, and keeps nothing of it', async (_what, status, body, reason) => {
    const token = grant();
    issuer.instead = (_request, response) => {
      response.writeHead(status).end(body);
      return true;
    };
    const answer = await ask(`${gw.url}/cached`, token);
    issuer.instead = null;
    expect([answer.status, answer.body['type']]).toEqual([503, 'urn:gw:error:issuer-unavailable']);
    await gw.logged(({ msg }) => msg.includes(reason));
    expect((await ask(`${gw.url}/cached`, token)).status).toBe(200);
  });

  it('answers 503 within the time-out where the server is slow, and recovers', async () => {
    const token = grant();
    issuer.instead = () => true;
    expect((await ask(`${gw.url}/a`, token)).status).toBe(503);
    issuer.instead = null;
    expect((await ask(`${gw.url}/a`, token)).status).toBe(200);
  });

  it('answers 503 while the server is away, and recovers', async () => {
    const token = grant();
    await issuer.down();
    expect((await ask(`${gw.url}/a`, token)).status).toBe(503);
    await issuer.up();
    expect((await ask(`${gw.url}/a`, token)).status).toBe(200);
  });

  it('asks no more after five failures in a row, and again when ten seconds have passed', async () => {
    issuer.instead = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const before = asked();
    const all = await Promise.all(Array.from({ length: 5 }, () => ask(`${gw.url}/broken`, grant())));
    for (let i = 0; i < 5; i++) all.push(await ask(`${gw.url}/broken`, grant()));
    issuer.instead = null;
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([503]));
    expect(asked() - before).toBe(5);
    await expect.poll(async () => (await ask(`${gw.url}/broken`, grant())).status, { interval: 500 }).toBe(200);
  });

  it('does not believe that an expired token is active', async () => {
    expect((await ask(`${gw.url}/a`, grant({ exp: Math.floor(Date.now() / 1000) - 100 }))).status).toBe(401);
  });

  it('asks nobody about what cannot be a token', async () => {
    const before = asked();
    for (const token of ['a b', 'ä', 'a"b', 'x'.repeat(20_000).slice(0, 7_000).concat('!')]) {
      const bytes = Buffer.from(token).toString('latin1');
      expect((await ask(`${gw.url}/a`, bytes)).status).toBe(401);
    }
    expect(asked()).toBe(before);
  });

  it('removes the credentials before forwarding where that is wanted', async () => {
    expect((await ask(`${gw.url}/strip`, grant())).body.headers).not.toHaveProperty('authorization');
  });
});
