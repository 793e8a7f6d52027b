/** A sidecar reaches its own pod's app, and nothing else of the machine (docs/decisions.md#app-upstream). */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { compileSpec, refusedStart, startGateway } from './gateway.ts';
import { startUpstream } from './upstream.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function document(urls: Readonly<Record<string, string>>) {
  const get = (url: string) => ({ responses: {}, 'x-gw-dispatch': { name: 'http-upstream', config: { url } } });
  const paths = Object.fromEntries(Object.entries(urls).map(([name, url]) => [`/${name}`, { get: get(url) }]));
  return { openapi: '3.1.0', info: { title: 'App', version: '1' }, paths };
}

async function productionBuild(of: object): Promise<Uint8Array> {
  const result = await compile({
    specs: ['api.json'],
    files: [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(of)) }],
    plugins: [loadBuiltinPlugin('http-upstream')],
    flags: { production: true },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.artifact;
}

it('serves the app of a production build with no option but its port', async () => {
  const app = await startUpstream();
  closing.push(() => app.close());
  const port = new URL(app.url).port;
  const artifact = await productionBuild(document({ orders: 'upstream://app' }));
  const gw = await startGateway(artifact, { egress: ['--app-port', port] });
  closing.push(() => gw.stop());
  expect((await fetch(`${gw.url}/orders?all=1`)).status).toBe(200);
  expect(app.seen).toMatchObject([{ method: 'GET', url: '/orders?all=1' }]);
});

it('opens neither other ports nor the address under another name', async () => {
  const [app, other] = [await startUpstream(), await startUpstream()];
  closing.push(
    () => app.close(),
    () => other.close(),
  );
  const port = new URL(app.url).port;
  const artifact = await compileSpec(document({ app: 'upstream://app', other: other.url, direct: app.url }), [
    'http-upstream',
  ]);
  const gw = await startGateway(artifact, { egress: ['--app-port', port, '--allow-plaintext-upstream'] });
  closing.push(() => gw.stop());
  const statusOf = async (path: string) => (await fetch(`${gw.url}${path}`)).status;
  expect([await statusOf('/app'), await statusOf('/other'), await statusOf('/direct')]).toEqual([200, 502, 502]);
  expect([app.seen.length, other.seen.length]).toEqual([1, 0]);
});

it('does not start where there is no app, and says what to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gw-app-'));
  closing.push(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'api.gwa'), await productionBuild(document({ app: 'upstream://app' })));
  const listen = ['--listen', '127.0.0.1:0', '--admin-bind', '127.0.0.1:0'];
  const { code, stderr } = await refusedStart(['--artifact', join(folder, 'api.gwa'), ...listen]);
  expect(code).toBe(1);
  expect(stderr).toContain('start with --app-port');
});
