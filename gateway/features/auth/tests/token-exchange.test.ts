/** `token-exchange` with an authorization server of RFC 8693 (docs/reference/plugins.md#token-exchange). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { CURL, curl } from '../../../../test/serve/http.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { ask, type TokenAnswer } from '../../../../test/serve/token-api.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';
import {
  type AuthorizationServer,
  claimsOf,
  JWT,
  startAuthorizationServer,
  unsignedToken,
} from './authorization-server.ts';

let server: AuthorizationServer;
let gw: Gateway;
let upstream: Upstream;

const operation = (config: object) => ({
  get: {
    security: [{ bearer: [] }],
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': [{ name: 'token-exchange', config }],
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
  },
});

beforeAll(async () => {
  [server, upstream] = await Promise.all([
    startAuthorizationServer({ id: 'gate:way', secret: 's&cret %' }),
    startUpstream(),
  ]);
  const base = {
    token_endpoint: server.tokenEndpoint,
    client_id: 'gate:way',
    client_secret: 'env://CLIENT_SECRET',
    timeout: 1,
  };
  const paths = {
    '/orders': operation({ ...base, audience: 'orders' }),
    '/billing': operation({ ...base, audience: 'billing' }),
    '/fresh': operation({ ...base, audience: 'orders', cache_ttl_seconds: 0 }),
    '/posted': operation({
      ...base,
      client_authentication: 'client_secret_post',
      resource: 'https://orders.example/v1',
      scope: 'read write',
      subject_token_type: JWT,
      actor_token: 'env://ACTOR',
      actor_token_type: JWT,
      requested_token_type: JWT,
    }),
    '/public': operation({
      token_endpoint: server.tokenEndpoint,
      client_id: 'gate:way',
      client_authentication: 'none',
      audience: 'orders',
    }),
    '/elsewhere': operation({ ...base, audience: 'nobody-knows' }),
    '/wide': operation({ ...base, audience: 'orders', scope: 'read admin' }),
    '/broken': operation({ ...base, audience: 'orders', cache_ttl_seconds: 0, scope: 'write' }),
  };
  const components = { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } };
  const document = { openapi: '3.1.0', info: { title: 'Orders', version: '1' }, components, paths };
  const env = { CLIENT_SECRET: 's&cret %', ACTOR: 'planted-actor' };
  gw = await startGateway(await compileSpec(document, ['token-exchange', 'http-upstream']), { env });
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await Promise.all([upstream?.close(), server?.down()]);
});

const asked = () => server.asked.length;
const tokenOf = ({ body }: TokenAnswer) => /^Bearer (\S+)$/.exec(body.headers?.['authorization'] ?? '')?.[1] ?? '';
const formOf = () => Object.fromEntries(server.asked.at(-1)?.form ?? []);
const claimed = async (path: string, token: string) => claimsOf(tokenOf(await ask(gw.url + path, token)));

describe('an exchange', () => {
  it('gives the upstream a token of its own, and never the one of the caller', async () => {
    const token = server.grant('alice');
    const answer = await ask(`${gw.url}/orders`, token);
    expect(answer.status).toBe(200);
    expect(claimsOf(tokenOf(answer))).toMatchObject({ iss: server.url, sub: 'alice', aud: ['orders'] });
    expect(JSON.stringify(upstream.seen)).not.toContain(token);
    expect(formOf()).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'orders',
    });
    const [, credentials = ''] = server.asked.at(-1)?.headers.authorization?.split(' ') ?? [];
    expect(Buffer.from(credentials, 'base64').toString()).toBe('gate%3Away:s%26cret+%25');
  });

  it('says what is configured: resource, scopes, an actor, types, and its secret in the body', async () => {
    const token = server.grant('bob');
    expect(await claimed('/posted', token)).toMatchObject({
      sub: 'bob',
      aud: ['https://orders.example/v1'],
      scope: 'read write',
      act: { sub: 'planted-actor' },
    });
    expect(formOf()).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: JWT,
      actor_token: 'planted-actor',
      actor_token_type: JWT,
      requested_token_type: JWT,
      resource: 'https://orders.example/v1',
      scope: 'read write',
      client_id: 'gate:way',
      client_secret: 's&cret %',
    });
    expect(server.asked.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('of a client without a secret names the client alone', async () => {
    server.instead = (_request, response) => {
      response.writeHead(400).end('{"error":"invalid_target"}');
      return true;
    };
    await ask(`${gw.url}/public`, server.grant('carol'));
    server.instead = null;
    expect(formOf()).toMatchObject({ client_id: 'gate:way', audience: 'orders' });
    expect(formOf()).not.toHaveProperty('client_secret');
    expect(server.asked.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe('a token that was issued', () => {
  it('is used again for the same token at the same operation alone', async () => {
    const [alice, bob] = [server.grant('alice'), server.grant('bob')];
    const before = asked();
    const tokens: string[] = [];
    for (let i = 0; i < 3; i++) {
      for (const token of [alice, bob]) tokens.push(tokenOf(await ask(`${gw.url}/orders`, token)));
    }
    expect(asked() - before).toBe(2);
    expect(new Set(tokens).size).toBe(2);
    expect(tokens.map((each) => claimsOf(each)['sub'])).toEqual(['alice', 'bob', 'alice', 'bob', 'alice', 'bob']);
    expect(await claimed('/billing', alice)).toMatchObject({ sub: 'alice', aud: ['billing'] });
    expect(asked() - before).toBe(3);
  });

  it('is asked for once for all that ask at the same time, each of whom gets their own', async () => {
    const [alice, bob] = [server.grant('alice'), server.grant('bob')];
    const release: (() => void)[] = [];
    server.instead = (_request, response, form) => {
      const access_token = `of-${server.subjects.get(form.get('subject_token') ?? '')}`;
      // With a lifetime, what comes after the answer gets the same token.
      const answer = { access_token, issued_token_type: JWT, token_type: 'N_A', expires_in: 600 };
      release.push(() => response.end(JSON.stringify(answer)));
      return true;
    };
    const before = asked();
    const together = Promise.all(
      [alice, bob].flatMap((token) => Array.from({ length: 10 }, () => ask(`${gw.url}/orders`, token))),
    );
    await eventually(() => release.length === 2);
    server.instead = null;
    for (const each of release) each();
    const answers = await together;
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.map(tokenOf)).toEqual([...Array(10).fill('of-alice'), ...Array(10).fill('of-bob')]);
    expect(asked() - before).toBe(2);
  });

  it.each([
    ['its lifetime is not said', { expires_in: undefined }],
    ['its lifetime is no number', { expires_in: '600' }],
    ['it expires within 30 seconds', { expires_in: 30 }],
    ['it has expired', { expires_in: -1 }],
  ])('is not kept where %s', async (_, answers) => {
    server.answers = answers;
    const token = server.grant('alice');
    const before = asked();
    for (let i = 0; i < 2; i++) expect((await ask(`${gw.url}/orders`, token)).status).toBe(200);
    server.answers = {};
    expect(asked() - before).toBe(2);
  });

  it('is kept until 30 seconds before it expires', async () => {
    server.answers = { expires_in: 31 };
    const token = server.grant('alice');
    const first = tokenOf(await ask(`${gw.url}/orders`, token));
    await eventually(async () => tokenOf(await ask(`${gw.url}/orders`, token)) !== first);
    server.answers = {};
  });

  it('is not kept for longer than the token of the caller lasts, whatever the clock of its issuer says', async () => {
    const now = Math.floor(Date.now() / 1000);
    const before = asked();
    for (const exp of [now, now - 3600, -1e300, 0]) {
      const token = server.grant('alice', unsignedToken({ sub: 'alice', exp }));
      for (let i = 0; i < 2; i++) expect((await ask(`${gw.url}/orders`, token)).status).toBe(200);
    }
    expect(asked() - before).toBe(8);
    const lasting = server.grant('alice', unsignedToken({ sub: 'alice', exp: now + 3600 }));
    for (let i = 0; i < 2; i++) await ask(`${gw.url}/orders`, lasting);
    expect(asked() - before).toBe(9);
  });
});

describe('metrics', () => {
  it('count how exchanges end', async () => {
    const counted = async (result: string) => (await scrape(gw.admin)).value('gw_token_exchanges_total', { result });
    const results = ['issued', 'kept', 'refused', 'denied', 'unusable', 'unavailable'];
    const before = await Promise.all(results.map(counted));
    const token = server.grant('alice');
    for (let i = 0; i < 2; i++) await ask(`${gw.url}/orders`, token);
    await ask(`${gw.url}/orders`, 'unknown');
    await ask(`${gw.url}/elsewhere`, token);
    for (const status of [404, 500]) {
      server.instead = (_request, response) => {
        response.writeHead(status).end();
        return true;
      };
      await ask(`${gw.url}/fresh`, token);
      server.instead = null;
    }
    const after = await Promise.all(results.map(counted));
    expect(after.map((value, i) => value - (before[i] ?? 0))).toEqual([1, 1, 1, 1, 1, 1]);
  });
});

describe('a caller', () => {
  it('without a token, or with what cannot be one, is answered 401, and nobody is asked', async () => {
    const before = [asked(), upstream.seen.length];
    const bare = await ask(`${gw.url}/orders`, null);
    expect([bare.status, bare.challenge]).toEqual([401, 'Bearer realm="api"']);
    for (const token of ['a b', 'a"b', 'Ã¤', 'one, Bearer two']) {
      const { status, challenge } = await ask(`${gw.url}/orders`, token);
      expect([status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
    }
    expect((await ask(`${gw.url}/orders`, 'x'.repeat(100_000))).status).toBe(431);
    const twice = ['-H', `authorization: Bearer ${server.grant('alice')}`, '-H', 'authorization: Bearer other'];
    if (CURL) expect((await curl(`${gw.url}/orders`, ...twice)).status).toBe(400);
    expect([asked(), upstream.seen.length]).toEqual(before);
  });

  it.each([
    ['an unknown token', '/orders', null, 401, undefined],
    ['a target that is not for them', '/elsewhere', 'alice', 403, 'invalid_target'],
    ['scopes that are not for them', '/wide', 'alice', 403, 'invalid_scope'],
  ])('with %s is told so, not in the words of the server', async (_, path, subject, status, code) => {
    const before = upstream.seen.length;
    const token = subject === null ? 'unknown-token' : server.grant(subject);
    const answer = await ask(gw.url + path, token);
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
    expect(answer.challenge).toBe(
      status === 401
        ? 'Bearer realm="api", error="invalid_token", error_description="the authorization server does not accept the token for an exchange"'
        : null,
    );
    expect(JSON.stringify(answer.body)).not.toContain('planted');
    expect(upstream.seen.length).toBe(before);
    expect(JSON.stringify(gw.log)).not.toContain(token);
  });

  it('whose token is refused shuts out nobody else', async () => {
    for (const [status, body, answer] of [
      [400, '{"error":"invalid_grant"}', 401],
      [400, '<html>planted</html>', 401],
      [422, '', 401],
      [403, '{"error":"access_denied"}', 403],
      [404, '', 502],
    ] as const) {
      server.instead = (_request, response) => {
        response.writeHead(status).end(body);
        return true;
      };
      for (let i = 0; i < 6; i++) {
        expect([status, (await ask(`${gw.url}/fresh`, `odd-${i}`)).status]).toEqual([status, answer]);
      }
      server.instead = null;
      expect((await ask(`${gw.url}/fresh`, server.grant('alice'))).status).toBe(200);
    }
  });

  it('with many tokens has the oldest of those that are kept dropped', async () => {
    server.answers = { access_token: 'x'.repeat(16_000) };
    const tokens = Array.from({ length: 540 }, () => server.grant('mallory'));
    const [first = '', last = ''] = [tokens[0], tokens.at(-1)];
    for (let i = 0; i < tokens.length; i += 20) {
      await Promise.all(tokens.slice(i, i + 20).map((each) => ask(`${gw.url}/billing`, each)));
    }
    const before = asked();
    await ask(`${gw.url}/billing`, last);
    expect(asked() - before).toBe(0);
    await ask(`${gw.url}/billing`, first);
    expect(asked() - before).toBe(1);
    server.answers = {};
  });
});

describe('a server', () => {
  const ISSUED = { access_token: 'good', issued_token_type: JWT, token_type: 'Bearer', expires_in: 600 };
  it.each([
    ['a redirect', 302, '', 502],
    ['HTML', 200, '<html>', 502],
    ['two tokens in one answer', 200, '{"access_token":"a","access_token":"b"}', 502],
    ['no token', 200, JSON.stringify({ ...ISSUED, access_token: undefined }), 502],
    ['an empty token', 200, JSON.stringify({ ...ISSUED, access_token: '' }), 502],
    ['a token that is no text', 200, JSON.stringify({ ...ISSUED, access_token: ['a'] }), 502],
    ['a token with a line break', 200, JSON.stringify({ ...ISSUED, access_token: 'a\r\nx-evil: 1' }), 502],
    ['a token beyond Latin-1', 200, JSON.stringify({ ...ISSUED, access_token: 'a\u{1F511}' }), 502],
    ['a token with a space', 200, JSON.stringify({ ...ISSUED, access_token: 'a b' }), 502],
    ['a token of 20 KB', 200, JSON.stringify({ ...ISSUED, access_token: 'x'.repeat(20_000) }), 502],
    ['100 KB', 200, JSON.stringify({ ...ISSUED, more: 'x'.repeat(100_000) }), 502],
    ['no type', 200, JSON.stringify({ ...ISSUED, issued_token_type: undefined }), 502],
    [
      'a refresh token',
      200,
      JSON.stringify({ ...ISSUED, issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }),
      502,
    ],
    ['a token bound to a key', 200, JSON.stringify({ ...ISSUED, token_type: 'DPoP' }), 502],
    [
      'an access token that is none',
      200,
      JSON.stringify({
        ...ISSUED,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'N_A',
      }),
      502,
    ],
    ['status 500', 500, JSON.stringify(ISSUED), 503],
    ['that it does not know the gateway', 401, '{"error":"invalid_client"}', 503],
    ['that the gateway may not exchange', 400, '{"error":"unauthorized_client"}', 503],
    ['that it exchanges nothing', 400, '{"error":"unsupported_grant_type"}', 503],
  ])('that answers with %s', async (_, status, body, expected) => {
    const token = server.grant('alice');
    const before = upstream.seen.length;
    server.instead = (_request, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end(body);
      return true;
    };
    const answer = await ask(`${gw.url}/orders`, token);
    server.instead = null;
    const type = expected === 502 ? 'upstream-failed' : 'issuer-unavailable';
    expect([answer.status, answer.body['type']]).toEqual([expected, `urn:gw:error:${type}`]);
    expect(upstream.seen.length).toBe(before);
    // Nothing of it is kept.
    expect(await claimed('/orders', token)).toMatchObject({ sub: 'alice' });
  });

  it.each([429, 503])('that takes no more for now (%d) says until when', async (status) => {
    server.instead = (_request, response) => {
      response.writeHead(status, { 'retry-after': '7' }).end();
      return true;
    };
    const response = await fetch(`${gw.url}/orders`, { headers: { authorization: `Bearer ${server.grant('alice')}` } });
    server.instead = null;
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '7']);
    expect((await ask(`${gw.url}/orders`, server.grant('alice'))).status).toBe(200);
  });

  it('that is slow is 504 within the time-out, one that is away 503, and both are used again', async () => {
    const token = server.grant('alice');
    server.instead = () => true;
    const slow = await ask(`${gw.url}/fresh`, token);
    expect([slow.status, slow.body['type']]).toEqual([504, 'urn:gw:error:upstream-timeout']);
    server.instead = null;
    expect((await ask(`${gw.url}/fresh`, token)).status).toBe(200);
    await server.down();
    expect((await ask(`${gw.url}/fresh`, token)).status).toBe(503);
    await server.up();
    expect((await ask(`${gw.url}/fresh`, token)).status).toBe(200);
    await gw.logged(({ msg }) => msg.includes(`token exchange at ${server.tokenEndpoint}: available again`));
  });

  it('that has failed five times in a row is asked again when ten seconds have passed', async () => {
    server.instead = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const before = asked();
    for (let i = 0; i < 8; i++) expect((await ask(`${gw.url}/broken`, server.grant('alice'))).status).toBe(503);
    server.instead = null;
    expect(asked() - before).toBe(5);
    await eventually(async () => (await ask(`${gw.url}/broken`, server.grant('alice'))).status === 200);
  });
});
