/** The documentation as a site, as readers use it in Chromium (`npm run docs:build`; GW_SITE: the folder it is in). */
import { createReadStream, existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILES, pageOf } from '../../site/.vitepress/pages.ts';
import { CHROMIUM, startBrowser } from '../serve/browser.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SITE = process.env['GW_SITE'] ?? '';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

it('has each page of the documentation once in its menus', () => {
  const pages = globSync('docs/**/*.md', { cwd: ROOT });
  const listed = FILES.filter((file) => file.startsWith('docs/'));
  expect(listed.toSorted()).toEqual(pages.toSorted());
  expect(new Set(FILES.map(pageOf)).size).toBe(FILES.length);
});

/** The file of a path as static hosts find it. */
function fileOf(path: string): string | null {
  const name = normalize(decodeURIComponent(path));
  for (const each of [name, `${name}.html`, join(name, 'index.html')]) {
    const file = join(SITE, each);
    if (existsSync(file) && statSync(file).isFile()) return file;
  }
  return null;
}

describe.skipIf(SITE === '' || !CHROMIUM)('the site (needs GW_SITE and Chromium)', () => {
  let server: Server;
  let browser: Browser;
  let url = '';
  beforeAll(async () => {
    server = createServer((request, response) => {
      const file = fileOf(new URL(request.url ?? '/', 'http://site').pathname);
      if (file === null) return void response.writeHead(404).end();
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
      createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** Opens a page and collects what it says is wrong, and what it asks of other hosts. */
  async function open(path: string, width = 1440, colorScheme: 'light' | 'dark' = 'light') {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('response', (answer) => {
      if (answer.status() >= 400) faults.push(`${answer.status()} ${answer.url()}`);
    });
    page.on('request', (asked) => {
      if (!asked.url().startsWith(url) && !asked.url().startsWith('data:')) faults.push(asked.url());
    });
    await page.goto(url + path, { waitUntil: 'networkidle' });
    return { page, faults };
  }

  const overflow = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  it.each([
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('shows its pages at %i px, %s, without a fault', async (width, scheme) => {
    for (const path of ['/', '/tutorials/your-document', '/comparison', '/mcp', '/plugins/cors', '/crds']) {
      const { page, faults } = await open(path, width, scheme);
      expect(await page.locator('h1').first().isVisible(), path).toBe(true);
      expect([path, await overflow(page)]).toEqual([path, 0]);
      expect(faults).toEqual([]);
      await page.close();
    }
  });

  it('finds pages by words in them, without another host', async () => {
    const { page, faults } = await open('/');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('canary');
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
    const found = await page.locator('.VPLocalSearchBox .result').allInnerTexts();
    expect(found.join(' ')).toContain('Rollouts');
    await page.locator('.VPLocalSearchBox .result', { hasText: 'Rollouts' }).first().click();
    await page.waitForURL(/rollouts/);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('leads from the first page through its menus', async () => {
    const { page, faults } = await open('/');
    await page.getByRole('link', { name: 'Your document in ten minutes' }).click();
    await page.waitForURL(/tutorials\/your-document/);
    await page.getByRole('link', { name: 'Reference', exact: true }).first().click();
    await page.waitForURL(/reference/);
    await page.locator('.VPSidebar').getByRole('link', { name: 'Error codes' }).click();
    await page.waitForURL(/error-codes/);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('has a page for each link between pages, with the anchor that it names', () => {
    const pages = new Map(FILES.map((file) => [pathOf(file), textOf(pathOf(file))]));
    const missing: string[] = [];
    for (const [path, text] of pages) {
      const body = text.slice(text.indexOf('class="vp-doc'));
      const links = [...body.matchAll(/<a[^>]*? href="([^"]+)"/g)].map(
        ([, href = '']) => new URL(href, `http://site${path}`),
      );
      expect(links.length, path).toBeGreaterThan(0);
      for (const { host, pathname, hash } of links) {
        if (host !== 'site' || pathname === '/') continue;
        const id = decodeURIComponent(hash.slice(1));
        const isThere = pages.get(pathname)?.includes(id === '' ? '<h1' : `id="${id}"`) ?? false;
        if (!isThere) missing.push(`${path}: ${pathname}${hash}`);
      }
    }
    expect(missing).toEqual([]);
  });
});

/** Where a file is read on the site. */
function pathOf(file: string): string {
  return `/${pageOf(file)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}`;
}

function textOf(path: string): string {
  const file = fileOf(path);
  return file === null ? '' : readFileSync(file, 'utf8');
}
