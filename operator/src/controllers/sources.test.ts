/** What ApiSpecs and PluginRefs point at, read and refused. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { VERSION } from '@gw/gateway/version';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileServer, sha256 as hash, startFileServer, tarOf, testFetcher } from '../../../test/source-rig.ts';
import { apiSpecs, configMaps, pluginRefs, secrets } from '../api/resources.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import type { OpenFetcher } from '../sources/open-fetcher.ts';
import { readDocument } from './api-spec/document.ts';
import { catalog } from './plugin-ref/catalog.ts';
import { readPlugin, sha256 } from './plugin-ref/plugin-package.ts';

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const meta = (name: string) => ({ name, namespace: 'default' });

let objects: MemoryObjects;
let server: FileServer;
let fetcher: OpenFetcher;
beforeEach(async () => {
  objects = new MemoryObjects();
  server = await startFileServer();
  fetcher = testFetcher(objects, { plainHttpSources: [server.host] });
});
afterEach(async () => {
  await fetcher.close();
  await server.close();
});

async function configMap(name: string, body: object): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(name), ...body };
  await objects.apply(configMaps, object);
}

/** Reads again when what is being fetched is there. */
async function whenFetched<T extends { readonly ok: boolean }>(read: () => Promise<T>): Promise<T> {
  const done = new Promise<void>((resolve) => fetcher.sources.onChange(() => resolve()));
  const first = await read();
  if (first.ok || !('reason' in first) || first.reason !== 'Fetching') return first;
  await done;
  return read();
}

async function document(spec: object) {
  const apiSpec = apiSpecs.parse({ metadata: meta('books'), spec });
  const read = await whenFetched(() => readDocument({ objects, sources: fetcher.sources }, apiSpec));
  if (!read.ok) return `${read.reason}: ${read.message}`;
  const texts = read.document.files.map(({ name, bytes }) => `${name}=${Buffer.from(bytes)}`);
  return `${read.document.file}: ${texts.join(' ')}`;
}

describe('an ApiSpec', () => {
  it('holds its document itself', async () => {
    expect(await document({ source: { inline: 'x' } })).toBe('books.yaml: books.yaml=x');
    expect(await document({ file: 'b.json', source: { inline: '{}' } })).toBe('b.json: b.json={}');
  });

  it('finds its document and the files beside it in a ConfigMap, gzipped or not', async () => {
    await configMap('docs', { data: { 'a.yaml': 'A' }, binaryData: { 'b.yaml.gz': base64(gzipSync('B')) } });
    const configMapSource = (key?: string) => ({ source: { configMap: { name: 'docs', ...(key ? { key } : {}) } } });
    expect(await document(configMapSource('a.yaml'))).toBe('a.yaml: a.yaml=A b.yaml=B');
    expect(await document(configMapSource('b.yaml.gz'))).toBe('b.yaml: a.yaml=A b.yaml=B');
    expect(await document({ file: 'main.yaml', ...configMapSource('a.yaml') })).toBe('main.yaml: main.yaml=A b.yaml=B');
    expect(await document(configMapSource())).toMatch(/^InvalidSpec: .* has 2 files/);
    expect(await document(configMapSource('c.yaml'))).toMatch(/^SourceNotFound: .* no key "c.yaml"/);
  });

  it('finds a document of 3 MB, gzipped and in parts, in several ConfigMaps', async () => {
    // Of random text, so that no compression makes it fit.
    const text = `x: ${randomBytes(2_250_000).toString('base64')}\n`;
    const packed = gzipSync(text);
    const count = Math.ceil(packed.length / 900_000);
    expect(count).toBeGreaterThan(2);
    const names = Array.from({ length: count }, (_, i) => `docs-${i}`);
    for (const [i, name] of names.entries()) {
      const part = packed.subarray(i * 900_000, (i + 1) * 900_000);
      await configMap(name, { binaryData: { [`books.yaml.gz.part${i}`]: base64(part) } });
    }
    const [name, ...more] = names;
    expect(await document({ source: { configMap: { name, more } } })).toBe(`books.yaml: books.yaml=${text}`);
    expect(await document({ source: { configMap: { name, more: more.slice(1) } } })).toMatch(
      /^SourceInvalid: part 1 of "books.yaml.gz" is missing/,
    );
    expect(await document({ source: { configMap: { name, more: ['gone'] } } })).toMatch(
      /^SourceNotFound: ConfigMap "gone" is not in namespace "default"/,
    );
    await configMap('again', { data: { 'books.yaml.gz.part0': 'x' } });
    expect(await document({ source: { configMap: { name, more: ['again'] } } })).toMatch(
      /^SourceInvalid: key "books.yaml.gz.part0" of ConfigMap "again" also exists in another ConfigMap of the source/,
    );
  });

  it('finds its document at a URL, by itself or in an archive', async () => {
    const at = (path: string, file: string | Uint8Array) => {
      server.files.set(path, file);
      return { url: { url: server.url + path, sha256: hash(file) } };
    };
    expect(await document({ source: at('/v1/shop.yaml', 'S') })).toBe('shop.yaml: shop.yaml=S');
    expect(await document({ source: at('/download', 'D') })).toBe('books.yaml: books.yaml=D');
    expect(await document({ file: 'a.yaml', source: at('/other.yaml', 'O') })).toBe('a.yaml: a.yaml=O');
    const two = at('/two.tgz', gzipSync(await tarOf({ 'api/a.yaml': 'A', 'b.json': 'B', 'c.txt': 'C' })));
    expect(await document({ source: two })).toMatch(/^InvalidSpec: it holds 2 documents: .*"api\/a.yaml", "b.json"/);
    expect(await document({ file: 'api/a.yaml', source: two })).toBe('api/a.yaml: api/a.yaml=A b.json=B');
    expect(await document({ file: 'z.yaml', source: two })).toMatch(/^SourceNotFound: it holds no "z.yaml"/);
    const climbing = at('/climbing.tgz', gzipSync(await tarOf({ 'a.yaml': 'A', '../../other/b.yaml': 'B' })));
    expect(await document({ file: 'a.yaml', source: climbing })).toMatch(
      /^SourceInvalid: the file name "..\/..\/other\/b.yaml"/,
    );
  });

  it('says what is wrong with what it points at', async () => {
    expect(await document({ source: {} })).toMatch(/^InvalidSpec/);
    expect(await document({ source: { configMap: { name: 'none' } } })).toMatch(/^SourceNotFound: ConfigMap "none"/);
    await configMap('broken', { binaryData: { 'a.yaml.gz': base64('no gzip') } });
    expect(await document({ source: { configMap: { name: 'broken' } } })).toMatch(/^SourceInvalid: key "a.yaml.gz"/);
    await configMap('bomb', { binaryData: { 'a.yaml.gz': base64(gzipSync(Buffer.alloc(65 << 20))) } });
    expect(await document({ source: { configMap: { name: 'bomb' } } })).toMatch(/^SourceInvalid: key "a.yaml.gz"/);
    await configMap('text', { data: { readme: 'x' } });
    expect(await document({ source: { configMap: { name: 'text' } } })).toMatch(/^InvalidSpec: "readme" must end in/);
  });
});

describe('a PluginRef', () => {
  async function plugin(spec: object, name = 'mock') {
    const ref = pluginRefs.parse({ metadata: meta(name), spec });
    const read = await whenFetched(() => readPlugin({ objects, sources: fetcher.sources, catalog }, ref));
    return read.ok
      ? `${read.plugin.name} ${read.plugin.manifest?.version} ${read.sha256}`
      : `${read.reason}: ${read.message}`;
  }
  const toml = '[plugin]\nname = "mock"\nversion = "1.2.3"\ntype = "dispatcher"\n';

  it('names a built-in one, by its own name or another', async () => {
    const builtin = await catalog.builtin('mock');
    const digest = builtin ? sha256(builtin.wasm) : '';
    expect(await plugin({ source: { builtin: {} } })).toBe(`mock ${VERSION} ${digest}`);
    expect(await plugin({ plugin: 'stub', source: { builtin: { name: 'mock' } } })).toBe(`stub ${VERSION} ${digest}`);
    expect(await plugin({ source: { builtin: {} } }, 'none')).toMatch(/^PluginNotFound/);
    expect(await plugin({ version: '9.9.9', source: { builtin: {} } })).toMatch(
      /^SourceInvalid: spec.version requires 9.9.9/,
    );
    expect(await plugin({ sha256: 'a'.repeat(64), source: { builtin: {} } })).toMatch(/^SourceInvalid: spec.sha256/);
    expect(await plugin({ source: { builtin: {} }, verify: { keys: ['x'] } })).toMatch(/^InvalidSpec: spec.verify/);
  });

  it('finds a package in a ConfigMap, in a Secret, or at a URL', async () => {
    const wasm = (await catalog.builtin('mock'))?.wasm ?? new Uint8Array();
    await configMap('package', { data: { 'plugin.toml': toml }, binaryData: { 'mock.wasm': base64(wasm) } });
    expect(await plugin({ source: { configMap: { name: 'package' } } })).toBe(`mock 1.2.3 ${sha256(wasm)}`);
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: meta('package'),
      data: { 'plugin.toml': base64(toml), 'mock.wasm': base64(wasm) },
    };
    await objects.apply(secrets, secret);
    expect(await plugin({ source: { secret: { name: 'package' } } })).toBe(`mock 1.2.3 ${sha256(wasm)}`);
    const archive = gzipSync(await tarOf({ 'mock/plugin.toml': toml, 'mock/mock.wasm': wasm }));
    server.files.set('/mock.tgz', archive).set('/mock.wasm', wasm);
    const at = (path: string, file: Uint8Array) => ({
      source: { url: { url: server.url + path, sha256: hash(file) } },
    });
    expect(await plugin(at('/mock.tgz', archive))).toBe(`mock 1.2.3 ${sha256(wasm)}`);
    expect(await plugin(at('/mock.wasm', wasm))).toBe(`mock undefined ${sha256(wasm)}`);
  });

  it('says what is wrong with its package', async () => {
    await configMap('empty', {});
    expect(await plugin({ source: { configMap: { name: 'empty' } } })).toMatch(
      /^SourceNotFound: "empty" has no key "\*\.wasm"/,
    );
    await configMap('bad', { data: { 'plugin.toml': 'name = ' }, binaryData: { 'a.wasm': base64('x') } });
    expect(await plugin({ source: { configMap: { name: 'bad' } } })).toMatch(
      /^PluginInvalid: plugin.toml does not parse/,
    );
    expect(await plugin({ source: { builtin: {}, secret: { name: 'x' } } })).toMatch(/^InvalidSpec/);
    server.files.set('/page', '<html>');
    const page = { url: { url: `${server.url}/page`, sha256: hash('<html>') } };
    expect(await plugin({ source: page })).toMatch(/^SourceInvalid: .*neither a WebAssembly module nor a .tar.gz/);
  });
});
