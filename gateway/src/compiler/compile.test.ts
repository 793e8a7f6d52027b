import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { readArtifact } from '../artifact/read.ts';
import { type CompileResult, compile, type Project, type ProjectFile, type ProjectPlugin } from './index.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'specs', 'bookstore');
const NAMES = ['books.yaml', 'parts/book.yaml', 'parts/author.yaml'];

function bookstore(prefix = ''): Project {
  return {
    specs: [`${prefix}books.yaml`],
    files: NAMES.map((name): ProjectFile => ({ name: prefix + name, bytes: readFileSync(join(folder, name)) })),
    plugins: fakePlugins.map((plugin): ProjectPlugin => {
      if (plugin.name === 'rate-limit')
        return { ...plugin, defaultConfig: { quota: 5, window: 1 }, config: { quota: 10 } };
      if (plugin.name === 'apikey-auth') return { ...plugin, config: { keys: [{ id: 'me', key: 'env://KEY' }] } };
      return plugin;
    }),
    upstreams: { inventory: { url: 'https://inventory.example/v1' } },
    flags: { sourceDateEpoch: 1_767_225_600 },
  };
}

function good(result: CompileResult): CompileResult & { readonly ok: true } {
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 2));
  return result;
}

async function routesOf(project: Project) {
  return (await readArtifact(good(await compile(project)).artifact)).routes;
}

describe('compile', () => {
  it('emits the routes.json that is kept as an example', async () => {
    const routes = await routesOf(bookstore());
    await expect(`${JSON.stringify(routes, null, 2)}\n`).toMatchFileSnapshot(join(folder, 'routes.json'));
  });

  it('emits the manifest that is kept as an example', async () => {
    const { manifest, diagnostics } = good(await compile(bookstore()));
    expect(diagnostics.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['E1020', '/paths/~1books~1{bookId}/delete'],
    ]);
    await expect(`${JSON.stringify(manifest, null, 2)}\n`).toMatchFileSnapshot(join(folder, 'manifest.json'));
  });

  it('keeps sources byte for byte, with the files that they refer to', async () => {
    const artifact = await readArtifact(good(await compile(bookstore('a/b/'))).artifact);
    expect([...artifact.specNames].sort()).toEqual([...NAMES].sort());
    for (const name of NAMES)
      expect(Buffer.from(await artifact.readSpec(name))).toEqual(readFileSync(join(folder, name)));
  });

  it('gives the same bytes in any order of files and plugins, and in any folder', async () => {
    const first = good(await compile(bookstore()));
    const tar = gunzipSync(first.artifact);
    const { files, plugins, specs } = bookstore('x/');
    const other: ProjectFile = { name: 'x/unrelated.yaml', bytes: Buffer.from('nothing: refers to it') };
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...files, other], { minLength: files.length + 1 }),
        fc.shuffledSubarray([...plugins], { minLength: plugins.length }),
        async (someFiles, somePlugins) => {
          const again = good(await compile({ ...bookstore(), specs, files: someFiles, plugins: somePlugins }));
          expect(again.artifactHash).toBe(first.artifactHash);
          expect(again.tarSha256).toBe(first.tarSha256);
          expect(gunzipSync(again.artifact).equals(tar)).toBe(true);
        },
      ),
      propertyRuns(20),
    );
  });

  it('gives the same artifact_hash at any time, and another for any other input', async () => {
    const first = good(await compile(bookstore()));
    const { sourceDateEpoch: _, ...flags } = bookstore().flags;
    expect(good(await compile({ ...bookstore(), flags })).artifactHash).toBe(first.artifactHash);
    const provenance = good(await compile({ ...bookstore(), flags: { provenanceCommit: 'abc' } }));
    expect(provenance.artifactHash).toBe(first.artifactHash);
    expect(provenance.manifest.manifest_hash).not.toBe(first.manifest.manifest_hash);
    const url = 'https://other.example';
    const other = good(await compile({ ...bookstore(), upstreams: { inventory: { url } } }));
    expect(other.artifactHash).not.toBe(first.artifactHash);
  });

  it('gives the same artifact_hash in whatever order a door has the members of config', async () => {
    const turned = (value: unknown): unknown =>
      typeof value !== 'object' || value === null || Array.isArray(value)
        ? value
        : Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, each]) => [name, turned(each)]),
          );
    const inputs = (turn: (value: unknown) => unknown) => {
      const { plugins, ...rest } = bookstore();
      const config = { status: 201, body: 'x' };
      return {
        ...rest,
        plugins: plugins.map((plugin) =>
          plugin.name === 'mock' ? { ...plugin, config: turn(config) as typeof config } : plugin,
        ),
      };
    };
    const first = good(await compile(inputs((value) => value)));
    expect(good(await compile(inputs(turned))).artifactHash).toBe(first.artifactHash);
    expect(good(await compile(bookstore())).artifactHash).not.toBe(first.artifactHash);
  });

  it('accepts an AsyncAPI document and keeps it', async () => {
    const text = 'asyncapi: 3.0.0\ninfo: { title: Orders, version: "1" }\nchannels: {}\n';
    const files = [{ name: 'orders.yaml', bytes: Buffer.from(text) }];
    const { manifest } = good(await compile({ ...bookstore(), specs: ['orders.yaml'], files }));
    expect(manifest).toMatchObject({ routes_count: 0, source_specs: [{ type: 'asyncapi', version: '3.0.0' }] });
  });

  it('takes a document that others refer to, and that claims to be none, for a part', async () => {
    const project = bookstore();
    expect(good(await compile({ ...project, specs: NAMES })).manifest.source_specs).toHaveLength(1);
  });
});

describe('schemas', () => {
  const schemasOf = async (schemas: object, version = '3.1.0', root = '#/components/schemas/Root') => {
    const document = {
      openapi: version,
      info: { title: 'x', version: '1' },
      paths: {
        '/a': {
          post: {
            requestBody: { content: { 'application/json': { schema: { $ref: root } } } },
            'x-gw-dispatch': { name: 'mock' },
          },
        },
      },
      components: { schemas },
    };
    const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
    const result = await compile({ specs: ['a.json'], files, plugins: fakePlugins, flags: {} });
    const { routes } = await readArtifact(good(result).artifact);
    const byLabel = Object.entries(routes.schemas).map(([id, schema]) => [id.replace(/-[0-9a-f]{16}$/, ''), schema]);
    const text = JSON.stringify(Object.fromEntries(byLabel)).replaceAll(/(gw:\w+)-[0-9a-f]{16}/g, '$1');
    return { schemas: JSON.parse(text), codes: result.diagnostics.map(({ code }) => code) };
  };

  it('3.0: nullable, boolean exclusive bounds, siblings of $ref', async () => {
    const { schemas } = await schemasOf(
      {
        Root: {
          properties: {
            a: { type: 'string', nullable: true },
            b: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false },
            c: { type: 'string', enum: ['x'], nullable: true },
            d: { nullable: true, allOf: [{ $ref: '#/components/schemas/Other' }] },
            e: { $ref: '#/components/schemas/Other', minLength: 3 },
          },
        },
        Other: { type: 'string' },
      },
      '3.0.3',
    );
    expect(schemas.Root.properties).toEqual({
      a: { type: ['string', 'null'] },
      b: { type: 'number', exclusiveMinimum: 1, maximum: 5 },
      c: { type: ['string', 'null'], enum: ['x', null] },
      d: { anyOf: [{ type: 'null' }, { allOf: [{ $ref: 'gw:Other' }] }] },
      e: { $ref: 'gw:Other' },
    });
  });

  it('3.1: keeps siblings of $ref, follows $anchor, $id, $defs and $dynamicRef', async () => {
    const { schemas } = await schemasOf({
      Root: {
        $id: 'https://example.com/root',
        $dynamicAnchor: 'node',
        properties: {
          a: { $ref: '#/$defs/text', minLength: 3 },
          b: { $ref: '#named' },
          c: { $dynamicRef: '#node' },
          d: { $ref: 'https://example.com/root#/$defs/text' },
        },
        $defs: { text: { type: 'string' }, other: { $anchor: 'named', type: 'integer' } },
      },
    });
    expect(schemas.Root.properties).toEqual({
      a: { $ref: 'gw:text', minLength: 3 },
      b: { $ref: 'gw:other' },
      c: { $ref: 'gw:Root' },
      d: { $ref: 'gw:text' },
    });
    expect(schemas.text).toEqual({ type: 'string' });
  });

  it('drops what does not validate, and keeps properties that are called so', async () => {
    const { schemas } = await schemasOf({
      Root: {
        description: 'x',
        title: 'x',
        example: 1,
        examples: [1],
        xml: {},
        externalDocs: {},
        'x-more': 1,
        deprecated: true,
        discriminator: { propertyName: 'kind' },
        properties: { description: { type: 'string' }, $ref: { type: 'string' }, __proto__x: true },
      },
    });
    expect(schemas.Root).toEqual({
      properties: { description: { type: 'string' }, $ref: { type: 'string' }, __proto__x: true },
    });
  });

  it('has the discriminator choose the branch, by mapping and by name', async () => {
    const pet = (property: string) => ({ type: 'object', required: [property] });
    const { schemas } = await schemasOf({
      Root: {
        oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
        discriminator: { propertyName: 'kind', mapping: { kitty: 'Cat', puss: '#/components/schemas/Cat' } },
      },
      Cat: pet('claws'),
      Dog: pet('bark'),
    });
    const choice = (names: string[], then: string) => ({
      if: { type: 'object', required: ['kind'], properties: { kind: { enum: names } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
      then: { $ref: then },
    });
    const names = ['kitty', 'puss', 'Cat', 'Dog'];
    expect(schemas.Root.oneOf).toBeUndefined();
    expect(schemas.Root.allOf).toEqual([
      { type: 'object' },
      { 'x-gw-named-by': { property: 'kind', names }, required: ['kind'], properties: { kind: { enum: names } } },
      choice(['kitty', 'puss', 'Cat'], 'gw:Cat'),
      choice(['Dog'], 'gw:Dog'),
    ]);
  });

  it('takes names of branches that say themselves which they are', async () => {
    const { schemas } = await schemasOf({
      Root: {
        oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
        discriminator: { propertyName: 'kind' },
      },
      Cat: { properties: { kind: { const: 'cat' } } },
      Dog: { allOf: [{ $ref: '#/components/schemas/Named' }] },
      Named: { properties: { kind: { enum: ['dog', 'hound'] } } },
    });
    expect(schemas.Root.allOf[1].properties).toEqual({ kind: { enum: ['cat', 'dog', 'hound'] } });
  });

  it('does not require what is readOnly, here or in allOf', async () => {
    const { schemas } = await schemasOf({
      Root: { allOf: [{ $ref: '#/components/schemas/Base' }, { type: 'object', required: ['id', 'name'] }] },
      Base: { properties: { id: { readOnly: true }, name: {} }, required: ['id'] },
    });
    expect(schemas.Root.allOf[1]).toEqual({ type: 'object', required: ['name'] });
    expect(schemas.Base.required).toBeUndefined();
  });

  it('keeps recursive schemas, and breaks circles that no value would end', async () => {
    const { schemas, codes } = await schemasOf({
      Root: { properties: { child: { $ref: '#/components/schemas/Root' }, pet: { $ref: '#/components/schemas/Pet' } } },
      Pet: { oneOf: [{ $ref: '#/components/schemas/Cat' }] },
      Cat: { allOf: [{ $ref: '#/components/schemas/Pet' }, { type: 'object' }] },
    });
    expect(schemas.Root.properties.child).toEqual({ $ref: 'gw:Root' });
    expect(codes).toEqual(['E1008']);
    expect(JSON.stringify([schemas.Pet, schemas.Cat]).match(/\$ref/g)).toHaveLength(1);
  });

  it('shares one entry between all uses of a schema', async () => {
    const part = { $ref: '#/components/schemas/Part' };
    const { schemas } = await schemasOf({
      Root: { items: part, contains: part, properties: { a: part } },
      Part: { type: 'null' },
    });
    expect(Object.keys(schemas).sort()).toEqual(['Part', 'Root']);
  });

  it('does not overflow on a long chain of references', async () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => [
      `S${i}`,
      { allOf: [{ $ref: `#/components/schemas/S${i + 1}` }] },
    ]);
    const schemas = { ...Object.fromEntries(chain), S20000: { type: 'string' } };
    const text = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      components: { schemas },
      paths: {
        '/a': {
          post: {
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } },
            'x-gw-dispatch': { name: 'mock' },
          },
        },
      },
    });
    const files = [{ name: 'a.json', bytes: Buffer.from(text) }];
    const result = await compile({ specs: ['a.json'], files, plugins: fakePlugins, flags: {} });
    expect(result.ok || result.diagnostics[0]?.code).toBe('E1004');
  });
});

describe('hostile documents', () => {
  const codesOf = async (text: string) => {
    const files = [{ name: 'a.yaml', bytes: Buffer.from(text) }];
    const { diagnostics } = await compile({ specs: ['a.yaml'], files, plugins: fakePlugins, flags: {} });
    return diagnostics.map(({ code }) => code);
  };

  it('refuses a bomb of aliases', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `x-${i}: &a${i} [${
          i === 0
            ? 'x'
            : Array(10)
                .fill(`*a${i - 1}`)
                .join(', ')
        }]`,
    );
    expect(await codesOf(`openapi: 3.1.0\n${levels.join('\n')}\n`)).toEqual(['E1002']);
  });

  it('refuses what contains itself', async () => {
    expect(await codesOf('openapi: 3.1.0\nx-a: &a [*a]\n')).toEqual(['E1002']);
  });

  it('refuses nesting without end', async () => {
    expect(await codesOf(`{"openapi": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).toEqual(['E1002']);
    expect(await codesOf(`openapi: ${'['.repeat(100_000)}`)).toEqual(['E1002']);
  });

  it('is not kept busy by schemas that combine each other', async () => {
    const levels = Array.from({ length: 30 }, (_, i) => {
      const next = { $ref: `#/components/schemas/S${i + 1}` };
      return [`S${i}`, { allOf: Array(20).fill(next), anyOf: Array(20).fill(next) }];
    });
    const schema = { $ref: '#/components/schemas/S0' };
    const text = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      paths: { '/a': { get: { parameters: [{ name: 'q', in: 'query', schema }], 'x-gw-dispatch': { name: 'mock' } } } },
      components: { schemas: { ...Object.fromEntries(levels), S30: { type: 'integer' } } },
    });
    expect(await codesOf(text)).toEqual([]);
    const properties = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, { $ref: '#' }]));
    const files = [{ name: 'a.yaml', bytes: Buffer.from(text) }];
    const plugins = fakePlugins
      .slice(0, 1)
      .map((plugin) => ({ ...plugin, configSchema: { type: 'object', properties } }));
    const { diagnostics } = await compile({ specs: ['a.yaml'], files, plugins, flags: {} });
    expect(diagnostics).toMatchObject([{ code: 'E1042' }]);
  });

  it('refuses what is not UTF-8', async () => {
    const files = [{ name: 'a.yaml', bytes: Buffer.from([0x6f, 0xff, 0xfe]) }];
    const { diagnostics } = await compile({ specs: ['a.yaml'], files, plugins: [], flags: {} });
    expect(diagnostics).toMatchObject([{ code: 'E1002', message: 'the file is not UTF-8 text' }]);
  });

  it('takes names such as __proto__ and constructor for names', async () => {
    const text = `{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{"/a":{"get":{
      "parameters":[{"name":"__proto__","in":"query","schema":{"type":"object","properties":{"__proto__":{"type":"integer"}}}}],
      "security":[{"constructor":[]}],"x-gw-dispatch":{"name":"constructor"}}}}}`;
    expect(await codesOf(text)).toEqual(['E1004', 'E1040']);
  });

  it('gives diagnostics, and never throws, for whatever parses', async () => {
    const base = readFileSync(join(folder, 'books.yaml'), 'utf8');
    const words = ['null', '[]', '{}', '7', 'true', '"#/"', '{ $ref: "#" }', '[{ $ref: "#/paths" }]', 'text'];
    await fc.assert(
      fc.asyncProperty(fc.nat(base.split('\n').length - 1), fc.constantFrom(...words), async (line, word) => {
        const lines = base.split('\n');
        lines[line] = (lines[line] ?? '').replace(/: .*$|:$/, `: ${word}`);
        const project = bookstore();
        const files = project.files.map((file) =>
          file.name === 'books.yaml' ? { ...file, bytes: Buffer.from(lines.join('\n')) } : file,
        );
        const result = await compile({ ...project, files });
        expect(typeof result.ok).toBe('boolean');
      }),
      propertyRuns(100),
    );
  });
});
