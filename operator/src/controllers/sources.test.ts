/** What ApiSpecs and PluginRefs point at, read and refused. */
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { apiSpecs, configMaps, pluginRefs, secrets } from '../api/resources.ts';
import { catalog } from '../catalog.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { readDocument } from './api-spec/document.ts';
import { readPlugin, sha256 } from './plugin-ref/plugin-package.ts';

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const meta = (name: string) => ({ name, namespace: 'default' });

let objects: MemoryObjects;
beforeEach(() => {
  objects = new MemoryObjects();
});

async function configMap(name: string, body: object): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(name), ...body };
  await objects.apply(configMaps, object);
}

async function document(spec: object) {
  const read = await readDocument(objects, apiSpecs.parse({ metadata: meta('books'), spec }));
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
    expect(await document(configMapSource())).toMatch(/^InvalidSpec: .* has 2 keys/);
    expect(await document(configMapSource('c.yaml'))).toMatch(/^SourceNotFound: .* no key "c.yaml"/);
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
    const read = await readPlugin(objects, catalog, pluginRefs.parse({ metadata: meta(name), spec }));
    return read.ok
      ? `${read.plugin.name} ${read.plugin.manifest?.version} ${read.sha256}`
      : `${read.reason}: ${read.message}`;
  }
  const toml = '[plugin]\nname = "mock"\nversion = "1.2.3"\ntype = "dispatcher"\n';

  it('names a built-in one, by its own name or another', async () => {
    const builtin = await catalog.builtin('mock');
    const hash = builtin ? sha256(builtin.wasm) : '';
    expect(await plugin({ source: { builtin: {} } })).toBe(`mock 0.8.0 ${hash}`);
    expect(await plugin({ plugin: 'stub', source: { builtin: { name: 'mock' } } })).toBe(`stub 0.8.0 ${hash}`);
    expect(await plugin({ source: { builtin: {} } }, 'none')).toMatch(/^PluginNotFound/);
    expect(await plugin({ version: '9.9.9', source: { builtin: {} } })).toMatch(
      /^SourceInvalid: spec.version asks for 9.9.9/,
    );
    expect(await plugin({ sha256: 'a'.repeat(64), source: { builtin: {} } })).toMatch(/^SourceInvalid: spec.sha256/);
  });

  it('finds a package in a ConfigMap or a Secret', async () => {
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
  });
});
