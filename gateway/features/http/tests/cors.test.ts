/**
 * `cors` as a real browser takes it: a page of one origin calls a gateway of another (Fetch standard;
 * docs/decisions.md#cors-on-refusals).
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, startBrowser } from '../../../../test/serve/browser.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const responses = { 200: { description: 'OK' } };

interface Outcome {
  readonly status?: number;
  readonly body?: string;
  readonly exposed?: string | null;
  readonly error?: string;
}

describe.skipIf(!CHROMIUM && process.env['GW_NO_SKIP'] !== '1')('cors in a browser (needs chromium)', () => {
  let pages: Server;
  let upstream: Upstream;
  let gw: Gateway;
  let browser: Browser;
  let port: number;
  beforeAll(async () => {
    // Each host name of it is an origin: localhost is allowed, 127.0.0.1 is not.
    pages = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<title>page</title>'),
    );
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    ({ port } = pages.address() as AddressInfo);
    upstream = await startUpstream((request, response) => {
      // An upstream with opinions of its own on CORS.
      response.setHeader('access-control-allow-origin', 'https://elsewhere.example');
      response.setHeader('access-control-allow-credentials', 'true');
      response.setHeader('x-exposed', 'yes');
      response.setHeader('set-cookie', 'seen=1; SameSite=Lax');
      response.end(`${request.method} ${request.headers.cookie ?? 'no cookie'}`);
    });
    const allowed = [`http://localhost:${port}`];
    const open = { name: 'cors', config: { allowed_origins: ['*'] } };
    const plain = {
      name: 'cors',
      config: {
        allowed_origins: allowed,
        allowed_methods: ['GET', 'PUT'],
        allowed_headers: ['X-Custom'],
        expose_headers: ['X-Exposed'],
      },
    };
    const credentials = { name: 'cors', config: { allowed_origins: allowed, allow_credentials: true } };
    const auth = { name: 'apikey-auth', config: { keys: [] } };
    const run = (...middlewares: object[]) => ({
      responses,
      'x-gw-middlewares': middlewares,
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    });
    const cookie = { name: 'session', in: 'cookie', schema: { type: 'string' } };
    const key = { type: 'apiKey', in: 'header', name: 'X-API-Key' };
    const document = {
      openapi: '3.1.0',
      info: { title: 'CORS', version: '1' },
      components: { securitySchemes: { key } },
      paths: {
        '/plain': { get: run(plain), put: run(plain), delete: run(plain) },
        '/credentials': { get: { ...run(credentials), parameters: [cookie] } },
        '/open': { get: run(open) },
        '/secured': { get: { security: [{ key: [] }], ...run(auth, plain) } },
      },
    };
    gw = await startGateway(await compileSpec(document, ['http-upstream', 'cors', 'apikey-auth']));
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await gw?.stop();
    await upstream?.close();
    pages?.close();
  });

  /** What a script on a page of that host gets. */
  async function fetched(page: Page, path: string, init: object = {}, url = gw.url): Promise<Outcome> {
    // A string, since it runs in the page and not here.
    return page.evaluate(
      `fetch(${JSON.stringify(url + path)}, ${JSON.stringify(init)}).then(
        async (r) => ({ status: r.status, body: await r.text(), exposed: r.headers.get('x-exposed') }),
        (e) => ({ error: e.name }))`,
    );
  }
  async function on(host: string, path: string, init: object = {}): Promise<Outcome> {
    const page = await browser.newPage();
    await page.goto(`http://${host}:${port}/`);
    const outcome = await fetched(page, path, init);
    await page.close();
    return outcome;
  }
  /** Methods that reached the upstream, and how many since then. */
  async function upstreamSaw(act: () => Promise<unknown>): Promise<string[]> {
    const before = upstream.seen.length;
    await act();
    return upstream.seen.slice(before).map(({ method }) => method);
  }

  it('lets a page of an allowed origin read the answer, with the headers that are exposed', async () => {
    expect(await on('localhost', '/plain')).toEqual({ status: 200, body: 'GET no cookie', exposed: 'yes' });
    expect(await on('localhost', '/open')).toEqual({ status: 200, body: 'GET no cookie', exposed: null });
  });

  it('answers preflights without the upstream, and lets what they allow through', async () => {
    const init = { method: 'PUT', headers: { 'X-Custom': '1', 'Content-Type': 'application/json' }, body: '{}' };
    let outcome: Outcome = {};
    const saw = await upstreamSaw(async () => {
      outcome = await on('localhost', '/plain', init);
    });
    expect(outcome.status).toBe(200);
    expect(saw).toEqual(['PUT']);
  });

  it('has the browser keep a preflight’s answer', async () => {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${port}/`);
    const preflights = async () => {
      const metrics = await (await fetch(`${gw.admin}/metrics`)).text();
      const line = /^gw_requests_total\{[^}]*method="OPTIONS"[^}]*path="\/plain"[^}]*status="204"[^}]*\} (\d+)/m.exec(
        metrics,
      );
      return Number(line?.[1] ?? 0);
    };
    const before = await preflights();
    const put = { method: 'PUT', headers: { 'X-Custom': 'cached' } };
    for (let i = 0; i < 3; i++) expect((await fetched(page, '/plain', put)).status).toBe(200);
    expect((await preflights()) - before).toBeLessThanOrEqual(1);
    await page.close();
  });

  it.each<[string, string, string, object]>([
    ['a page of a foreign origin', '127.0.0.1', '/plain', {}],
    ['its preflighted request', '127.0.0.1', '/plain', { method: 'PUT' }],
    ['a method that is not allowed', 'localhost', '/plain', { method: 'DELETE' }],
    ['a header that is not allowed', 'localhost', '/plain', { headers: { 'X-Other': '1' } }],
    ['authorization, which no list names', 'localhost', '/plain', { headers: { Authorization: 'Bearer x' } }],
    ['credentials where they are not allowed', 'localhost', '/plain', { credentials: 'include' }],
    ['credentials where every origin is allowed', 'localhost', '/open', { credentials: 'include' }],
  ])('keeps the answer from %s', async (_what, host, path, init) => {
    expect(await on(host, path, init)).toEqual({ error: 'TypeError' });
  });

  it('keeps a request of a foreign origin from the upstream altogether', async () => {
    expect(await upstreamSaw(() => on('127.0.0.1', '/plain'))).toEqual([]);
  });

  it('carries credentials where they are allowed, and only where the page asks for them', async () => {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${port}/`);
    // Another origin of the same site, so that the browser has cookies to send at all.
    const url = gw.url.replace('127.0.0.1', 'localhost');
    await page.context().addCookies([{ name: 'session', value: 's1', url }]);
    const withCookie = await fetched(page, '/credentials', { credentials: 'include' }, url);
    expect(withCookie).toMatchObject({ status: 200, body: 'GET session=s1' });
    expect(await fetched(page, '/credentials', {}, url)).toMatchObject({ status: 200, body: 'GET no cookie' });
    await page.close();
  });

  it('lets the page read a refusal that comes before cors has run', async () => {
    const outcome = await on('localhost', '/secured');
    expect(outcome.status).toBe(401);
    expect(outcome.body).toContain('urn:gw:error:unauthorized');
  });
});
