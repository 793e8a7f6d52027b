/** The one OpenAPI document of several, as its readers get it of `gw serve`, by a validator that is not ours. */
import { validate } from '@scalar/openapi-validator';
import { describe, expect, it } from 'vitest';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { jsonOf, startGateway } from './gateway.ts';

const dispatch = { 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } };
const content = (schema: object) => ({ 'application/json': { schema } });

const books = {
  openapi: '3.0.3',
  info: { title: 'Books', version: '1' },
  servers: [{ url: 'https://books.example/v1' }],
  tags: [{ name: 'all', description: 'of books' }],
  security: [{ key: [] }],
  paths: {
    '/books': {
      parameters: [
        { name: 'page', in: 'query', schema: { type: 'integer', nullable: true, minimum: 0, exclusiveMinimum: true } },
      ],
      get: {
        operationId: 'list',
        responses: {
          200: {
            description: 'OK',
            content: content({ type: 'array', items: { $ref: '#/components/schemas/Book', nullable: true } }),
            links: { again: { operationId: 'list' } },
          },
        },
        ...dispatch,
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    schemas: {
      Book: {
        type: 'object',
        properties: {
          nullable: { type: 'string', nullable: true, enum: ['a', 'b'], example: { nullable: true } },
          of: { allOf: [{ $ref: '#/components/schemas/Author' }], nullable: true },
        },
      },
      Author: { type: 'object' },
    },
  },
};
const orders = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '2' },
  servers: [{ url: 'https://orders.example' }],
  tags: [{ name: 'all', description: 'of orders' }],
  paths: {
    '/orders': {
      get: {
        operationId: 'list',
        responses: { 200: { description: 'OK', links: { again: { operationId: 'list' } } } },
        ...dispatch,
      },
    },
    '/books': {
      post: {
        operationId: 'order',
        requestBody: { content: content({ type: ['object', 'null'] }) },
        responses: { 200: { description: 'OK' } },
        ...dispatch,
      },
    },
  },
};
const events = {
  openapi: '3.1.1',
  info: { title: 'Events', version: '1' },
  paths: { '/events/{id}': { get: { operationId: 'list', responses: { 200: { description: 'OK' } }, ...dispatch } } },
};
const withId = {
  ...events,
  paths: {
    '/events/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      ...events.paths['/events/{id}'],
    },
  },
};

type Operation = {
  operationId: string;
  servers?: object;
  security?: object;
  parameters?: object[];
  responses: Record<string, { links?: object }>;
};
type Item = Record<string, Operation> & { servers?: object };
interface Merged {
  readonly openapi: string;
  readonly servers?: object;
  readonly security?: object;
  readonly tags: object[];
  readonly paths: Record<string, Item>;
  readonly components: { schemas: Record<string, { properties: object }> };
}

async function merged(documents: Readonly<Record<string, object>>): Promise<Merged> {
  const files = Object.entries(documents).map(([name, document]) => ({
    name,
    bytes: Buffer.from(JSON.stringify(document)),
  }));
  const result = await compile({
    specs: Object.keys(documents),
    files,
    plugins: [loadBuiltinPlugin('mock')],
    flags: {},
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const gw = await startGateway(result.artifact);
  try {
    return await jsonOf<Merged>(await fetch(`${gw.url}/__gw/specs/openapi?format=json`));
  } finally {
    await gw.stop();
  }
}

describe('several OpenAPI documents in one', () => {
  it('are valid, whatever versions they have', async () => {
    for (const document of [books, orders, withId]) expect(validate(document)).toMatchObject({ valid: true });
    const all = await merged({ 'books.json': books, 'orders.json': orders, 'events.json': withId });
    expect(validate(all, { checkPathParameters: true })).toMatchObject({ valid: true, version: '3.1' });
    const old = await merged({
      'books.json': books,
      'more.json': { ...books, paths: { '/more': books.paths['/books'] } },
    });
    expect(validate(old)).toMatchObject({ valid: true, version: '3.0' });
    expect(old.paths['/more']?.['get']?.operationId).toBe('list_more');
  });

  it('have operation ids of their own, schemas of 3.1, and what each document says for all that is in it', async () => {
    const all = await merged({ 'books.json': books, 'orders.json': orders, 'events.json': withId });
    const { '/books': shared, '/orders': other, '/events/{id}': third } = all.paths;
    expect([all.servers, all.security]).toEqual([undefined, undefined]);
    expect(all.tags).toEqual([{ name: 'all', description: 'of books' }]);
    expect(shared?.['get']).toMatchObject({
      operationId: 'list',
      servers: books.servers,
      security: books.security,
      parameters: [{ name: 'page', schema: { type: ['integer', 'null'], exclusiveMinimum: 0 } }],
    });
    expect(shared?.['post']).toMatchObject({ operationId: 'order', servers: orders.servers });
    expect(shared?.['post']?.parameters).toBeUndefined();
    expect(other).toMatchObject({ servers: orders.servers, get: { operationId: 'list_orders' } });
    expect(other?.['get']?.responses['200']?.links).toEqual({ again: { operationId: 'list_orders' } });
    expect([third?.servers, third?.['get']?.operationId]).toEqual([undefined, 'list_events']);
    expect(all.components.schemas['Book']?.properties).toEqual({
      nullable: { type: ['string', 'null'], enum: ['a', 'b', null], example: { nullable: true } },
      of: { anyOf: [{ type: 'null' }, { allOf: [{ $ref: '#/components/schemas/Author' }] }] },
    });
  });
});
