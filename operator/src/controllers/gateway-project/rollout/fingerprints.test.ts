import { compileProject } from '@gw/control';
import { type Artifact, type JsonObject, readArtifact } from '@gw/gateway/artifact';
import { builtinPlugins, loadBuiltinPlugin } from '@gw/gateway/compiler';
import { describe, expect, it } from 'vitest';
import { FingerprintCache, fingerprintsOf } from './fingerprints.ts';
import { schemaDigests } from './schema-digests.ts';

const response = { responses: { 200: { description: 'OK' } } };
const dispatch = (body: string) => ({ 'x-gw-dispatch': { name: 'mock', config: { body } } });

/** `title`: of a schema deep within what POST /a takes. */
function shop(more: { readonly post?: string; readonly deep?: object; readonly version?: string } = {}) {
  const { post = 'taken', deep = { type: 'string' }, version = '1' } = more;
  const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } };
  return {
    openapi: '3.1.0',
    info: { title: 'Shop', version },
    components: {
      schemas: {
        Order: {
          type: 'object',
          properties: { next: { $ref: '#/components/schemas/Order' }, item: { $ref: '#/components/schemas/Item' } },
        },
        Item: { type: 'object', properties: { name: { $ref: '#/components/schemas/Name' } } },
        Name: deep,
      },
    },
    paths: {
      '/a': { get: { ...response, ...dispatch('a') }, post: { ...response, requestBody: body, ...dispatch(post) } },
    },
  };
}
const other = (paths: readonly string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Another', version: '1' },
  paths: Object.fromEntries(paths.map((path) => [path, { get: { ...response, ...dispatch(path) } }])),
});

async function artifactOf(...documents: readonly object[]): Promise<Uint8Array> {
  const names = (await builtinPlugins()).filter((name) => name === 'mock');
  const result = await compileProject({
    specs: documents.map((_, index) => `${index}.json`),
    flags: { production: false },
    files: documents.map((document, index) => ({
      name: `${index}.json`,
      bytes: new TextEncoder().encode(JSON.stringify(document)),
    })),
    plugins: await Promise.all(names.map(loadBuiltinPlugin)),
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.artifact;
}
const read = async (...documents: readonly object[]): Promise<Artifact> => readArtifact(await artifactOf(...documents));

describe("an operation's fingerprint", () => {
  it('stays when another document, or another operation, is edited', async () => {
    const before = fingerprintsOf(await read(shop(), other(['/z'])));
    const edited = fingerprintsOf(await read(shop({ version: '2' }), other(['/b', '/c', '/z'])));
    expect(edited.get('POST /a')).toBe(before.get('POST /a'));
    const elsewhere = fingerprintsOf(await read(shop({ post: 'other' }), other(['/z'])));
    expect(elsewhere.get('GET /a')).toBe(before.get('GET /a'));
  });

  it.each([
    ['its dispatch', { post: 'other' }],
    ['a schema that its schemas refer to', { deep: { type: 'integer' } }],
  ])('changes with %s', async (_, change) => {
    const before = fingerprintsOf(await read(shop()));
    const after = fingerprintsOf(await read(shop(change)));
    expect(after.get('POST /a')).not.toBe(before.get('POST /a'));
  });

  it('changes with the module of a plugin that it uses', async () => {
    const artifact = await read(shop());
    const plugins = artifact.manifest.plugins?.map((plugin) => ({ ...plugin, sha256: 'sha256:other' })) ?? [];
    const after = fingerprintsOf({ ...artifact, manifest: { ...artifact.manifest, plugins } });
    expect(after.get('POST /a')).not.toBe(fingerprintsOf(artifact).get('POST /a'));
  });

  it('is not known of what cannot be read, or is another artifact', async () => {
    const cache = new FingerprintCache();
    const bytes = await artifactOf(shop());
    const { artifact_hash } = (await readArtifact(bytes)).manifest;
    expect(await cache.of(artifact_hash, async () => Promise.reject(new Error('away')))).toBeUndefined();
    expect(await cache.of('sha256:other', async () => bytes)).toBeUndefined();
    expect((await cache.of(artifact_hash, async () => bytes))?.size).toBe(2);
    expect((await cache.of(artifact_hash, async () => Promise.reject(new Error('not read again'))))?.size).toBe(2);
  });
});

describe('digests of schemas', () => {
  const ref = (id: string) => ({ $ref: `gw:${id}` });
  const chain = (end: JsonObject, length = 20_000) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [`s${i}`, i + 1 < length ? { allOf: [ref(`s${i + 1}`), ref('s0')] } : end]),
    );

  it('change with what is at the end of any chain of references, also in circles', () => {
    const [a, b] = [schemaDigests(chain({ type: 'string' })), schemaDigests(chain({ type: 'integer' }))];
    expect(a.size).toBe(20_000);
    expect(a.get('s0')).not.toBe(b.get('s0'));
    const circle = (end: JsonObject) =>
      schemaDigests({ a: ref('b'), b: { anyOf: [ref('a'), ref('c')] }, c: end, d: ref('d') });
    expect(circle({ type: 'string' }).get('a')).not.toBe(circle({ type: 'null' }).get('a'));
    expect(circle({ type: 'string' }).get('d')).toBe(circle({ type: 'null' }).get('d'));
    expect(circle({ type: 'string' }).get('a')).toBe(circle({ type: 'string' }).get('a'));
  });
});
