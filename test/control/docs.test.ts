/** `/openapi` and `/docs`, as programs and browsers get them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHROMIUM, startBrowser } from '../serve/browser.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from './server.ts';

let control: ControlServer;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control?.stop());

describe('the description of the API', () => {
  it('is OpenAPI 3.1 as YAML, with the schemas that bodies have', async () => {
    const answer = await control.ask('/openapi');
    expect(answer.headers.get('content-type')).toBe('application/yaml');
    const document = parse(await answer.text());
    expect(document).toMatchObject({ openapi: '3.1.0', paths: { '/projects/{id}/deploy': { post: {} } } });
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(['Project', 'Problem']));
  });

  it('is on a page for people, with all that the page loads, and nothing else below it', async () => {
    const answers = await Promise.all(
      ['/docs', '/docs/scalar.js', '/docs/openapi.json', '/docs/openapi.yaml', '/docs/other'].map((path) =>
        control.ask(path, { redirect: 'manual' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([301, 200, 200, 200, 404]);
    expect(answers.map(({ headers }) => headers.get('content-type')?.split(';')[0]).slice(1)).toEqual([
      'text/javascript',
      'application/json',
      'application/yaml',
      'application/problem+json',
    ]);
    expect(answers[0]?.headers.get('location')).toBe('/docs/');
    expect(await answers[2]?.json()).toMatchObject({ openapi: '3.1.0', info: { title: 'gw control plane' } });
    const page = await control.ask('/docs/');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(await page.text()).toContain('src="scalar.js"');
  });

  it('asks a browser for a name and a password, and takes a token as the password there alone', async () => {
    const bare = await fetch(`${control.url}/docs/`);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic realm=/)]);
    const headers = { authorization: `Basic ${Buffer.from(`me:${ADMIN_TOKEN}`).toString('base64')}` };
    expect((await fetch(`${control.url}/docs/`, { headers })).status).toBe(200);
    expect((await fetch(`${control.url}/openapi`, { headers })).status).toBe(200);
    expect((await fetch(`${control.url}/projects`, { headers })).status).toBe(401);
    const wrong = { authorization: `Basic ${Buffer.from('me:wrong').toString('base64')}` };
    expect((await fetch(`${control.url}/docs/`, { headers: wrong })).status).toBe(401);
  });
});

describe.skipIf(!CHROMIUM && process.env['GW_NO_SKIP'] !== '1')('the documentation page (needs chromium)', () => {
  it('shows the operations, and loads nothing from elsewhere', async () => {
    const browser = await startBrowser();
    try {
      const context = await browser.newContext({ httpCredentials: { username: 'me', password: ADMIN_TOKEN } });
      const page = await context.newPage();
      const asked = new Set<string>();
      const refused: string[] = [];
      page.on('request', (request) => asked.add(new URL(request.url()).origin));
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) refused.push(message.text());
      });
      await page.goto(`${control.url}/docs/`);
      for (const text of ['Ask whether the server lives', 'Deployments']) {
        await page.getByText(text).first().waitFor({ state: 'attached' });
      }
      expect([...asked].filter((origin) => origin.startsWith('http'))).toEqual([control.url]);
      expect(refused).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
