/**
 * References where OpenAPI and AsyncAPI have none, or where members stand beside them: read as they are meant, or said
 * to be ignored (docs/decisions.md#operation-references).
 */
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from './index.ts';

const info = { title: 'x', version: '1' };
const dispatch = { 'x-gw-dispatch': { name: 'mock' } };

async function compiled(document: object, files: Record<string, object> = {}) {
  const all = { 'specs/api.json': { openapi: '3.1.0', info, ...document }, ...files };
  const result = await compile({
    specs: ['specs/api.json'],
    files: Object.entries(all).map(([name, value]) => ({ name, bytes: Buffer.from(JSON.stringify(value)) })),
    plugins: fakePlugins,
    flags: { production: true },
  });
  const found = result.diagnostics.map(({ code, file, pointer }) => `${code} ${file?.slice(6)} ${pointer}`);
  const routes = result.ok ? (await readArtifact(result.artifact)).routes : { operations: [], schemas: {} };
  return { found, ...routes };
}

const text = { content: { 'application/json': { schema: { type: 'string' } } } };
const create = {
  operationId: 'create',
  parameters: [{ $ref: '#/components/parameters/limit' }],
  requestBody: { required: true, ...text },
  responses: { 200: { description: 'x', ...text } },
  ...dispatch,
};
const components = {
  parameters: { limit: { name: 'limit', in: 'query', required: true, schema: { type: 'integer' } } },
  'x-operations': { create },
};

describe('a $ref of an operation', () => {
  it('leads to parameters, body, responses, dispatcher and operationId of its target', async () => {
    const { found, operations } = await compiled({
      paths: { '/a': { post: { $ref: '#/components/x-operations/create' } } },
      components,
    });
    expect(found).toEqual(['E1007 api.json /paths/~1a/post/$ref']);
    expect(operations).toMatchObject([
      {
        ...{ method: 'POST', path: '/a', operation_id: 'create' },
        parameters: [{ name: 'limit', required: true }],
        request_body: { required: true },
        produces: ['application/json'],
      },
    ]);
  });

  it('gives way to the members beside it, whole, through files and further references', async () => {
    const { found, operations } = await compiled(
      { paths: { '/a': { post: { $ref: 'ops.json#/first', requestBody: text, operationId: 'mine' } } }, components },
      {
        'specs/ops.json': {
          first: { $ref: 'more/ops.json#/second', deprecated: true, parameters: [{ $ref: '#/page' }] },
          page: { name: 'page', in: 'query', schema: { type: 'integer' } },
        },
        'specs/more/ops.json': {
          second: { ...create, parameters: [], responses: { 200: { $ref: '#/answer' } } },
          answer: { description: 'x', content: { 'text/csv': {} } },
        },
      },
    );
    expect(found).toEqual(['E1007 api.json /paths/~1a/post/$ref']);
    expect(operations).toMatchObject([
      {
        ...{ operation_id: 'mine', deprecated: true, produces: ['text/csv'] },
        parameters: [{ name: 'page' }],
        request_body: { required: false },
      },
    ]);
  });

  it('leaves the operationId of a target out that is used twice, or has a path itself', async () => {
    const shared = { post: { $ref: '#/components/x-operations/create' } };
    const twice = await compiled({ paths: { '/a': shared, '/b': shared }, components });
    expect(twice.operations.map((each) => each.operation_id)).toEqual([undefined, undefined]);
    const own = await compiled({
      paths: { '/a': { $ref: '#/x-a' }, '/b': { post: { $ref: '#/x-a/post' } } },
      'x-a': { post: { ...create, parameters: [] } },
    });
    expect(own.found).toEqual(['E1007 api.json /paths/~1b/post/$ref']);
    expect(own.operations.map((each) => each.operation_id)).toEqual(['create', undefined]);
  });

  it('is E1003 if it leads nowhere or in a circle, and E1004 if its target is no operation', async () => {
    const wrong = (ref: string) => compiled({ paths: { '/a': { get: { $ref: ref } } }, 'x-text': 'text' });
    expect((await wrong('#/gone')).found).toEqual(['E1003 api.json /paths/~1a/get/$ref']);
    expect((await wrong('#/paths/~1a/get')).found).toEqual(['E1003 api.json /paths/~1a/get/$ref']);
    expect((await wrong('#/x-text')).found).toEqual(['E1004 api.json /x-text']);
  });
});

it('members beside the $ref of a path item count, and one that replaces another is E1007', async () => {
  const limit = { name: 'limit', in: 'query', required: true };
  const shared = { get: dispatch, parameters: [{ name: 'page', in: 'query' }] };
  const more = await compiled({ paths: { '/a': { $ref: '#/x-a', post: dispatch } }, 'x-a': shared });
  expect([more.found, more.operations.map(({ method }) => method)]).toEqual([[], ['GET', 'POST']]);
  const other = await compiled({ paths: { '/a': { $ref: '#/x-a', parameters: [limit] } }, 'x-a': shared });
  expect(other.found).toEqual(['E1007 api.json /paths/~1a/$ref']);
  expect(other.operations).toMatchObject([{ parameters: [{ name: 'limit', required: true }] }]);
});

describe('parts that cannot be a $ref are read all the same, with E1007', () => {
  const parts = {
    paths: { '/a': { $ref: 'parts.json#/item' } },
    item: { post: { $ref: 'parts.json#/operation' } },
    operation: {
      ...create,
      parameters: { $ref: 'parts.json#/parameters' },
      security: { $ref: 'parts.json#/security' },
    },
    parameters: [{ name: 'q', in: 'query', required: true, content: { $ref: 'parts.json#/content' } }],
    security: [{ key: [] }],
    content: { 'application/json': { $ref: 'parts.json#/media' } },
    media: { schema: { type: 'integer' } },
    body: { content: { $ref: 'parts.json#/content' } },
    responses: { 200: { description: 'x', content: { $ref: 'parts.json#/content' } } },
    schemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
  };

  it('in OpenAPI', async () => {
    const operation = {
      ...create,
      parameters: { $ref: 'parts.json#/parameters' },
      security: { $ref: 'parts.json#/security' },
      requestBody: { $ref: 'parts.json#/body' },
      responses: { $ref: 'parts.json#/responses' },
    };
    const { found, operations } = await compiled(
      {
        paths: { $ref: 'parts.json#/paths' },
        components: { securitySchemes: { $ref: 'parts.json#/schemes' } },
      },
      { 'specs/parts.json': { ...parts, operation } },
    );
    expect(found).toEqual([
      'E1007 api.json /paths/$ref',
      ...['body/content', 'item/post', 'operation/parameters', 'operation/responses', 'operation/security'].map(
        (place) => `E1007 parts.json /${place}/$ref`,
      ),
      ...['parameters/0/content', 'responses/200/content'].map((place) => `E1007 parts.json /${place}/$ref`),
    ]);
    expect(operations).toMatchObject([
      {
        parameters: [{ name: 'q', required: true, content_type: 'application/json', schema: {} }],
        request_body: { content: { 'application/json': { schema: {} } } },
        produces: ['application/json'],
        admitted_headers: ['x-key'],
      },
    ]);
  });

  it('in properties, beside others', async () => {
    const schema = { type: 'object', properties: { $ref: 'shared.json#/properties', b: { type: 'integer' } } };
    const requestBody = { content: { 'application/json': { schema } } };
    const { found, schemas } = await compiled(
      { paths: { '/a': { post: { requestBody, ...dispatch } } } },
      { 'specs/shared.json': { properties: { a: { $ref: '#/A' }, b: { type: 'string' } }, A: { type: 'boolean' } } },
    );
    const place = '/paths/~1a/post/requestBody/content/application~1json/schema/properties/$ref';
    expect(found).toEqual([`E1007 api.json ${place}`]);
    expect(Object.values(schemas)).toContainEqual({
      type: 'object',
      properties: { a: { $ref: expect.stringMatching('^gw:A') }, b: { type: 'integer' } },
    });
  });

  it('in components that stand elsewhere', async () => {
    const { found, operations } = await compiled(
      {
        paths: { '/a': { get: { parameters: [{ $ref: '#/components/parameters/limit' }], ...dispatch } } },
        components: { $ref: 'all.json' },
      },
      { 'specs/all.json': { parameters: { $ref: 'some.json' } }, 'specs/some.json': components.parameters },
    );
    expect(found).toEqual(['E1007 all.json /parameters/$ref', 'E1007 api.json /components/$ref']);
    expect(operations).toMatchObject([{ parameters: [{ name: 'limit' }] }]);
  });

  it('in AsyncAPI, where members beside the $ref of an operation replace those of its target', async () => {
    const message = { payload: { type: 'object' } };
    const asyncapi = {
      asyncapi: '3.0.0',
      openapi: undefined,
      channels: {
        a: { address: 'a/{id}', messages: { $ref: 'parts.json#/messages' }, parameters: { $ref: 'parts.json#/ids' } },
      },
      operations: { put: { $ref: 'parts.json#/put', ...dispatch } },
    };
    const { found, operations } = await compiled(asyncapi, {
      'specs/parts.json': {
        messages: { m: message },
        ids: { id: { enum: ['x'] } },
        put: { action: 'send', channel: { $ref: 'api.json#/channels/a' }, traits: { $ref: '#/traits' } },
        traits: [{ summary: 'x' }],
      },
    });
    expect(found).toEqual([
      'E1007 api.json /channels/a/messages/$ref',
      'E1007 api.json /channels/a/parameters/$ref',
      'E1007 api.json /operations/put/x-gw-dispatch',
      'E1007 parts.json /put/traits/$ref',
    ]);
    expect(operations).toMatchObject([{ path: '/a/{id}', parameters: [{ name: 'id', schema: {} }], request_body: {} }]);
  });
});

describe('members beside a $ref that are ignored are E1008', () => {
  it('in parameters, bodies, responses and media types', async () => {
    const { found } = await compiled({
      paths: {
        '/a': {
          post: {
            parameters: [{ $ref: '#/components/parameters/limit', required: false, description: 'said' }],
            requestBody: { $ref: '#/components/requestBodies/b', required: true },
            responses: { 200: { $ref: '#/components/responses/r', content: {} } },
            ...dispatch,
          },
        },
      },
      components: {
        parameters: components.parameters,
        requestBodies: { b: { content: { 'application/json': { $ref: '#/components/x-media', schema: {} } } } },
        responses: { r: { description: 'x' } },
        'x-media': { schema: { type: 'string' } },
      },
    });
    expect(found).toEqual([
      'E1008 api.json /components/requestBodies/b/content/application~1json/schema',
      'E1008 api.json /paths/~1a/post/parameters/0/required',
      'E1008 api.json /paths/~1a/post/requestBody/required',
      'E1008 api.json /paths/~1a/post/responses/200/content',
    ]);
  });

  it('in schemas of OpenAPI 3.0, which has them ignored, and not in those of 3.1', async () => {
    const schema = { $ref: '#/components/schemas/S', maxLength: 3, nullable: true, description: 'said' };
    const document = {
      paths: { '/a': { get: { parameters: [{ name: 'q', in: 'query', schema }], responses: {}, ...dispatch } } },
      components: { schemas: { S: { type: 'string' } } },
    };
    const place = 'api.json /paths/~1a/get/parameters/0/schema';
    expect((await compiled({ openapi: '3.0.3', ...document })).found).toEqual([
      `E1008 ${place}/maxLength`,
      `E1008 ${place}/nullable`,
    ]);
    expect((await compiled(document)).found.filter((each) => !each.includes('nullable'))).toEqual([]);
  });
});

it('a version without a patch number is read as the newest patch, with E1007', async () => {
  const document = { paths: { '/a': { get: { responses: { 200: { description: 'x' } }, ...dispatch } } } };
  for (const openapi of ['3.0', '3.1', '3.2', 3, 3.1, 3.2]) {
    const { found, operations } = await compiled({ openapi, ...document });
    expect([openapi, found, operations.length]).toEqual([openapi, ['E1007 api.json /openapi'], 1]);
  }
  expect((await compiled({ openapi: undefined, asyncapi: 3.1 })).found).toEqual(['E1007 api.json /asyncapi']);
  for (const openapi of ['3', '3.3', 3.14, 2, '3.1.', '3.x']) {
    expect([openapi, (await compiled({ openapi, ...document })).found]).toEqual([openapi, ['E1001 api.json /openapi']]);
  }
});

it('an empty enum is a schema that nothing fits', async () => {
  const parameters = [{ name: 'q', in: 'query', schema: { enum: [] } }];
  const { found, schemas } = await compiled({ paths: { '/a': { get: { parameters, ...dispatch } } } });
  expect([found, Object.values(schemas)]).toEqual([[], [{ enum: [] }]]);
});

it('a boolean exclusive bound outside of OpenAPI 3.0 is read as there, with E1007', async () => {
  const schema = { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false };
  const parameters = [{ name: 'q', in: 'query', schema }];
  const { found, schemas } = await compiled({ paths: { '/a': { get: { parameters, ...dispatch } } } });
  const place = 'api.json /paths/~1a/get/parameters/0/schema';
  expect(found).toEqual([`E1007 ${place}/exclusiveMaximum`, `E1007 ${place}/exclusiveMinimum`]);
  expect(Object.values(schemas)).toEqual([{ type: 'number', exclusiveMinimum: 0, maximum: 9 }]);
});

it('a $ref in place of a text is left as it stands, with E1008, and its file is not read', async () => {
  const tags = [{ name: 'a', description: { $ref: 'a.md' } }];
  const { found, operations } = await compiled({ tags, paths: { '/a': { get: dispatch } } });
  expect([found, operations.length]).toEqual([['E1008 api.json /tags/0/description/$ref'], 1]);
});

it('what is no reference, flag or discriminator is said to be none', async () => {
  const parameters = [{ name: 'q', in: 'query', required: 'true', schema: { $ref: 5 } }];
  const schema = { oneOf: [{ type: 'object' }], discriminator: { $ref: '#/x-discriminator' } };
  const requestBody = { required: { $ref: '#/x-required' }, content: { 'application/json': { schema } } };
  const { found } = await compiled({
    $ref: '#/x-required',
    'x-discriminator': { propertyName: 'a' },
    'x-required': true,
    paths: { '/a': { get: { $ref: 5, ...dispatch }, post: { parameters, requestBody, ...dispatch } } },
  });
  expect(found).toEqual([
    'E1008 api.json /$ref',
    'E1004 api.json /paths/~1a/get/$ref',
    'E1004 api.json /paths/~1a/post/parameters/0/required',
    'E1004 api.json /paths/~1a/post/parameters/0/schema/$ref',
    'E1008 api.json /paths/~1a/post/requestBody/content/application~1json/schema/discriminator',
    'E1004 api.json /paths/~1a/post/requestBody/required',
  ]);
});
