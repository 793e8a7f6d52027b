/**
 * What a `$ref` may stand for in OpenAPI, also in other files of the project
 * (docs/decisions.md#references-stay-inside), and what OpenAPI 3.2 adds.
 */
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from './index.ts';

async function compiled(document: object, files: Record<string, object> = {}) {
  const all = { 'specs/api.json': { openapi: '3.2.0', info: { title: 'x', version: '1' }, ...document }, ...files };
  const result = await compile({
    specs: ['specs/api.json'],
    files: Object.entries(all).map(([name, value]) => ({ name, bytes: Buffer.from(JSON.stringify(value)) })),
    plugins: fakePlugins,
    flags: {},
  });
  const found = result.diagnostics.map(({ code, file, pointer }) => `${code} ${file} ${pointer}`);
  const routes = result.ok ? (await readArtifact(result.artifact)).routes : { operations: [], schemas: {} };
  return { found, ...routes };
}

const dispatch = { 'x-gw-dispatch': { name: 'mock' } };

describe('references', () => {
  it('stand for path items, parameters, bodies, responses, media types, examples and security schemes of other files', async () => {
    const { found, operations, schemas } = await compiled(
      {
        paths: { '/books/{id}': { $ref: 'paths/book.json' } },
        components: { securitySchemes: { key: { $ref: 'shared.json#/key' } } },
      },
      {
        'specs/paths/book.json': {
          parameters: [{ $ref: '../shared.json#/id' }],
          post: {
            operationId: 'changeBook',
            security: [{ key: [] }],
            requestBody: { $ref: '../shared.json#/body' },
            responses: { 200: { $ref: '../shared.json#/answer' } },
            ...dispatch,
          },
        },
        'specs/shared.json': {
          id: { name: 'id', in: 'path', required: true, schema: { $ref: '#/number' } },
          number: { type: 'integer' },
          body: { content: { 'application/json': { $ref: '#/media' } } },
          media: { schema: { type: 'object', minProperties: 1 }, examples: { one: { $ref: '#/example' } } },
          example: { value: { $ref: 'this is data' } },
          answer: { description: 'x', content: { 'text/plain': {} } },
          key: { type: 'apiKey', in: 'header', name: 'X-Key' },
        },
      },
    );
    expect(found).toEqual([]);
    expect(operations).toMatchObject([
      {
        ...{ method: 'POST', path: '/books/{id}', operation_id: 'changeBook', spec: 'api.json' },
        parameters: [{ name: 'id', types: ['integer'] }],
        admitted_headers: ['x-key'],
        produces: ['text/plain'],
      },
    ]);
    expect(Object.values(schemas)).toContainEqual({ type: 'object', minProperties: 1 });
  });

  it('point at the file that is wrong', async () => {
    const { found } = await compiled(
      { paths: { '/a': { $ref: 'a.json' } } },
      { 'specs/a.json': { get: { parameters: [{ $ref: 'gone.json#/x' }], ...dispatch } } },
    );
    expect(found).toEqual(['E1003 specs/a.json /get/parameters/0/$ref']);
  });
});

describe('OpenAPI 3.2', () => {
  it('has QUERY, and methods of its own making', async () => {
    const body = { content: { 'application/json': { schema: { type: 'object' } } } };
    const { found, operations } = await compiled({
      paths: { '/a': { query: { requestBody: body, ...dispatch }, additionalOperations: { COPY: dispatch } } },
    });
    expect(found).toEqual([]);
    expect(operations.map(({ method, request_body }) => [method, request_body !== undefined])).toEqual([
      ['QUERY', true],
      ['COPY', false],
    ]);
  });
});

it('paths are served as they are written: the path of a server is no part of them', async () => {
  const { operations } = await compiled({
    servers: [{ url: 'https://api.example/v1' }],
    paths: { '/a': { get: dispatch } },
  });
  expect(operations.map(({ path }) => path)).toEqual(['/a']);
});
