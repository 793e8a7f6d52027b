/** Takes the pictures of docs/console.md, of a real console: `node scripts/console-screenshots.ts`. Needs Chromium. */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startConsole } from '../test/control/console.ts';
import { startGateway } from '../test/serve/gateway.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs', 'images');
const size = { width: 1180, height: 640 };

mkdirSync(folder, { recursive: true });
const ui = await startConsole();
const { get } = ui.control;
const post = <T>(path: string, json: unknown) => get<T>(path, { method: 'POST', json });

const { id: project } = await post<{ id: string }>('/projects', {
  name: 'bookstore',
  description: 'Books, reviews and authors of the shop',
  upstreams: { inventory: 'https://inventory.example.org' },
});
const path = `/projects/${project}`;
const plugins = {
  mock: {},
  'http-upstream': {},
  'rate-limit': { quota: 6000, window: 60 },
  cors: { allowed_origins: ['https://shop.example.org'] },
  'apikey-auth': { keys: [{ key: 'env://BOOKSTORE_API_KEY', id: 'shop' }] },
};
for (const [plugin_name, config] of Object.entries(plugins)) {
  const [latest] = await get<{ version: string }[]>(`/plugins/${plugin_name}`);
  await post(`${path}/plugins`, { plugin_name, plugin_version: latest?.version, config });
}

async function upload(text: string): Promise<string> {
  const body = new FormData();
  body.set('file', new File([text], 'bookstore.yaml'));
  return (await get<{ id: string }>(`${path}/specs`, { method: 'POST', body })).id;
}

async function compile(): Promise<string | undefined> {
  const { id } = await post<{ id: string }>(`${path}/compile`, {});
  for (;;) {
    const { status, artifact_id } = await get<{ status: string; artifact_id?: string }>(`/compilations/${id}`);
    if (status === 'succeeded' || status === 'failed') return artifact_id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const text = await readFile(join(root, 'examples', 'bookstore', 'project', 'specs', 'bookstore.yaml'), 'utf8');
const spec = await upload(text);
const artifact_id = await compile();
if (artifact_id === undefined) throw new Error('the example does not compile');
const { key } = await post<{ key: string }>(`${path}/api-keys`, { name: 'edge' });
const control = `${ui.control.url.replace('http', 'ws')}/ws/data-plane`;
const gateways = await Promise.all(
  ['edge-1', 'edge-2'].map((name) =>
    startGateway(null, {
      args: ['--control-plane', control, '--project-id', project, '--data-plane-name', name],
      env: { GW_API_KEY: key, BOOKSTORE_API_KEY: 'of the screenshots' },
    }),
  ),
);
await post(`${path}/deploy`, { artifact_id });
await Promise.all(gateways.map((gateway) => gateway.logged(({ msg }) => msg === 'artifact loaded')));
// A typing mistake, for the picture of what the compiler says.
await upload(text.replace('- name: rate-limit', '- name: rate-limits'));
await compile();

const overview = await ui.open(`/ui${path}`, { viewport: size });
await overview.getByText('connected').first().waitFor();
await overview.screenshot({ path: join(folder, 'console-overview.png') });

const document = await ui.open(`/ui${path}/specs/${spec}`, { viewport: size, colorScheme: 'dark' });
await document.getByRole('button', { name: 'bookstore.yaml:' }).first().click();
await document.locator('.cm-content .finding').first().waitFor();
await document.screenshot({ path: join(folder, 'console-spec.png') });

for (const gateway of gateways) await gateway.stop();
await ui.close();
