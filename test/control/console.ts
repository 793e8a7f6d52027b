/** The console in a real browser: its server, its page, and what every test does with them. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { buildUi } from '../../scripts/build-ui.ts';
import { startBrowser } from '../serve/browser.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from './server.ts';

export interface Console {
  readonly control: ControlServer;
  /** A page of a browser of its own, signed in unless `token` is null. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** What pages complained of: errors of scripts, what the policy blocked, requests to elsewhere. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  readonly token?: string | null;
}

export async function startConsole(): Promise<Console> {
  await buildUi();
  const control = await startControl();
  const browser: Browser = await startBrowser();
  const complaints: string[] = [];
  return {
    control,
    complaints,
    async open(path, { token = ADMIN_TOKEN, ...options } = {}) {
      const context = await browser.newContext(options);
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        // A refusal that a test provokes is logged by the browser, too.
        if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text());
      });
      page.on('request', (request) => {
        if (!/^(blob:|data:)/.test(request.url()) && !request.url().startsWith(control.url))
          complaints.push(request.url());
      });
      await page.goto(`${control.url}${path}`);
      if (token !== null) {
        await page.getByLabel('Token').fill(token);
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Sign out' }).waitFor();
      }
      return page;
    },
    async close() {
      await browser.close();
      await control.stop();
    },
  };
}

/** A document of one route, with its dispatcher in the last line. */
export const document = (dispatcher: string, title = 'Hello') => `openapi: 3.1.0
info: {title: ${title}, version: 1.0.0}
paths:
  /hello:
    get:
      operationId: hello
      summary: Says hello
      responses: {'200': {description: A greeting}}
      x-gw-dispatch: {name: ${dispatcher}}
`;

export interface Seeded {
  readonly project: string;
  readonly spec: string;
  readonly artifact: string;
}

/** A project with a spec of two revisions, of which `last` is the second, compiled and deployed. */
export async function seed(
  { get, ask }: ControlServer,
  name: string,
  last = document('mock', 'Good morning'),
): Promise<Seeded> {
  const { id: project } = await get<{ id: string }>('/projects', { method: 'POST', json: { name } });
  const plugin = { plugin_name: 'mock', plugin_version: await versionOf({ get }, 'mock') };
  await get(`/projects/${project}/plugins`, { method: 'POST', json: plugin });
  let spec = '';
  for (const text of [document('mock', 'Hello'), last]) {
    const body = new FormData();
    body.set('file', new File([text], 'hello.yaml'));
    spec = (await get<{ id: string }>(`/projects/${project}/specs`, { method: 'POST', body })).id;
  }
  const { id } = await get<{ id: string }>(`/projects/${project}/compile`, { method: 'POST', json: {} });
  for (;;) {
    const compilation = await get<{ status: string; artifact_id?: string }>(`/compilations/${id}`);
    if (compilation.status === 'failed') throw new Error(JSON.stringify(compilation));
    if (compilation.artifact_id !== undefined) {
      const { artifact_id } = compilation;
      const deployed = await ask(`/projects/${project}/deploy`, { method: 'POST', json: { artifact_id } });
      if (!deployed.ok) throw new Error(await deployed.text());
      return { project, spec, artifact: artifact_id };
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function versionOf({ get }: Pick<ControlServer, 'get'>, name: string): Promise<string> {
  const [plugin] = await get<{ version: string }[]>(`/plugins/${name}`);
  if (!plugin) throw new Error(`there is no plugin ${name}`);
  return plugin.version;
}
