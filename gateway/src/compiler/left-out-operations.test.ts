/** Operations that are left out because of an error (docs/decisions.md#left-out-operations). */
import { describe, expect, it } from 'vitest';
import { builtinPlugins, type CompileFlags, compile, loadBuiltinPlugin } from './index.ts';

const HEAD = { openapi: '3.1.0', info: { title: 'x', version: '1' } };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const answer = (schema: object) => ({ responses: { 200: { description: 'OK', ...json(schema) } } });

async function compiled(document: object, flags: CompileFlags, more: Record<string, string> = {}) {
  const files = Object.entries({ 'a.json': JSON.stringify(document), ...more }).map(([name, text]) => ({
    name,
    bytes: Buffer.from(text),
  }));
  const plugins = builtinPlugins()
    .filter((name) => ['mock', 'http-upstream'].includes(name))
    .map((name) => loadBuiltinPlugin(name));
  const result = await compile({ specs: ['a.json'], files, plugins, flags });
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  if (!result.ok) return { ok: false, errors, served: 0, leftOut: [] };
  const leftOut = result.leftOut.map(({ method, path, code }) => `${method} ${path} ${code}`);
  return { ok: true, errors, served: result.manifest.routes_count, leftOut };
}

/** Reach a schema that is wrong: over references, from the path item, by a discriminator; one reaches none. */
const DOCUMENT = {
  ...HEAD,
  security: [{ nobody: [] }],
  paths: {
    '/good': { get: answer({ type: 'object' }), post: { requestBody: json({ $ref: '#/components/schemas/Good' }) } },
    '/deep': { get: answer({ $ref: '#/components/schemas/List' }) },
    '/again': { get: answer({ $ref: '#/components/schemas/Bad' }), put: answer({ $ref: '#/components/schemas/Bad' }) },
    '/item': { parameters: [{ name: 'q', in: 'query', schema: { $ref: '#/components/schemas/Bad' } }], get: {} },
    '/mapped': { post: { requestBody: json({ $ref: '#/components/schemas/Union' }) } },
    '/nowhere': { get: answer({ $ref: '#/components/schemas/Missing' }) },
    '/twice/{a}': { get: answer({}), parameters: [{ name: 'a', in: 'path', required: true, schema: {} }] },
    '/twice/{b}': { get: answer({}), parameters: [{ name: 'b', in: 'path', required: true, schema: {} }] },
    'no-slash': { get: {} },
  },
  components: {
    schemas: {
      Good: { type: 'object' },
      Bad: { type: 'object', properties: { a: { type: 'strin' } } },
      List: { type: 'array', items: { $ref: '#/components/schemas/Page' } },
      Page: { properties: { next: { $ref: '#/components/schemas/List' }, bad: { $ref: '#/components/schemas/Bad' } } },
      Union: {
        discriminator: { propertyName: 't', mapping: { bad: '#/components/schemas/Bad' } },
        oneOf: [{ $ref: '#/components/schemas/Good' }, { $ref: '#/components/schemas/Bad' }],
      },
      Unused: { $ref: './not-there.json' },
    },
  },
};
const LEFT_OUT = [
  'GET /deep E1004',
  'GET /again E1004',
  'PUT /again E1004',
  'GET /item E1004',
  'POST /mapped E1004',
  'GET /nowhere E1003',
  'GET /twice/{b} E1010',
];

describe('operations with an error', () => {
  it('are left out under mock, each with its reason, and the rest is served', async () => {
    const { ok, errors, served, leftOut } = await compiled(DOCUMENT, { mock: true, leaveOut: true });
    expect([ok, errors]).toEqual([true, []]);
    expect(leftOut.sort()).toEqual(LEFT_OUT.toSorted());
    expect(served).toBe(3);
  });

  it('stop the compilation otherwise, with dispatchers as without', async () => {
    const verdict = async (more: object, flags: CompileFlags) =>
      (await compiled({ ...DOCUMENT, ...more }, flags)).errors;
    const without = await verdict({}, {});
    expect(without.length).toBeGreaterThan(0);
    expect(await verdict({ 'x-gw-dispatch': { name: 'mock' } }, {})).toEqual(
      expect.arrayContaining(without.filter((code) => code !== 'E1010')),
    );
    const upstream = { name: 'http-upstream', config: { url: 'https://a.example' } };
    const proxied = await verdict({ 'x-gw-dispatch': upstream }, {});
    expect(new Set(proxied)).toEqual(new Set(['E1003', 'E1004', 'E1010']));
    expect(new Set([...without, 'E1010'])).toEqual(new Set(proxied));
  });

  it('that are proxied need no response schemas', async () => {
    const { served, leftOut } = await compiled(DOCUMENT, {
      upstream: 'http://localhost:3000',
      leaveOut: true,
      allowPlaintext: true,
    });
    expect(leftOut).toContain('POST /mapped E1004');
    expect(leftOut).toContain('GET /item E1004');
    expect(served + leftOut.length).toBe(10);
  });

  it('are none of what a setting of the document or the project gets wrong', async () => {
    const settings = { ...HEAD, 'x-gw-mcp': { enabled: 'yes' }, paths: { '/a': { get: {} } } };
    expect(await compiled(settings, { mock: true, leaveOut: true })).toMatchObject({ ok: false, errors: ['E1012'] });
    expect(await compiled({ swagger: '2.0' }, { mock: true, leaveOut: true })).toMatchObject({ ok: false });
    expect(await compiled({ ...HEAD, paths: {} }, { mock: true, leaveOut: true }, {})).toMatchObject({
      ok: true,
      served: 0,
    });
  });
});
