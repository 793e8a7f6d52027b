/** The inspector of tools on the admin port of a gateway in development mode, in Chromium (docs/mcp.md#inspector). */
import { request } from 'node:http';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildInspector } from '../../scripts/build-inspector.ts';
import { auditPage } from '../control/audit-page.ts';
import { CUT_TEXT } from '../control/cut-text.ts';
import { CHROMIUM, startBrowser } from './browser.ts';
import { compileSpec, type Gateway, startGateway, withGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const HOSTILE = '<script>globalThis.hacked = 1</script><img src=x onerror="globalThis.hacked = 1">';
const MINUTE = 60_000;

let upstream: Upstream;
let artifact: Uint8Array;
let gw: Gateway;

beforeAll(async () => {
  await buildInspector();
  upstream = await startUpstream((asked, response, body) => {
    const hostile = asked.url?.startsWith('/hostile');
    response.writeHead(200, { 'content-type': hostile ? 'text/html' : 'application/json' });
    response.end(hostile ? HOSTILE : JSON.stringify({ url: asked.url, body }));
  });
  const dispatch = { 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } } };
  const object = { content: { 'application/json': { schema: { type: 'object' } } } };
  const responses = { 200: { description: 'x', ...object } };
  artifact = await compileSpec(
    {
      openapi: '3.1.0',
      info: { title: 'Books', version: '1' },
      'x-gw-mcp': { enabled: true },
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
      paths: {
        '/books': {
          post: {
            operationId: 'addBook',
            summary: 'Adds a book',
            responses,
            requestBody: {
              required: true,
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    required: ['title'],
                    properties: {
                      title: { type: 'string' },
                      pages: { type: 'integer', description: 'How many there are' },
                      genre: { enum: ['novel', 'science'] },
                      sold: { type: 'boolean' },
                      tags: { type: 'array', maxItems: 9, items: { type: 'string' } },
                      place: { type: 'object' },
                    },
                  },
                },
              },
            },
            ...dispatch,
          },
        },
        '/hostile': {
          get: {
            operationId: 'hostile',
            summary: 'Answers what is hostile',
            description: HOSTILE,
            parameters: [{ name: HOSTILE, in: 'query', description: HOSTILE, schema: { type: 'string' } }],
            responses: { 200: { description: 'x' } },
            ...dispatch,
          },
        },
        '/mine': {
          get: {
            operationId: 'mine',
            security: [{ key: [] }],
            'x-gw-middlewares': [{ name: 'apikey-auth', config: { keys: [{ key: 'k-alice', id: 'alice' }] } }],
            responses,
            ...dispatch,
          },
        },
      },
    },
    ['http-upstream', 'apikey-auth'],
  );
  gw = await startGateway(artifact, { args: ['--dev'] });
});
afterAll(async () => {
  await gw?.stop();
  await upstream?.close();
});

describe('the inspector', () => {
  it('is a page under a policy that lets nothing else in', async () => {
    const answer = await fetch(`${gw.admin}/inspector`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(await answer.text()).not.toMatch(/<script(?![^>]* src="\/inspector\/)|<style|https?:/);
    const files = ['inspector.js', 'inspector.css', 'nothing.js', '..%2fhealth', '__proto__'];
    const statuses = await Promise.all(
      files.map(async (file) => (await fetch(`${gw.admin}/inspector/${file}`)).status),
    );
    expect(statuses).toEqual([200, 200, 404, 404, 404]);
    expect((await fetch(`${gw.admin}/inspector`, { method: 'POST' })).status).toBe(405);
  });

  it('is not there by a name that was rebound to the address, nor without development mode', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${gw.admin}/inspector`, { headers: { host: 'evil.example:8081' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
    expect(status).toBe(403);
    await withGateway(artifact, [], async ({ admin }) => {
      expect((await fetch(`${admin}/inspector`)).status).toBe(404);
    });
  });
});

describe.skipIf(!CHROMIUM && process.env['GW_NO_SKIP'] !== '1')(
  'the inspector in a browser (needs chromium)',
  { timeout: MINUTE },
  () => {
    let browser: Browser;
    const complaints: string[] = [];
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser?.close());

    async function open(tool: string, options: BrowserContextOptions = {}): Promise<Page> {
      const page = await (await browser.newContext(options)).newPage();
      page.setDefaultTimeout(15_000);
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('request', (asked) => {
        if (!asked.url().startsWith(gw.admin) && !asked.url().startsWith('data:')) complaints.push(asked.url());
      });
      await page.goto(`${gw.admin}/inspector#${tool}`);
      await page.getByRole('heading', { level: 2, name: tool }).waitFor();
      return page;
    }
    const called = async (page: Page, told: RegExp) => {
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await page.getByRole('status').filter({ hasText: told }).waitFor();
      return page.getByRole('region', { name: 'Outcome' });
    };

    it('lists tools with their size, and calls one with what a form says', async () => {
      const page = await open('addBook');
      expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
        expect.stringMatching(/^addBook\d+ tokens$/),
        expect.stringMatching(/^hostile\d+ tokens$/),
        expect.stringMatching(/^mine\d+ tokens$/),
      ]);
      await page.getByLabel('title (required)').fill('7');
      await page.getByLabel('pages').fill('120');
      await page.getByLabel('genre').selectOption('novel');
      await page.getByLabel('sold').selectOption('false');
      await page.getByLabel('tags').fill('a\nb');
      await page.getByLabel('place').fill('{"shelf": [1]}');
      const outcome = await called(page, /^succeeded after [\d.]+ ms, HTTP 200$/);
      const body = upstream.seen.at(-1)?.body;
      expect(body).toBe(
        '{"title":"7","pages":120,"genre":"novel","sold":false,"tags":["a","b"],"place":{"shelf":[1]}}',
      );
      await outcome.getByRole('heading', { name: 'Structured content' }).waitFor();
      const stages = await outcome.getByRole('table').innerText();
      expect(stages).toMatch(/request\s+200\s+[\d.]+ ms\s+POST \/books/);
      expect(stages).toMatch(/dispatch http-upstream\s+handed off/);
      await page.getByRole('button', { name: 'Write JSON' }).click();
      await page.getByLabel('Arguments, as a JSON object').fill('{"title": 5}');
      await called(page, /^failed after/);
      expect(await outcome.innerText()).toContain('title');
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('says what is wrong with an argument, and calls nothing', async () => {
      const page = await open('addBook');
      const before = upstream.seen.length;
      await page.getByLabel('pages').fill('many');
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'argument "pages" must be of type integer' }).waitFor();
      expect(upstream.seen.length).toBe(before);
      await page.context().close();
    });

    it('sends headers, and shows what is refused without them', async () => {
      const page = await open('mine');
      const refused = await called(page, /^refused after/);
      expect(await refused.innerText()).toMatch(/HTTP 401: .*\s*WWW-Authenticate: /);
      await page.getByText('Headers of the request').click();
      await page.getByLabel('Headers, one a line').fill('x-api-key: k-alice');
      await called(page, /^succeeded/);
      await page.context().close();
    });

    it('shows what tools say of themselves, and answer, as text', async () => {
      const page = await open('hostile');
      await page.getByText('Input schema').click();
      const outcome = await called(page, /^succeeded/);
      expect(await outcome.locator('pre').first().textContent()).toBe(HOSTILE);
      expect(await page.locator('.text').textContent()).toBe(HOSTILE);
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
      expect(await page.locator('main script, main img').count()).toBe(0);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it.for([
      { colorScheme: 'light', width: 1280 },
      { colorScheme: 'dark', width: 360 },
    ] as const)('is sound: $colorScheme, $width pixels wide', async ({ colorScheme, width }) => {
      const page = await open('addBook', { colorScheme, viewport: { width, height: 800 } });
      await page.getByLabel('title (required)').fill('Emma');
      await called(page, /^succeeded/);
      await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
      expect(await page.evaluate<string[]>(auditPage('gw inspector'))).toEqual([]);
      expect(await page.evaluate<string[]>(CUT_TEXT)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.context().close();
    });
  },
);
