/** The reference of the API on the admin port of a gateway in development, in Chromium (docs/reference/cli.md#api-reference). */
import { request } from 'node:http';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Project } from '../../gateway/src/compiler/index.ts';
import { buildReference } from '../../scripts/build-reference.ts';
import { CHROMIUM, startBrowser } from './browser.ts';
import { compileSpec, type Gateway, startGateway, withGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const EVIL = 'https://evil.example';
const HOSTILE = `</script><script>globalThis.hacked = 1</script><img src=x onerror="globalThis.hacked = 1"><iframe src="${EVIL}/"></iframe>`;
const MINUTE = 60_000;

let upstream: Upstream;
let artifact: Uint8Array;
let gw: Gateway;

beforeAll(async () => {
  await buildReference();
  upstream = await startUpstream((asked, response, body) => {
    if (asked.url?.startsWith('/moved')) {
      response
        .writeHead(302, { location: '/books?moved=1', 'set-cookie': 'planted=1', refresh: `0; url=${EVIL}` })
        .end();
      return;
    }
    response.writeHead(200, { 'content-type': asked.url === '/page' ? 'text/html' : 'application/json' });
    response.end(asked.url === '/page' ? HOSTILE : JSON.stringify({ method: asked.method, url: asked.url, body }));
  });
  const dispatch = { 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } } };
  const responses = { 200: { description: HOSTILE } };
  const lang = { name: 'lang', in: 'query', schema: { type: 'string', example: 'en' } };
  const json = { content: { 'application/json': { schema: { type: 'object', example: { title: 'Emma' } } } } };
  const books = {
    openapi: '3.1.0',
    info: {
      title: `Books ${HOSTILE}`,
      version: '1',
      description: `${HOSTILE} ![x](${EVIL}/x.png) [x](javascript:hacked=1)`,
    },
    servers: [{ url: `${EVIL}/v1` }],
    paths: {
      '/books': {
        servers: [{ url: EVIL }],
        get: {
          operationId: 'list',
          summary: 'Lists books',
          servers: [{ url: EVIL }],
          parameters: [lang],
          responses,
          ...dispatch,
        },
        post: { operationId: 'add', summary: 'Adds a book', requestBody: json, responses, ...dispatch },
      },
      '/moved': { get: { operationId: 'moved', summary: 'Moves', responses, ...dispatch } },
      '/page': { get: { operationId: 'page', summary: 'Answers a page', responses, ...dispatch } },
    },
  };
  const authors = {
    openapi: '3.0.3',
    info: { title: 'Authors', version: '1' },
    paths: { '/authors': { get: { operationId: 'authors', summary: 'Lists authors', responses, ...dispatch } } },
  };
  const files: Project['files'] = [
    { name: 'books.json', bytes: Buffer.from(JSON.stringify(books)) },
    { name: 'authors.json', bytes: Buffer.from(JSON.stringify(authors)) },
  ];
  artifact = await compileSpec({}, ['http-upstream'], [], {}, { specs: ['books.json', 'authors.json'], files });
  gw = await startGateway(artifact, { args: ['--dev'] });
});
afterAll(async () => {
  await gw?.stop();
  await upstream?.close();
});

const OWN = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' };

/** As any client can send it: `fetch` refuses to set these headers. */
function ask(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<[number, Record<string, unknown>]> {
  return new Promise((resolve, reject) => {
    const asked = request(`${gw.admin}${path}`, { headers, method }, (response) => {
      response.resume();
      resolve([response.statusCode ?? 0, response.headers]);
    });
    asked.on('error', reject).end();
  });
}

describe('the reference of the API', () => {
  it('lists every OpenAPI document, without the servers that it names', async () => {
    expect(await (await fetch(`${gw.admin}/reference/documents.json`)).json()).toEqual({
      title: 'API reference · gw dev',
      documents: ['authors.json', 'books.json'].map((name) => ({ name, url: `documents/${name}` })),
      server: { url: gw.url, through: 'try' },
    });
    const text = await (await fetch(`${gw.admin}/reference/documents/books.json`)).text();
    expect(JSON.parse(text)).toMatchObject({ paths: { '/books': { get: { operationId: 'list' } } } });
    expect(text).not.toMatch(/"servers"|x-gw-/);
  });

  it('has a policy that lets in no script but its own, and nothing else below it', async () => {
    const page = await fetch(`${gw.admin}/reference/`);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/\*|https?:/);
    expect(await page.text()).not.toMatch(/<script(?![^>]* src="(?:scalar|reference)\.js")|https?:/);
    const names = [
      '',
      'scalar.js',
      'reference.js',
      'reference.css',
      'documents/none.json',
      'documents/..%2fbooks.json',
      'version.txt',
      '__proto__',
    ];
    const statuses = await Promise.all(
      names.map(async (name) => (await fetch(`${gw.admin}/reference/${name}`)).status),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 404, 404, 404, 404]);
    expect((await fetch(`${gw.admin}/reference`, { redirect: 'manual' })).headers.get('location')).toBe('/reference/');
    expect((await fetch(`${gw.admin}/`, { redirect: 'manual' })).headers.get('location')).toBe('/reference/');
  });

  it('passes on only what a script of the page itself sends', async () => {
    expect((await ask('/reference/try/books', OWN))[0]).toBe(200);
    const host = new URL(gw.admin).host;
    const refused: Record<string, string>[] = [
      {},
      { ...OWN, 'sec-fetch-site': 'cross-site' },
      { ...OWN, 'sec-fetch-site': 'same-site' },
      { ...OWN, 'sec-fetch-site': 'none' },
      { ...OWN, 'sec-fetch-dest': 'document' },
      { ...OWN, 'sec-fetch-dest': 'iframe' },
      { ...OWN, 'sec-fetch-dest': 'script' },
      { ...OWN, 'sec-fetch-dest': 'serviceworker' },
      { ...OWN, origin: EVIL },
      { ...OWN, origin: 'null' },
      { ...OWN, host: 'evil.example' },
      { ...OWN, host: 'evil.example', origin: 'http://evil.example' },
    ];
    const before = upstream.seen.length;
    for (const headers of refused) {
      for (const method of ['GET', 'POST', 'DELETE'])
        expect((await ask('/reference/try/books', headers, method))[0]).toBe(403);
    }
    expect(upstream.seen.length).toBe(before);
    expect((await ask('/reference/try/books', { ...OWN, origin: `http://${host}` }, 'POST'))[0]).not.toBe(403);
  });

  it('passes on no cookie of this machine, and returns nothing that changes the page', async () => {
    await ask('/reference/try/books', {
      ...OWN,
      cookie: 'session=of-another-server',
      referer: `${gw.admin}/reference/`,
    });
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('cookie');
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('referer');
    const [status, headers] = await ask('/reference/try/moved', OWN);
    expect([status, headers['location']]).toEqual([302, '/reference/try/books?moved=1']);
    expect(headers).not.toHaveProperty('set-cookie');
    expect(headers).not.toHaveProperty('refresh');
    expect((await ask('/reference/try/page', OWN))[1]).toMatchObject({
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    expect((await ask('/reference/try//evil.example/', OWN))[0]).toBe(404);
  });

  it('is not there without development mode', async () => {
    await withGateway(artifact, [], async ({ admin }) => {
      expect((await fetch(`${admin}/reference/`)).status).toBe(404);
      expect((await fetch(`${admin}/reference/try/books`)).status).toBe(404);
    });
  });
});

describe.skipIf(!CHROMIUM && process.env['GW_NO_SKIP'] !== '1')(
  'the reference of the API in a browser (needs chromium)',
  { timeout: 2 * MINUTE },
  () => {
    let browser: Browser;
    const complaints: string[] = [];
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser?.close());

    async function open(options: BrowserContextOptions = {}): Promise<Page> {
      const page = await (await browser.newContext(options)).newPage();
      page.setDefaultTimeout(MINUTE);
      page.on('pageerror', (error) => complaints.push(String(error)));
      const isForeign = (url: string) => !/^(?:data|blob):/.test(url) && !url.startsWith(gw.admin);
      page.on('requestfinished', (asked) => isForeign(asked.url()) && complaints.push(asked.url()));
      // The policy stops an image that a description names before anything is sent.
      page.on('requestfailed', (asked) => {
        if (isForeign(asked.url()) && asked.failure()?.errorText !== 'csp') complaints.push(asked.url());
      });
      await page.goto(`${gw.admin}/reference/`);
      return page;
    }
    const choose = async (page: Page, name: string) => {
      await page.getByRole('button', { name: 'authors.json' }).click();
      await page.getByRole('option', { name }).or(page.getByRole('menuitem', { name })).first().click();
      await page.getByText('Lists books').first().waitFor({ state: 'attached' });
    };

    it('shows every document, and runs nothing that a document says', async () => {
      const page = await open();
      await page.getByText('Lists authors').first().waitFor({ state: 'attached' });
      await choose(page, 'books.json');
      for (const text of ['Adds a book', 'Moves', 'Answers a page']) {
        await page.getByText(text).first().waitFor({ state: 'attached' });
      }
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('sends a request through the gateway, and shows its answer', async () => {
      const page = await open();
      await page
        .getByRole('button', { name: /^Test Request/ })
        .first()
        .click();
      const before = upstream.seen.length;
      await page.getByRole('button', { name: /^Send/ }).first().click();
      await page.getByText('"/authors"').first().waitFor();
      await page.keyboard.press('Escape');
      await choose(page, 'books.json');
      await page
        .getByRole('button', { name: /^Test Request\s*\(post/ })
        .first()
        .click();
      await page.getByRole('button', { name: /^Send/ }).first().click();
      await page.getByText('"POST"').first().waitFor();
      const sent = upstream.seen
        .slice(before)
        .map(({ method, url, body }) => `${method} ${url} ${body.replaceAll(/\s/g, '')}`);
      expect(sent).toEqual(['GET /authors ', 'POST /books {"title":"Emma"}']);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it.each([
      [1440, 'light'],
      [1440, 'dark'],
      [390, 'light'],
      [390, 'dark'],
    ] as const)('fits into %i px in %s mode', async (width, colorScheme) => {
      const page = await open({ viewport: { width, height: 900 }, colorScheme });
      await page.getByText('Lists authors').first().waitFor({ state: 'attached' });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      const dark = await page.evaluate("document.body.classList.contains('dark-mode')");
      expect(dark).toBe(colorScheme === 'dark');
      await page.context().close();
    });
  },
);
