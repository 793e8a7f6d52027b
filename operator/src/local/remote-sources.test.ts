/** Documents at URLs and plugins of other namespaces in local mode, with a real gateway: the same code as on a cluster. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinPluginFiles } from '@gw/gateway/compiler';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { eventually } from '../../../test/eventually.ts';
import { GW } from '../../../test/programs/gw.ts';
import { type FileServer, sha256, startFileServer, testEgress } from '../../../test/source-rig.ts';
import { apiSpecs, gatewayProjects, pluginRefs } from '../api/resources.ts';
import { freePort } from './free-port.ts';
import { type RunningLocal, startLocal } from './local.ts';
import { Report } from './report.ts';

const KEY = { namespace: 'default', name: 'shop' };

let server: FileServer;
let dir = '';
let local: RunningLocal | undefined;
beforeEach(async () => {
  server = await startFileServer();
  dir = await mkdtemp(join(tmpdir(), 'gw-sources-'));
});
afterEach(async () => {
  await local?.close();
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

const manifest = (kind: string, name: string, spec: object, namespace = 'default') =>
  `---\n${stringify({ apiVersion: 'gw.dev/v1alpha1', kind, metadata: { name, namespace }, spec })}`;

const documentOf = (body: string) => `openapi: 3.1.0
info: { title: Shop, version: "1" }
paths:
  /open:
    get: { operationId: open, x-gw-dispatch: { name: mock, config: { status: 200, body: "${body}" } } }
`;

async function start(): Promise<string> {
  const port = await freePort();
  local = await startLocal(
    {
      dir,
      listen: { host: '127.0.0.1', port },
      console: null,
      allowCommands: false,
      dev: false,
      gwEntry: GW,
      inherited: { PATH: process.env['PATH'] ?? '' },
      egress: testEgress({ plainHttpSources: [server.host] }),
    },
    new Report(() => undefined, { colour: false, verbose: false }),
  );
  return `http://127.0.0.1:${port}`;
}

async function condition(kind: 'project' | 'spec' | 'plugin', type: string, key = KEY): Promise<string> {
  const objects = local?.objects;
  const found =
    kind === 'project'
      ? await objects?.get(gatewayProjects, key)
      : kind === 'spec'
        ? await objects?.get(apiSpecs, key)
        : await objects?.get(pluginRefs, key);
  const of = found?.status?.conditions?.find((each) => each.type === type);
  return `${of?.status} ${of?.reason}: ${of?.message}`;
}

const served = async (url: string) => (await fetch(`${url}/open`)).text();

it('serves a document at a URL, follows it, and serves on while that is away or wrong', async () => {
  const publish = (text: string) =>
    server.files.set('/shop.yaml', text).set('/shop.yaml.sha256', `${sha256(text)}  shop.yaml\n`);
  publish(documentOf('one'));
  const source = {
    url: { url: `${server.url}/shop.yaml`, sha256Url: `${server.url}/shop.yaml.sha256`, intervalSeconds: 10 },
  };
  const project = { specs: { names: ['shop'] }, plugins: [{ name: 'mock' }] };
  await writeFile(
    join(dir, 'all.yaml'),
    manifest('ApiSpec', 'shop', { source }) + manifest('GatewayProject', 'shop', project),
  );
  const url = await start();
  await eventually(async () => expect(await condition('project', 'Ready')).toMatch(/^True Ready/));
  expect(await served(url)).toBe('one');
  const spec = await local?.objects.get(apiSpecs, KEY);
  expect(spec?.status?.fetched?.digest).toBe(sha256(documentOf('one')));

  publish(documentOf('two'));
  await eventually(async () => expect(await served(url)).toBe('two'));

  // What is published does not fit together: the file is not yet, or not any more, what its sha256 says.
  server.files.set('/shop.yaml.sha256', `${'0'.repeat(64)}  shop.yaml\n`);
  await eventually(async () =>
    expect(await condition('spec', 'Fetched')).toMatch(
      /^False SourceInvalid: .*is required; using what was fetched at/,
    ),
  );
  expect(await condition('spec', 'Accepted')).toMatch(/^True/);
  expect(await condition('project', 'Ready')).toMatch(/^True Ready/);
  expect(await served(url)).toBe('two');

  server.files.clear();
  await eventually(async () =>
    expect(await condition('spec', 'Fetched')).toMatch(/^False SourceUnavailable: .*answers 404; /),
  );
  expect(await condition('spec', 'Ready')).toMatch(/^True Ready/);
  publish(documentOf('three'));
  await eventually(async () => expect(await served(url)).toBe('three'));
  expect(await condition('spec', 'Fetched')).toMatch(/^True Fetched/);
});

it('takes a plugin of another namespace while that allows it, and serves on when it does not any more', async () => {
  const files = builtinPluginFiles('mock');
  const wasm = Buffer.from(files.get('mock.wasm') ?? '');
  server.files.set('/mock.wasm', wasm);
  const packaged = {
    data: Object.fromEntries(
      [...files].filter(([name]) => name !== 'mock.wasm').map(([name, bytes]) => [name, Buffer.from(bytes).toString()]),
    ),
    binaryData: { 'mock.wasm': wasm.toString('base64') },
  };
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'stub', namespace: 'platform' },
    ...packaged,
  };
  const ref = (allowed: object) =>
    writeFile(
      join(dir, 'ref.yaml'),
      manifest(
        'PluginRef',
        'stub',
        { source: { configMap: { name: 'stub' } }, allowedNamespaces: allowed },
        'platform',
      ),
    );
  const project = { specs: { names: ['shop'] }, plugins: [{ name: 'mock', pluginRef: 'stub', namespace: 'platform' }] };
  await writeFile(join(dir, 'package.yaml'), stringify(configMap));
  await writeFile(
    join(dir, 'all.yaml'),
    manifest('ApiSpec', 'shop', { source: { inline: documentOf('one') } }) +
      manifest('GatewayProject', 'shop', project),
  );
  await ref({ names: ['other'] });
  const url = await start();
  const refused = /^False PluginNotFound: PluginRef "platform\/stub" does not exist, or its spec.allowedNamespaces/;
  await eventually(async () => expect(await condition('project', 'Accepted')).toMatch(refused));

  await ref({ names: ['default'] });
  await eventually(async () => expect(await condition('project', 'Ready')).toMatch(/^True Ready/));
  expect(await served(url)).toBe('one');

  await ref({});
  await eventually(async () => expect(await condition('project', 'Accepted')).toMatch(refused));
  expect(await served(url)).toBe('one');
  expect(await condition('project', 'Ready')).toMatch(/^False LastGoodServing/);

  await ref({ selector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } });
  await eventually(async () => expect(await condition('project', 'Ready')).toMatch(/^True Ready/));
});
