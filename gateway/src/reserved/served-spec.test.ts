import { describe, expect, it } from 'vitest';
import { compile } from '../compiler/index.ts';
import { merge, withoutExtensions } from './served-spec.ts';

const responses = { 200: { description: 'OK' } };

// docs/reference/gateway.md#served-specs
describe('what is removed from served specs', () => {
  it('is every x-gw-* extension, and nothing else', () => {
    const document = {
      'x-gw-mcp': { enabled: true },
      'x-other': 1,
      paths: {
        '/a': {
          get: {
            'x-gw-dispatch': { name: 'mock' },
            'x-sunset': '2030-01-01',
            'x-deprecated-at': '2029-01-01',
            responses: { 200: { description: 'OK', headers: { 'x-gw-trace': { schema: { type: 'string' } } } } },
          },
        },
      },
      components: {
        schemas: {
          A: {
            type: 'object',
            'x-gw-note': 1,
            properties: { 'x-gw-field': { type: 'string', 'x-gw-note': 2 } },
            example: { 'x-gw-field': 'kept' },
          },
        },
      },
    };
    expect(withoutExtensions(document)).toEqual({
      'x-other': 1,
      paths: {
        '/a': {
          get: {
            'x-sunset': '2030-01-01',
            'x-deprecated-at': '2029-01-01',
            responses: { 200: { description: 'OK', headers: { 'x-gw-trace': { schema: { type: 'string' } } } } },
          },
        },
      },
      components: {
        schemas: {
          A: {
            type: 'object',
            properties: { 'x-gw-field': { type: 'string' } },
            example: { 'x-gw-field': 'kept' },
          },
        },
      },
    });
  });
});

it('the headers of messages are a schema, in which a header may be called as an extension is', () => {
  const headers = { type: 'object', 'x-gw-note': 1, properties: { 'x-gw-tenant': { type: 'string' } } };
  expect(withoutExtensions({ components: { messages: { a: { headers } } } })).toEqual({
    components: { messages: { a: { headers: { type: 'object', properties: { 'x-gw-tenant': { type: 'string' } } } } } },
  });
});

describe('merged specs', () => {
  const books = {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    tags: [{ name: 'all' }],
    security: [{ key: [] }],
    paths: { '/books': { get: { responses, 'x-id': 1 } } },
    components: {
      schemas: { Item: { type: 'string' }, Same: { type: 'integer' } },
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    },
  };
  const orders = {
    openapi: '3.1.1',
    info: { title: 'Orders', version: '2' },
    tags: [{ name: 'all' }, { name: 'orders' }],
    security: [{ key: [] }],
    paths: {
      '/orders': {
        post: {
          responses,
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  oneOf: [{ $ref: '#/components/schemas/Item' }, { $ref: '#/components/schemas/Other' }],
                  discriminator: {
                    propertyName: 'kind',
                    mapping: { item: 'Item', other: '#/components/schemas/Other' },
                  },
                },
              },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        Item: { type: 'object', properties: { next: { $ref: '#/components/schemas/Item/properties/kind' }, kind: {} } },
        Other: { type: 'object' },
        Same: { type: 'integer' },
      },
      securitySchemes: { key: { type: 'http', scheme: 'basic' } },
    },
  };
  const merged = merge([
    { name: 'books.yaml', document: books },
    { name: 'my orders.yaml', document: orders },
  ]);

  it('rename components that collide, with all that refers to them', () => {
    expect(merged).toMatchObject({
      openapi: '3.1.1',
      info: { title: 'Books, Orders', version: '1' },
      tags: [{ name: 'all' }, { name: 'orders' }],
      components: {
        schemas: {
          Item: { type: 'string' },
          Item_my_orders: { properties: { next: { $ref: '#/components/schemas/Item_my_orders/properties/kind' } } },
          Same: { type: 'integer' },
          Other: { type: 'object' },
        },
        securitySchemes: { key: { type: 'apiKey' }, key_my_orders: { type: 'http' } },
      },
      paths: {
        '/books': { get: { 'x-id': 1 } },
        '/orders': {
          post: {
            security: [{ key_my_orders: [] }],
            requestBody: {
              content: {
                'application/json': {
                  schema: {
                    oneOf: [{ $ref: '#/components/schemas/Item_my_orders' }, { $ref: '#/components/schemas/Other' }],
                    discriminator: { mapping: { item: 'Item_my_orders', other: '#/components/schemas/Other' } },
                  },
                },
              },
            },
          },
        },
      },
    });
  });

  it('are valid', async () => {
    const bytes = Buffer.from(JSON.stringify(merged));
    const { diagnostics } = await compile({
      specs: ['m.json'],
      files: [{ name: 'm.json', bytes }],
      plugins: [],
      flags: {},
    });
    expect(diagnostics.filter(({ code }) => code !== 'E1020')).toEqual([]);
  });

  it('rename what refers to a renamed component, though it reads the same', () => {
    const api = (path: string, author: object) => ({
      openapi: '3.1.0',
      info: { title: path, version: '1' },
      paths: { [path]: { $ref: '#/components/schemas/Book' } },
      components: { schemas: { Book: { $ref: '#/components/schemas/Author' }, Author: author } },
    });
    const both = merge([
      { name: 'a.yaml', document: api('/a', { type: 'string' }) },
      { name: 'b.yaml', document: api('/b', { type: 'object' }) },
    ]);
    expect(both).toMatchObject({
      paths: { '/b': { $ref: '#/components/schemas/Book_b' } },
      components: { schemas: { Book_b: { $ref: '#/components/schemas/Author_b' }, Author_b: { type: 'object' } } },
    });
  });

  it('rename channels and operations of AsyncAPI that collide', () => {
    const api = (address: string) => ({
      asyncapi: '3.0.0',
      info: { title: address, version: '1' },
      channels: { orders: { address, messages: { placed: { payload: {} } } } },
      operations: {
        publish: {
          action: 'send',
          channel: { $ref: '#/channels/orders' },
          messages: [{ $ref: '#/channels/orders/messages/placed' }],
        },
      },
    });
    const both = merge([
      { name: 'a.yaml', document: api('a') },
      { name: 'b.yaml', document: api('b') },
    ]);
    expect(both).toMatchObject({
      channels: { orders: { address: 'a' }, orders_b: { address: 'b' } },
      operations: {
        publish: { channel: { $ref: '#/channels/orders' } },
        publish_b: {
          channel: { $ref: '#/channels/orders_b' },
          messages: [{ $ref: '#/channels/orders_b/messages/placed' }],
        },
      },
    });
  });

  it('keep a single document as it is', () => {
    expect(merge([{ name: 'a.json', document: books }])).toBe(books);
  });
});

// docs/decisions.md#operation-references
it('has its whole version, also if the document states none', () => {
  expect(withoutExtensions({ openapi: 3, paths: {} })).toEqual({ openapi: '3.0.4', paths: {} });
  expect(withoutExtensions({ asyncapi: '3.0' })).toEqual({ asyncapi: '3.0.0' });
  expect(withoutExtensions({ openapi: '3.1.0' })).toEqual({ openapi: '3.1.0' });
});
