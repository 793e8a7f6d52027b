/** The console for everyone: by keyboard, light and dark, narrow, and by what assistive technology is told. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../gateway/src/version.ts';
import { LONG } from '../property-runs.ts';
import { CHROMIUM } from '../serve/browser.ts';
import { AUDIT_PAGE } from './audit-page.ts';
import { type Console, document, type Seeded, seed, startConsole } from './console.ts';
import { CUT_TEXT } from './cut-text.ts';
import { ADMIN_TOKEN } from './server.ts';

const MINUTES = 60_000;

describe.skipIf(!CHROMIUM && process.env['GW_NO_SKIP'] !== '1')(
  'the console for everyone (needs chromium)',
  { timeout: MINUTES },
  () => {
    let ui: Console;
    let seeded: Seeded;

    beforeAll(async () => {
      ui = await startConsole();
      seeded = await seed(ui.control, 'everyone');
      offered = await seed(ui.control, 'offered', `${document('mock')}x-gw-mcp: {enabled: true}\n`);
      const { get } = ui.control;
      const body = new FormData();
      body.set('file', new File([document('nobody')], 'broken.yaml'));
      const path = `/projects/${seeded.project}`;
      const broken = await get<{ id: string }>(`${path}/specs`, { method: 'POST', body });
      const { id } = await get<{ id: string }>(`/specs/${broken.id}/compile`, { method: 'POST', json: {} });
      while ((await get(`/compilations/${id}`))['status'] !== 'failed')
        await new Promise((done) => setTimeout(done, 50));
      await get(`${path}/api-keys`, { method: 'POST', json: { name: 'edge' } });
      await get('/tokens', { method: 'POST', json: { name: 'ci', role: 'viewer' } });
      brokenSpec = broken.id;
      failed = id;
    }, 2 * MINUTES);
    afterAll(async () => {
      await ui?.close();
    });
    let offered: Seeded;
    let brokenSpec = '';
    let failed = '';

    async function pages(): Promise<string[]> {
      const project = `/ui/projects/${seeded.project}`;
      const [deployment] = await ui.control.get<{ deployment_id: string }[]>(`/projects/${seeded.project}/deployments`);
      return [
        ...['/ui', '/ui/plugins', `/ui/plugins/rate-limit/${VERSION}`, '/ui/tokens', '/ui/audit', '/ui/nowhere'],
        ...['', '/specs', '/operations', '/plugins', '/compilations', '/artifacts', '/deployments', '/data-planes'].map(
          (path) => project + path,
        ),
        ...['/keys', '/settings', '/nowhere', `/compilations/${failed}`, `/specs/${brokenSpec}`].map(
          (path) => project + path,
        ),
        ...['?view=history', '?view=compare'].map((view) => `${project}/specs/${seeded.spec}${view}`),
        `${project}/deployments/${deployment?.deployment_id}`,
        `/ui/projects/${offered.project}/artifacts/${offered.artifact}/tools`,
      ];
    }

    async function settled(page: Page): Promise<void> {
      await page.locator('h1').waitFor();
      for (const unfinished of ['.loading', '[aria-busy=true]', '.editor:empty']) {
        await page.locator(unfinished).first().waitFor({ state: 'detached' });
      }
    }

    it.for([
      { colorScheme: 'light', width: 1280 },
      { colorScheme: 'dark', width: 360 },
      ...(LONG
        ? ([
            { colorScheme: 'dark', width: 1280 },
            { colorScheme: 'light', width: 360 },
          ] as const)
        : []),
    ] as const)('every page is sound: $colorScheme, $width pixels wide', { timeout: 2 * MINUTES }, async (look) => {
      const page = await ui.open('/ui', {
        colorScheme: look.colorScheme,
        viewport: { width: look.width, height: 800 },
      });
      const faults: Record<string, unknown> = {};
      for (const path of await pages()) {
        await page.goto(ui.control.url + path);
        await settled(page);
        const found = await page.evaluate<string[]>(AUDIT_PAGE);
        if (found.length > 0) faults[path] = found;
      }
      expect(faults).toEqual({});
      expect(ui.complaints).toEqual([]);
      await page.context().close();
    });

    it('shows every sentence whole on a telephone, and a document at a line without a complaint', {
      timeout: 2 * MINUTES,
    }, async () => {
      const { get } = ui.control;
      const description =
        'A description of a project that takes more than the two lines which a wide screen has for it. ';
      const name = 'a-project-whose-name-is-as-long-as-a-name-may-be-which-is-63-ch';
      await get('/projects', { method: 'POST', json: { name, description: description.repeat(3) } });
      const long = await seed(ui.control, `${name.slice(0, -1)}x`);
      const page = await ui.open('/ui', { viewport: { width: 390, height: 844 } });
      const faults: Record<string, unknown> = {};
      const paths = [...(await pages()), `/ui/projects/${long.project}`, `/ui/projects/${long.project}/settings`];
      for (const path of [...paths, `/ui/projects/${seeded.project}/specs/${brokenSpec}?line=9`]) {
        await page.goto(ui.control.url + path);
        await settled(page);
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
        const found = await page.evaluate<string[]>(CUT_TEXT);
        if (found.length > 0) faults[path] = found;
      }
      expect(faults).toEqual({});
      expect(await page.locator('.cm-activeLine').textContent()).toContain('x-gw-dispatch: {name: nobody}');
      expect(ui.complaints).toEqual([]);
      await page.context().close();
    });

    it('its dialogs are sound, too', { timeout: MINUTES }, async () => {
      const project = `/ui/projects/${seeded.project}`;
      const dialogs = [
        ['/ui', 'New project'],
        ['/ui/tokens', 'New token'],
        ['/ui/tokens', 'Revoke'],
        [`${project}/plugins`, 'Configure'],
        [`${project}/artifacts`, 'Deploy'],
        [project, 'Compile'],
      ] as const;
      const page = await ui.open('/ui', { colorScheme: 'dark' });
      for (const [path, name] of dialogs) {
        await page.goto(ui.control.url + path);
        await page.getByRole('button', { name, exact: true }).click();
        await page.getByRole('dialog').waitFor();
        await settled(page);
        expect(await page.evaluate(AUDIT_PAGE), `${path} ${name}`).toEqual([]);
      }
      await page.context().close();
    });

    it('needs no pointer', { timeout: MINUTES }, async () => {
      const page = await ui.open('/ui', { token: null });
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      const focused = (what: string) => page.locator(`${what}:focus`).waitFor();
      await focused('input[type=password]');
      await page.keyboard.type(ADMIN_TOKEN);
      await press('Enter');
      await page.getByRole('link', { name: 'everyone' }).waitFor();

      await page.reload();
      await page.getByRole('link', { name: 'everyone' }).waitFor();
      await press('Tab');
      await focused('.skip');
      expect(await page.locator('.skip').isVisible()).toBe(true);
      await press('Enter');
      await focused('#main');
      await press('/');
      await focused('[data-filter]');
      await page.keyboard.type('every');
      await page.getByRole('link', { name: 'everyone' }).waitFor();

      // A dialog keeps the focus while it is open, and gives it back.
      await press('Shift+Tab');
      await focused('.page-head button');
      await press('Enter');
      await page.getByRole('dialog').waitFor();
      await focused('dialog input');
      for (let i = 0; i < 12; i++) {
        await press('Tab');
        const inside = "document.activeElement === document.body || document.activeElement.closest('dialog') !== null";
        expect(await page.evaluate(inside)).toBe(true);
      }
      await press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await focused('.page-head button');

      await press('Tab', 'Tab');
      await focused('.table a');
      await press('Enter');
      await page.getByRole('heading', { level: 1, name: 'everyone' }).waitFor();
      await focused('#main');
      expect(await page.title()).toBe('everyone · gw console');
      expect(await page.evaluate("getComputedStyle(document.querySelector('.skip'), null).position")).toBe('fixed');
      await page.context().close();
    });

    it('shows where the focus is', async () => {
      const page = await ui.open('/ui');
      for (let i = 0; i < 8; i++) {
        await page.keyboard.press('Tab');
        const outline = 'parseFloat(getComputedStyle(document.activeElement).outlineWidth)';
        expect(await page.evaluate(outline), `stop ${i}`).toBeGreaterThanOrEqual(2);
      }
      await page.context().close();
    });

    it('is light or dark as the system is, until someone chooses', async () => {
      const page = await ui.open('/ui', { colorScheme: 'dark' });
      const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      const dark = await background();
      await page.emulateMedia({ colorScheme: 'light' });
      const light = await background();
      expect(light).not.toBe(dark);
      await page.getByRole('button', { name: 'Theme: system' }).click();
      await page.getByRole('button', { name: 'Theme: light' }).click();
      expect(await background()).toBe(dark);
      await page.reload();
      await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
      expect(await background()).toBe(dark);
      await page.context().close();
    });

    it('tells of progress and of what was done, without the focus', async () => {
      const page = await ui.open(`/ui/projects/${seeded.project}/keys`);
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name').fill('short-lived');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByRole('row', { name: 'short-lived' }).getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('status').getByText('Revoked short-lived.').waitFor();
      await page.context().close();
    });
  },
);
