/** One cache for the workers of a gateway, and for the pods of a project (`--state`). */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../test/free-port.ts';
import { type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { type CachedUpstream, cached, cachedArtifact, fresh, named, startCachedUpstream } from './cached-project.ts';

const { REDIS_URL } = process.env;

let upstream: CachedUpstream;
const gateways: Gateway[] = [];
beforeAll(async () => {
  upstream = await startCachedUpstream();
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});
afterAll(() => upstream.close());

const project = (title?: string) =>
  cachedArtifact({ '/a/{name}': { ...named, get: cached(upstream), put: cached(upstream) } }, title);

async function start(artifact: Uint8Array, ...args: string[]): Promise<Gateway> {
  const gw = await startGateway(artifact, { args });
  gateways.push(gw);
  return gw;
}

/** On a connection of its own, so that every worker is asked in turn, and by the name that all pods have. */
function ask(gw: Gateway, path: string, method = 'GET') {
  return new Promise<{ status: number | undefined; says: string; body: string }>((resolve, reject) => {
    const headers = { host: 'api.example' };
    const request = httpRequest(gw.url + path, { method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, says: cacheStatus(response), body }));
    });
    request.on('error', reject).end();
  });
}

function cacheStatus({ headers }: IncomingMessage): string {
  return String(headers['cache-status']);
}

const path = () => `/a/${crypto.randomUUID()}`;

describe('the workers of a gateway', () => {
  it('share what is stored, whatever its bytes, and what is invalidated', async () => {
    const gw = await start(await project(), '--workers', '2');
    const a = path();
    upstream.answers.set(a, fresh({ 'cache-control': 'max-age=60' }));
    const first = await ask(gw, a);
    const again = await Promise.all(Array.from({ length: 8 }, () => ask(gw, a)));
    expect(again.map(({ body }) => body)).toEqual(again.map(() => first.body));
    expect(upstream.asked(a)).toBe(1);
    await ask(gw, a, 'PUT');
    for (const { body } of await Promise.all(Array.from({ length: 8 }, () => ask(gw, a)))) {
      expect(body).not.toBe(first.body);
    }
  });

  it('fetch at most once each, however many ask at once', async () => {
    const gw = await start(await project(), '--workers', '2');
    const a = path();
    upstream.answers.set(a, (request, response) => {
      setTimeout(() => fresh({ 'cache-control': 'max-age=60' })(request, response), 300);
    });
    const got = await Promise.all(Array.from({ length: 100 }, () => ask(gw, a)));
    expect(got.every(({ status }) => status === 200)).toBe(true);
    expect(upstream.asked(a)).toBeLessThanOrEqual(2);
  });
});

describe.skipIf(REDIS_URL === undefined)('pods with --state (needs REDIS_URL)', () => {
  const shared = ['--state', REDIS_URL ?? '', '--state-timeout-ms', '10000'];

  it('share what is stored, in one process and in two workers', async () => {
    const prefix = ['--state-prefix', crypto.randomUUID()];
    const artifact = await project();
    const [one, two] = await Promise.all([
      start(artifact, ...shared, ...prefix),
      start(artifact, ...shared, ...prefix, '--workers', '2'),
    ]);
    const a = path();
    upstream.answers.set(a, (request, response) => {
      setTimeout(() => fresh({ 'cache-control': 'max-age=60', vary: 'accept' })(request, response), 200);
    });
    const got = await Promise.all(Array.from({ length: 100 }, () => ask(one, a)));
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    expect(upstream.asked(a)).toBe(1);
    expect(await ask(two, a)).toMatchObject({ body: got[0]?.body, says: expect.stringMatching(/^gw;hit/) });
    await ask(two, a, 'PUT');
    expect((await ask(one, a)).body).not.toBe(got[0]?.body);
  });

  it.each([
    ['another prefix', { prefix: crypto.randomUUID() }],
    ['another API', { title: 'Other' }],
  ])('of %s share nothing', async (_what, { prefix, title }: { prefix?: string; title?: string }) => {
    const ours = crypto.randomUUID();
    const one = await start(await project(), ...shared, '--state-prefix', ours);
    const two = await start(await project(title), ...shared, '--state-prefix', prefix ?? ours);
    const a = path();
    upstream.answers.set(a, fresh({ 'cache-control': 'max-age=60' }));
    const first = await ask(one, a);
    expect((await ask(one, a)).body).toBe(first.body);
    expect((await ask(two, a)).body).not.toBe(first.body);
  });
});

it('a state that is away leaves every request to the upstream', async () => {
  const gw = await start(await project(), '--state', `redis://127.0.0.1:${await freePort()}`);
  const a = path();
  upstream.answers.set(a, fresh({ 'cache-control': 'max-age=60' }));
  for (let i = 0; i < 3; i++) {
    expect(await ask(gw, a)).toMatchObject({ status: 200, says: 'gw;fwd=bypass;detail=state-unavailable' });
  }
  expect((await ask(gw, a, 'PUT')).status).toBe(200);
  expect(upstream.asked(a)).toBe(4);
});
