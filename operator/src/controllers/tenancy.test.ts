/** Nothing of one namespace can be made readable in another through any field that refers to something. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileServer, sha256, startFileServer, testFetcher } from '../../../test/source-rig.ts';
import {
  apiSpecs,
  configMaps,
  type GatewayProject,
  gatewayProjects,
  type PluginRef,
  pluginRefs,
  secrets,
} from '../api/resources.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import type { NamespaceView } from '../runtime/namespace-view.ts';
import type { OpenFetcher } from '../sources/open-fetcher.ts';
import { readDocument } from './api-spec/document.ts';
import { gather } from './gateway-project/sources/decide.ts';
import { readSources } from './gateway-project/sources/observe.ts';
import { catalog } from './plugin-ref/catalog.ts';
import { decidePluginRef } from './plugin-ref/decide.ts';
import { ForeignUses } from './plugin-ref/grants.ts';
import { readPlugin } from './plugin-ref/plugin-package.ts';

const SECRET = 'xyzzy-of-the-owner';
const wasm = Buffer.from('\0asm\x01\0\0\0');
const toml = '[plugin]\nname = "echo"\nversion = "1.0.0"\ntype = "dispatcher"\n';
const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const owner = (name: string) => ({ name, namespace: 'owner' });
const tenant = (name: string) => ({ name, namespace: 'tenant' });

let objects: MemoryObjects;
let server: FileServer;
let fetcher: OpenFetcher;
let foreignUses: ForeignUses;
const all: NamespaceView = { includes: () => true, labels: async (name) => ({ team: name }) };

beforeEach(async () => {
  objects = new MemoryObjects();
  foreignUses = new ForeignUses();
  server = await startFileServer();
  fetcher = testFetcher(objects, { plainHttpSources: [server.host] });
  const data = {
    'shop.yaml': base64(SECRET),
    'plugin.toml': base64(toml),
    'echo.wasm': base64(wasm),
    header: base64(SECRET),
  };
  await objects.apply(secrets, secrets.parse({ metadata: owner('all'), data }));
  await objects.apply(configMaps, configMaps.parse({ metadata: owner('all'), binaryData: data }));
  const spec = { source: { inline: SECRET } };
  await objects.apply(apiSpecs, apiSpecs.parse({ metadata: owner('shop'), spec }));
});
afterEach(async () => {
  await fetcher.close();
  await server.close();
});

const deps = (namespaces = all) => ({ objects, catalog, sources: fetcher.sources, foreignUses, namespaces });

async function settled<T extends { readonly ok: boolean }>(read: () => Promise<T>): Promise<T> {
  const done = new Promise<void>((resolve) => fetcher.sources.onChange(() => resolve()));
  const first = await read();
  if (first.ok || !('reason' in first) || first.reason !== 'Fetching') return first;
  await done;
  return read();
}

function ref(spec: object, metadata = owner('echo')): PluginRef {
  return pluginRefs.parse({ metadata, spec: { source: { configMap: { name: 'all' } }, ...spec } });
}

function project(plugin: object): GatewayProject {
  return gatewayProjects.parse({ metadata: tenant('shop'), spec: { specs: { names: ['shop'] }, plugins: [plugin] } });
}

/** The problems of a project of the tenant that uses the plugin; none where it may. */
async function problems(plugin: object, view = all): Promise<readonly string[]> {
  await objects.apply(apiSpecs, apiSpecs.parse({ metadata: tenant('shop'), spec: { source: { inline: 'x' } } }));
  const of = project(plugin);
  const gathered = gather(of, await readSources(deps(view), of));
  return gathered.ok ? [] : gathered.problems.map(({ message }) => message);
}

describe('what a tenant refers to is in its own namespace', () => {
  it.each([
    ['a ConfigMap', { configMap: { name: 'all', key: 'shop.yaml' } }],
    ['a further ConfigMap', { configMap: { name: 'mine', more: ['all'], key: 'shop.yaml' } }],
    [
      'the Authorization of a URL',
      { url: { url: '', sha256: sha256(SECRET), authorization: { name: 'all', key: 'header' } } },
    ],
    ['the credentials of a registry', { oci: { reference: 'registry.example.org/a:1', pullSecret: 'all' } }],
  ])('%s of an ApiSpec', async (_, source) => {
    server.files.set('/shop.yaml', SECRET);
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: tenant('mine'), data: { 'a.yaml': 'a' } };
    await objects.apply(configMaps, object);
    const filled = 'url' in source ? { url: { ...source.url, url: `${server.url}/shop.yaml` } } : source;
    const apiSpec = apiSpecs.parse({ metadata: tenant('shop'), spec: { source: filled } });
    const read = await settled(() => readDocument(deps(), apiSpec));
    expect(read).toMatchObject({ ok: false, reason: 'SourceNotFound' });
    expect(JSON.stringify(read)).not.toContain(SECRET);
    expect(server.seen).toEqual([]);
  });

  it.each([
    ['a ConfigMap', { source: { configMap: { name: 'all' } } }],
    ['a Secret', { source: { secret: { name: 'all' } } }],
  ])('%s of a PluginRef', async (_, spec) => {
    expect(await readPlugin(deps(), ref(spec, tenant('echo')))).toMatchObject({ ok: false, reason: 'SourceNotFound' });
    expect(await readPlugin(deps(), ref(spec))).toMatchObject({ ok: true });
  });

  it.each([
    ['the module', { wasm: 'header' }, 'is not a WebAssembly module'],
    ['the module, and what is there for it', { wasm: 'header', manifest: 'header' }, 'is not a WebAssembly module'],
    ['the manifest of a real module', { manifest: 'header' }, 'cannot be read: run gw compile on it to see why'],
    ['the schema of a real module', { configSchema: 'header' }, 'cannot be read: run gw compile on it to see why'],
  ])('and a Secret named as %s of a plugin tells nothing of itself', async (_, keys, message) => {
    const read = await readPlugin(deps(), ref({ source: { secret: { name: 'all', ...keys } } }));
    expect(read).toMatchObject({ ok: false, reason: 'PluginInvalid', message: expect.stringContaining(message) });
    expect(JSON.stringify(read)).not.toContain(SECRET);
    // Nor by its hash.
    expect(JSON.stringify(read)).not.toContain(sha256(SECRET));
  });

  it('the key that a PluginRef is verified by', async () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: tenant('all'),
      binaryData: { 'e.wasm': base64(wasm) },
    };
    await objects.apply(configMaps, object);
    const verify = { keySecret: { name: 'all', key: 'header' }, signature: 'AAAA' };
    const read = await readPlugin(deps(), ref({ verify }, tenant('echo')));
    expect(read).toMatchObject({ ok: false, reason: 'SourceNotFound' });
    // Where it may be read, what it holds is not repeated.
    const own = await readPlugin(deps(), ref({ verify }));
    expect(own).toMatchObject({ ok: false, reason: 'InvalidSpec' });
    expect(JSON.stringify(own)).not.toContain(SECRET);
  });

  it('what a URL gave to one is not given to another who knows its sha256', async () => {
    server.files.set('/private.yaml', SECRET);
    const at = (path: string) => ({ source: { url: { url: server.url + path, sha256: sha256(SECRET) } } });
    const known = apiSpecs.parse({ metadata: owner('private'), spec: at('/private.yaml') });
    expect(await settled(() => readDocument(deps(), known))).toMatchObject({ ok: true });
    const guess = apiSpecs.parse({ metadata: tenant('guess'), spec: at('/elsewhere.yaml') });
    expect(await settled(() => readDocument(deps(), guess))).toMatchObject({ ok: false, reason: 'SourceUnavailable' });
  });

  it('the ApiSpecs of a project', async () => {
    const of = project({ name: 'mock' });
    const gathered = gather(of, await readSources(deps(), of));
    expect(gathered).toEqual({
      ok: false,
      problems: [{ reason: 'SpecNotFound', message: 'ApiSpec "shop" does not exist' }],
    });
  });
});

describe('a PluginRef of another namespace', () => {
  const plugin = { name: 'echo', namespace: 'owner' };
  const missing = 'PluginRef "owner/echo" does not exist, or its spec.allowedNamespaces does not allow "tenant"';

  it('looks the same whether it is not there, or not allowed', async () => {
    expect(await problems(plugin)).toEqual([missing]);
    for (const allowed of [undefined, {}, { names: ['others'] }, { selector: { matchLabels: { team: 'others' } } }]) {
      await objects.apply(pluginRefs, ref(allowed ? { allowedNamespaces: allowed } : {}));
      expect(await problems(plugin)).toEqual([missing]);
    }
  });

  it.each([
    ['by name', { names: ['tenant'] }],
    ['by label', { selector: { matchLabels: { team: 'tenant' } } }],
    ['to all', { selector: {} }],
  ])('is used where it is granted %s', async (_, allowedNamespaces) => {
    await objects.apply(pluginRefs, ref({ allowedNamespaces }));
    expect(await problems(plugin)).toEqual([]);
    expect(await problems({ ...plugin, name: 'renamed', pluginRef: 'echo' })).toEqual([]);
    expect(foreignUses.of({ namespace: 'owner', name: 'echo' })).toEqual([tenant('shop')]);
  });

  it('is not granted by label where the operator may not read labels, and says so to its owner', async () => {
    const granted = ref({ allowedNamespaces: { selector: {} } });
    await objects.apply(pluginRefs, granted);
    expect(await problems(plugin, { includes: () => true })).toEqual([missing]);
    const read = await readPlugin(deps(), granted);
    const { status } = decidePluginRef({ ref: granted, read, readsLabels: false }, new Date());
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Granted', status: 'False', reason: 'SelectorNotSupported' }),
    );
  });

  it('is not looked for where the operator does not look', async () => {
    await objects.apply(pluginRefs, ref({ allowedNamespaces: { names: ['tenant'] } }));
    expect(await problems(plugin, { includes: (namespace) => namespace === 'tenant' })).toEqual([missing]);
  });

  it('that is granted and wrong tells of itself only that', async () => {
    const source = { secret: { name: 'hidden-name' } };
    await objects.apply(pluginRefs, ref({ source, allowedNamespaces: { names: ['tenant'] } }));
    expect(await problems(plugin)).toEqual(['PluginRef "owner/echo" is not accepted: SourceNotFound']);
  });

  it('is not taken for one of the same name here', async () => {
    await objects.apply(pluginRefs, ref({ allowedNamespaces: { names: ['tenant'] } }));
    await objects.apply(pluginRefs, ref({ source: { builtin: { name: 'mock' } } }, tenant('echo')));
    expect(await problems(plugin)).toEqual([]);
    const of = project(plugin);
    const gathered = gather(of, await readSources(deps(), of));
    const [found] = gathered.ok ? gathered.inputs.plugins : [];
    expect(found?.manifest?.version).toBe('1.0.0');
    expect(await problems({ name: 'echo', namespace: 'tenant' })).toEqual([]);
  });
});
