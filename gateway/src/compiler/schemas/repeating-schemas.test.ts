/** Warnings of schemas that repeat themselves (E1079). */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../artifact/format.ts';
import { loadBuiltinPlugin } from '../../plugins/builtin.ts';
import { compile } from '../index.ts';

const node = { $ref: '#/components/schemas/Node' };
const withItems = (more: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties: { items: { type: 'array', items: node }, ...more },
  required,
});

/** The messages of the warnings for a schema `Node`. */
async function warnings(schemas: JsonObject): Promise<readonly string[]> {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    components: { schemas },
    paths: {
      '/nodes': {
        post: {
          requestBody: { required: true, content: { 'application/json': { schema: node } } },
          responses: { 200: { description: 'OK' } },
          'x-gw-dispatch': { name: 'mock' },
        },
      },
    },
  };
  const result = await compile({
    specs: ['api.json'],
    files: [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }],
    plugins: [loadBuiltinPlugin('mock')],
    flags: {},
  });
  return result.diagnostics.flatMap(({ code, message }) => (code === 'E1079' ? [message] : []));
}

describe('a schema that repeats itself', () => {
  it.each<[string, JsonObject, string]>([
    ['in branches without a difference', { oneOf: [withItems({}), withItems({ a: {} })] }, '"items"'],
    [
      'in branches that differ in what may be absent',
      { anyOf: [withItems({ op: { const: 'and' } }), withItems({ op: { const: 'or' } })] },
      '"items"',
    ],
    ['in branches that each require another name', { oneOf: [withItems({}, ['a']), withItems({}, ['b'])] }, '"items"'],
    ['beside a branch of allOf', { ...withItems({}), allOf: [withItems({})] }, '"items"'],
    ['in a condition', { if: withItems({}), else: withItems({}) }, '"items"'],
    ['in lists', { anyOf: [{ items: node }, { prefixItems: [node] }] }, 'their items'],
    ['in maps', { anyOf: [{ additionalProperties: node }, { patternProperties: { '^a': node } }] }, 'their members'],
    [
      'by way of other schemas',
      { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }] },
      '"items"',
    ],
  ])('%s is warned of', async (_, schema, way) => {
    const found = await warnings({ Node: schema, A: withItems({}), B: withItems({}) });
    expect(found.length).toBeGreaterThan(0);
    for (const each of found) expect(each).toContain(`go through ${way} to the schema again`);
  });

  const and = withItems({ op: { const: 'and' } }, ['op']);
  const or = withItems({ op: { enum: ['or', 'any'] } }, ['op']);
  it.each<[string, JsonObject]>([
    ['one branch', { oneOf: [withItems({}), { type: 'string' }] }],
    [
      'branches of different types',
      {
        oneOf: [
          { ...withItems({}), type: 'object' },
          { type: 'array', items: node },
        ],
      },
    ],
    ['branches with a required constant of their own', { oneOf: [and, or] }],
    [
      'branches of which one has what the other does not admit',
      {
        oneOf: [withItems({ a: {} }, ['a']), { ...withItems({}), additionalProperties: false }],
      },
    ],
    ['branches that go through different names', { oneOf: [{ properties: { a: node } }, { properties: { b: node } }] }],
    [
      'a discriminator',
      {
        oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }],
        discriminator: { propertyName: 'op' },
      },
    ],
    [
      'a constant that a part of allOf requires',
      { oneOf: [{ allOf: [{ properties: { op: { const: 'and' } }, required: ['op'] }, withItems({})] }, or] },
    ],
  ])('is not what has %s', async (_, schema) => {
    expect(await warnings({ Node: schema, A: withItems({ op: {} }), B: withItems({ op: {} }) })).toEqual([]);
  });

  const chain = (length: number, link: (next: JsonObject) => JsonObject, last: JsonObject): JsonObject => ({
    Node: link({ $ref: '#/components/schemas/S1' }),
    ...Object.fromEntries(
      Array.from({ length }, (_, i) => [
        `S${i + 1}`,
        i === length - 1 ? last : link({ $ref: `#/components/schemas/S${i + 2}` }),
      ]),
    ),
  });
  it.each<[string, JsonObject]>([
    [
      'a union of 9,000 with a discriminator',
      {
        Node: {
          oneOf: Array.from({ length: 9_000 }, (_, i) => ({ $ref: `#/components/schemas/B${i}` })),
          discriminator: { propertyName: 't' },
        },
        ...Object.fromEntries(
          Array.from({ length: 9_000 }, (_, i) => [`B${i}`, withItems({ t: { type: 'string' } }, ['t'])]),
        ),
      },
    ],
    [
      'allOf that refers to the next one twice, 40 times',
      chain(40, (next) => ({ allOf: [next, next] }), withItems({})),
    ],
    [
      'lists of 100 branches, 20 times',
      chain(20, (next) => ({ anyOf: Array.from({ length: 100 }, () => next) }), withItems({})),
    ],
    ['a chain of 500 references', chain(500, (next) => ({ allOf: [next] }), withItems({}))],
  ])('is searched in bounded steps: %s', async (_, schemas) => {
    expect((await warnings(schemas)).length).toBeLessThan(100);
  });
});
