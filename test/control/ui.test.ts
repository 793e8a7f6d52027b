/**
 * The console as people use it: in Chromium, on a real server, with a real gateway
 * (docs/reference/control-plane.md#console; docs/console.md).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { CHROMIUM } from '../serve/browser.ts';
import { type Gateway, startGateway } from '../serve/gateway.ts';
import { type Console, document, seed, startConsole } from './console.ts';
import { ADMIN_TOKEN } from './server.ts';

const MINUTES = 60_000;

describe.skipIf(!CHROMIUM && process.env['GW_NO_SKIP'] !== '1')(
  'the console in a browser (needs chromium)',
  { timeout: MINUTES },
  () => {
    let ui: Console;
    const gateways: Gateway[] = [];

    beforeAll(async () => {
      ui = await startConsole();
    }, 2 * MINUTES);
    afterAll(async () => {
      for (const gateway of gateways) await gateway.stop();
      await ui?.close();
    });

    it('leads from nothing to a gateway that serves, and back to what it served before', {
      timeout: 3 * MINUTES,
    }, async () => {
      const page = await ui.open('/ui', { token: null });
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      const dialog = page.getByRole('dialog');

      await page.getByLabel('Token').fill('a-token-that-nobody-made');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('Unauthorized').waitFor();
      await page.getByLabel('Token').fill('the-admin-token-of-tests');
      await button('Sign in').click();

      await button('New project').click();
      await dialog.getByLabel('Name').fill('greetings');
      await dialog.getByLabel('Begin with a starter spec').uncheck();
      await dialog.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { level: 1, name: 'greetings' }).waitFor();

      await page.getByRole('navigation', { name: 'Project greetings' }).getByText('Plugins').click();
      await button('Add a plugin').click();
      await dialog.getByLabel('Plugin', { exact: true }).selectOption('mock');
      await dialog.getByRole('button', { name: 'Add' }).click();
      await page.getByRole('cell', { name: 'mock' }).waitFor();

      // A document that is none: shown with the error at its line, mended in place.
      await page.getByRole('navigation', { name: 'Project greetings' }).getByText('Specs').click();
      const broken = `${document('mok')}broken: [never closed`;
      await page.setInputFiles('input[type=file]', {
        name: 'hello.yaml',
        mimeType: 'text/yaml',
        buffer: Buffer.from(broken),
      });
      await page.getByText('The spec is not valid yet.').waitFor();
      await page.locator('.cm-content .finding.error').waitFor();
      await page.getByRole('textbox', { name: 'hello.yaml' }).focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.press('Shift+Home');
      await page.keyboard.press('Backspace');
      await button('Upload').click();
      await page.getByRole('heading', { level: 1, name: 'hello' }).waitFor();

      // A plugin that is none: the compilation fails, and its error leads to the line.
      await button('Compile').click();
      await dialog.getByRole('button', { name: 'Compile' }).click();
      await page.getByText('The compilation has failed.').waitFor();
      await page.getByRole('link', { name: 'hello.yaml:9' }).click();
      const finding = page.locator('.cm-content .finding.error');
      expect(await finding.textContent()).toContain('"mok"');
      expect(await page.locator('.cm-activeLine').textContent()).toContain('x-gw-dispatch: {name: mok}');
      await button('Edit').click();
      await page.getByRole('textbox', { name: 'hello.yaml' }).focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('End');
      await page.keyboard.press('Shift+Home');
      await page.keyboard.type('x-gw-dispatch: {name: mock}');
      await button('Upload').click();
      await page.getByText('This revision has not been compiled yet.').waitFor();

      await button('Compile').click();
      await dialog.getByRole('button', { name: 'Compile' }).click();
      await page.getByText('Compiled.', { exact: true }).waitFor();
      await button('Deploy').click();
      await dialog.getByRole('button', { name: 'Deploy' }).click();
      await page.getByText('No data plane was connected when it began').waitFor();

      await page.getByRole('link', { name: 'Keys' }).click();
      await button('New key').click();
      await dialog.getByLabel('Name').fill('edge');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('button', { name: 'Copy the key' }).click();
      const key = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(key).toMatch(/^gwk_/);
      await button('I have kept it').click();
      expect(await page.content()).not.toContain(key);

      // The page learns by itself that a gateway has come.
      await page.getByRole('link', { name: 'Data planes' }).click();
      await page.getByText('No data plane has connected yet').waitFor();
      const [, project = ''] = /projects\/([^/]+)/.exec(page.url()) ?? [];
      const gateway = await startGateway(null, {
        args: ['--control-plane', `${ui.control.url.replace('http', 'ws')}/ws/data-plane`, '--project-id', project],
        env: { GW_API_KEY: key, GW_DATA_PLANE_NAME: 'edge-1' },
      });
      gateways.push(gateway);
      await page.getByRole('row', { name: 'edge-1' }).getByText('as deployed').waitFor();
      expect((await fetch(`${gateway.url}/hello`)).status).toBe(200);

      // A second revision goes out, and is taken back.
      const body = new FormData();
      body.set('file', new File([document('mock', 'Good evening')], 'hello.yaml'));
      await ui.control.get(`/projects/${project}/specs`, { method: 'POST', body });
      const first = await gateway.logged(({ msg }) => msg === 'artifact loaded');
      await page.getByRole('link', { name: 'Compilations' }).click();
      await button('Compile').click();
      await dialog.getByRole('button', { name: 'Compile' }).click();
      await button('Deploy').click();
      await dialog.getByRole('button', { name: 'Deploy' }).click();
      await page.getByText('1 of 1 data planes serve it').waitFor();
      await page.getByRole('navigation', { name: 'Project greetings' }).getByText('Deployments').click();
      await button('Roll back').first().click();
      await dialog.getByRole('button', { name: 'Roll back' }).click();
      await page.getByRole('definition').getByText('rollback').waitFor();
      await page.getByText('1 of 1 data planes serve it').waitFor();
      const served = () =>
        gateway.log.filter(({ msg }) => msg === 'artifact loaded').map((line) => line['artifact_hash']);
      await eventually(() => expect(served().at(-1)).toBe(first['artifact_hash']));

      await page.getByRole('link', { name: 'Audit' }).click();
      const entry = page.getByRole('listitem').filter({ hasText: 'deployments.rollback' });
      await entry.locator('summary').click();
      await entry.getByText('artifact_id').waitFor();
      expect(ui.complaints).toEqual([]);
    });

    it('begins a project with a spec that compiles as it is', async () => {
      const page = await ui.open('/ui');
      await page.getByRole('button', { name: 'New project' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('begun');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'begun' }).waitFor();
      await page.getByRole('button', { name: 'Compile' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Compile' }).click();
      await page.getByText('Compiled.', { exact: true }).waitFor();
      await page.context().close();
    });

    it('shows what changed between two revisions of a spec', async () => {
      const { project, spec } = await seed(ui.control, 'compared');
      const page = await ui.open(`/ui/projects/${project}/specs/${spec}`);
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByRole('link', { name: 'Compare revision 2 with the one before' }).click();
      await page.locator('.cm-merge-b .cm-changedLine').getByText('Good morning').waitFor();
      await page.locator('.cm-merge-a .cm-changedLine').getByText('Hello').waitFor();
      await page.context().close();
    });

    it('keeps what was written where another revision came first', async () => {
      const { project, spec } = await seed(ui.control, 'edited');
      const page = await ui.open(`/ui/projects/${project}/specs/${spec}`);
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('textbox', { name: 'hello.yaml' }).focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('# mine');
      const body = new FormData();
      body.set('file', new File([document('mock', 'Theirs')], 'hello.yaml'));
      await ui.control.get(`/projects/${project}/specs`, { method: 'POST', body });
      await page.getByRole('button', { name: 'Upload' }).click();
      await page.getByRole('alert').getByText('has changed since').waitFor();
      await page.locator('.cm-content').getByText('# mine').waitFor();

      // What both wrote, side by side; then over theirs.
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      await page.locator('.cm-merge-a .cm-changedLine').getByText('Theirs').waitFor();
      await page.locator('.cm-merge-b').getByText('# mine').waitFor();
      await page.getByRole('button', { name: 'Upload over it' }).click();
      await page.getByText('· revision 4').waitFor();
      const content = async () => (await ui.control.ask(`/specs/${spec}/content`)).text();
      expect(await content()).toBe(`${document('mock', 'Good morning')}# mine`);

      // Once more, and theirs is taken.
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('textbox', { name: 'hello.yaml' }).focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' again');
      await ui.control.get(`/projects/${project}/specs`, { method: 'POST', body });
      await page.getByRole('button', { name: 'Upload' }).click();
      await page.getByRole('button', { name: 'Take theirs' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Take theirs' }).click();
      await page.locator('.cm-content').getByText('Theirs').waitFor();
      await page.getByText('· revision 5').waitFor();
      expect(await content()).toBe(document('mock', 'Theirs'));
      await page.context().close();
    });

    it('keeps what is being written over other pages, a reload and a token that is revoked, until it is discarded', async () => {
      const { project, spec } = await seed(ui.control, 'kept');
      const token = await ui.control.get<{ token: string; id: string }>('/tokens', {
        method: 'POST',
        json: { name: 'writes', role: 'editor' },
      });
      const page = await ui.open(`/ui/projects/${project}/specs/${spec}`, { token: token.token });
      const asked: string[] = [];
      page.on('dialog', (dialog) => {
        asked.push(dialog.type());
        void dialog.accept();
      });
      const written = page.locator('.cm-content').getByText('# mine');
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('textbox', { name: 'hello.yaml' }).focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('# mine');
      await page.getByRole('link', { name: 'Operations' }).click();
      await page.getByRole('row', { name: '/hello' }).waitFor();
      await page.getByRole('navigation', { name: 'Project kept' }).getByText('Specs').click();
      await page.getByRole('row', { name: 'hello' }).getByText('not uploaded yet').waitFor();
      await page.getByRole('link', { name: 'hello', exact: true }).click();
      await written.waitFor();
      await page.reload();
      expect(asked).toEqual(['beforeunload']);
      await page.getByText('This is what you wrote before').waitFor();
      await written.waitFor();
      await ui.control.ask(`/tokens/${token.id}`, { method: 'DELETE' });
      await page.getByRole('button', { name: 'Upload' }).click();
      await page.getByLabel('Token').fill(ADMIN_TOKEN);
      await page.keyboard.press('Enter');
      await written.waitFor();

      await page.getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(asked).toEqual(['beforeunload']);

      // A document that is no spec yet is kept, too; who signs out is asked.
      await page.goto(`${ui.control.url}/ui/projects/${project}/specs`);
      const buffer = Buffer.from('openapi: [');
      await page.setInputFiles('input[type=file]', { name: 'new.yaml', mimeType: 'text/yaml', buffer });
      await page.getByRole('textbox', { name: 'new.yaml' }).focus();
      await page.keyboard.type('# mine');
      await page.getByRole('link', { name: 'Operations' }).click();
      await page.getByRole('navigation', { name: 'Project kept' }).getByText('Specs').click();
      await written.waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Token').waitFor();
      expect(asked).toEqual(['beforeunload', 'confirm']);
      expect(await page.evaluate('Object.values(sessionStorage).join()')).toBe('');
      await page.context().close();
    });

    it('asks what becomes of bindings whose operation is changed, and lists and deletes bindings', async () => {
      const { project, spec } = await seed(ui.control, 'bound');
      const path = `/specs/${spec}/operations`;
      const [operation] = await ui.control.get<{ operation_id: string | null }[]>(path);
      const name = operation?.operation_id ?? 'GET /hello';
      await ui.control.get(path, { method: 'PATCH', json: { [name]: { middlewares: [{ name: 'cors' }] } } });
      const page = await ui.open(`/ui/projects/${project}/specs/${spec}`);
      await page.locator('.cm-content').getByText('cors').waitFor();
      await page.getByText('With its bindings').waitFor();
      // What is edited is the document alone.
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.locator('.cm-content').getByText('/hello').waitFor();
      expect(await page.locator('.cm-content').getByText('cors').count()).toBe(0);

      await page.getByRole('navigation', { name: 'Project bound' }).getByText('Specs').click();
      const buffer = Buffer.from(document('mock').replace('/hello', '/hello/there'));
      await page.setInputFiles('input[type=file]', { name: 'hello.yaml', mimeType: 'text/yaml', buffer });
      await page
        .getByRole('alert')
        .getByText(/changed|lost/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Keep the bindings' }).click();
      await page.getByRole('heading', { level: 1, name: 'hello' }).waitFor();
      await page.getByRole('link', { name: 'Bindings' }).click();
      const row = page.getByRole('row', { name: '/hello' });
      await row.getByText('cors').waitFor();
      await row.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('Nothing is bound beside the document').waitFor();
      expect(await ui.control.get(`/specs/${spec}/bindings`)).toEqual([]);
      await page.context().close();
    });

    it('takes openapi.yaml under a name that it asks for', async () => {
      const { id } = await ui.control.get<{ id: string }>('/projects', { method: 'POST', json: { name: 'common' } });
      const page = await ui.open(`/ui/projects/${id}/specs`);
      const buffer = Buffer.from(document('mock'));
      await page.setInputFiles('input[type=file]', { name: 'openapi.yaml', mimeType: 'text/yaml', buffer });
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByLabel('Name of the spec').inputValue()).toBe('common');
      await dialog.getByLabel('Name of the spec').fill('books');
      await dialog.getByRole('button', { name: 'Upload' }).click();
      await page.getByRole('heading', { level: 1, name: 'books' }).waitFor();
      await page.locator('.cm-content[aria-label="books.yaml"]').waitFor();
      await page.context().close();
    });

    it('filters operations by what is in their chain', async () => {
      const { project } = await seed(ui.control, 'filtered');
      const page = await ui.open(`/ui/projects/${project}/operations`);
      const row = page.getByRole('row', { name: '/hello' });
      await row.getByText('mock').waitFor();
      await page.getByRole('searchbox').fill('get mock');
      await page.getByText('1 of 1').waitFor();
      await page.getByRole('searchbox').fill('get jwt-auth');
      await page.getByText('Nothing fits the filter.').waitFor();
      await page.context().close();
    });

    it('lists the tools of an artifact, with the command that calls one', async () => {
      const described = `${document('mock')}      parameters:
        - {name: who, in: query, required: true, schema: {type: string}}
        - {name: times, in: query, schema: {type: integer}}
x-gw-mcp: {enabled: true}
`;
      const { project } = await seed(ui.control, 'offered', described);
      const page = await ui.open(`/ui/projects/${project}/artifacts`);
      await page.getByRole('link', { name: 'Tools of' }).click();
      await page.getByText(/^1 tool, about \d+ tokens$/).waitFor();
      await page.locator('summary').filter({ hasText: 'hello' }).getByText('GET /hello').click();
      await page.locator('pre').getByText('"who"').waitFor();
      await page.getByLabel('Gateway', { exact: true }).fill('https://api.example');
      await page.getByLabel('who (required)').fill("it's $(me)");
      await page.getByLabel('times', { exact: true }).fill('2');
      const command = page.locator('.command code');
      expect(await command.textContent()).toBe(
        `gw mcp call https://api.example hello --arguments '{"who":"it'\\''s $(me)","times":2}'`,
      );
      await page.getByLabel('times', { exact: true }).fill('two');
      await page.getByRole('alert').getByText('times').waitFor();
      await page.getByRole('searchbox').fill('nothing of that name');
      await page.getByText('Nothing fits the filter.').waitFor();
      await page.context().close();
    });

    it('shows the API reference of an artifact, which loads nothing from elsewhere', async () => {
      const { project } = await seed(ui.control, 'referred', document('mock'));
      const page = await ui.open(`/ui/projects/${project}/artifacts`);
      const asked = new Set<string>();
      page.on('request', (request) => asked.add(new URL(request.url()).origin));
      await page.getByRole('link', { name: 'API reference of' }).click();
      await page.getByText('/hello').first().waitFor({ state: 'attached' });
      expect(await page.title()).toBe('API reference · gw console');
      expect(await page.getByRole('button', { name: /^Test Request/ }).count()).toBe(0);
      expect([...asked].filter((origin) => origin.startsWith('http'))).toEqual([ui.control.url]);
      await page.context().close();
    });

    it('says that an artifact offers no tools', async () => {
      const { project, artifact } = await seed(ui.control, 'unoffered');
      const page = await ui.open(`/ui/projects/${project}/artifacts/${artifact}/tools`);
      await page.getByText('Agents are offered no tools').waitFor();
      await page.context().close();
    });

    it('has only what the caller’s role may do', async () => {
      const { project } = await seed(ui.control, 'seen');
      const make = (role: string) =>
        ui.control.get<{ token: string; id: string }>('/tokens', {
          method: 'POST',
          json: { name: `seen-${role}`, role, project_id: project },
        });
      const viewer = await ui.open(`/ui/projects/${project}/artifacts`, { token: (await make('viewer')).token });
      await viewer.getByRole('table', { name: 'Artifacts' }).waitFor();
      for (const name of ['Deploy', 'Compile', 'Delete', 'Download']) {
        expect(await viewer.getByRole('button', { name }).count(), name).toBe(0);
      }
      for (const name of ['Tokens', 'Audit', 'Keys', 'Settings']) {
        expect(await viewer.getByRole('link', { name }).count(), name).toBe(0);
      }
      const token = await make('deployer');
      const deployer = await ui.open(`/ui/projects/${project}/artifacts`, { token: token.token });
      await deployer.getByRole('button', { name: 'Deploy' }).waitFor();
      await deployer.getByRole('button', { name: 'Download' }).waitFor();

      // Whose token is revoked is told, and asked for another.
      await ui.control.ask(`/tokens/${token.id}`, { method: 'DELETE' });
      const told = deployer.getByText('The token was revoked or has expired');
      // The page's own stream may hear of it first, and then there is no link any more.
      await deployer.getByRole('link', { name: 'Specs' }).or(told).click();
      await told.waitFor();
      await viewer.context().close();
      await deployer.context().close();
    });

    it('says what a problem document says', async () => {
      await ui.control.get('/projects', { method: 'POST', json: { name: 'taken' } });
      const page = await ui.open('/ui');
      await page.getByRole('button', { name: 'New project' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('taken');
      await dialog.getByLabel('Begin with a starter spec').uncheck();
      await dialog.getByRole('button', { name: 'Create' }).click();
      expect(await dialog.getByRole('alert').textContent()).toContain('choose another name');
      await page.context().close();
    });

    it('serves its page without a token, under a policy that lets nothing else in', async () => {
      for (const path of ['/ui', '/ui/projects/any/specs']) {
        const response = await fetch(ui.control.url + path);
        expect(response.status).toBe(200);
        expect(response.headers.get('cache-control')).toBe('no-cache');
        const policy = response.headers.get('content-security-policy') ?? '';
        expect(policy).toContain("default-src 'none'");
        expect(policy).toContain("script-src 'self';");
        const page = await response.text();
        expect(page).not.toMatch(/<script(?![^>]*src=)|\sstyle=|\son\w+=/);
        const nonce = /nonce="([^"]+)"/.exec(page)?.[1];
        expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
        expect(nonce).not.toBe(/nonce="([^"]+)"/.exec(await (await fetch(ui.control.url + path)).text())?.[1]);
      }
    });

    it('names its files by their content, and lets them be kept', async () => {
      const page = await (await fetch(`${ui.control.url}/ui`)).text();
      const files = [...page.matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g)].map(([, path]) => path);
      expect(files.length).toBeGreaterThan(2);
      let size = 0;
      for (const file of files) {
        const response = await fetch(ui.control.url + file, { headers: { 'accept-encoding': 'gzip' } });
        expect(response.status).toBe(200);
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
        size += Number(response.headers.get('content-length'));
      }
      expect(size).toBeLessThan(60_000);
      expect((await fetch(`${ui.control.url}/ui/assets/gone-12345678.js`)).status).toBe(404);
      expect((await fetch(`${ui.control.url}/ui/assets/..%2f..%2fpackage.json`)).status).toBe(404);
    });
  },
);
