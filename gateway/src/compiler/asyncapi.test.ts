/** AsyncAPI 3 operations as routes (docs/reference/gateway.md#asyncapi). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { Json, Operation } from '../artifact/format.ts';
import { readArtifact } from '../artifact/read.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { compile } from './index.ts';

const HEAD = { asyncapi: '3.0.0', info: { title: 'Order Events', version: '1' } };
const dispatch = { 'x-gw-dispatch': { name: 'mock' } };

const orders = {
  address: 'orders/{orderId}/events',
  parameters: { orderId: { enum: ['a', 'b'] } },
  messages: { placed: { payload: { type: 'object', required: ['id'] } } },
};
const publish = { action: 'send', channel: { $ref: '#/channels/orders' }, ...dispatch };

async function compiled(document: object, files: Record<string, object> = {}) {
  const all = { 'events.json': { ...HEAD, ...document }, ...files };
  const result = await compile({
    specs: ['events.json'],
    files: Object.entries(all).map(([name, value]) => ({ name, bytes: Buffer.from(JSON.stringify(value)) })),
    plugins: [...fakePlugins, loadBuiltinPlugin('stream-subscribe')],
    flags: {},
  });
  const codes = result.diagnostics.map(({ code, pointer }) => `${code} ${pointer}`);
  if (!result.ok) return { codes, operations: [], schemaOf: () => undefined };
  const { operations, schemas } = (await readArtifact(result.artifact)).routes;
  const schemaOf = (ref: { $ref: string } | undefined): Json | undefined =>
    schemas[ref?.$ref.slice('gw:'.length) ?? ''];
  return { codes, operations, schemaOf };
}

const bodySchema = (operation: Operation | undefined, type = 'application/json') =>
  operation?.request_body?.content[type]?.schema;

describe('an operation that sends', () => {
  it('is a POST on the address of its channel, with parameters, payload and name', async () => {
    const { codes, operations, schemaOf } = await compiled({ channels: { orders }, operations: { publish } });
    expect(codes).toEqual([]);
    expect(operations).toMatchObject([
      {
        method: 'POST',
        path: '/orders/{orderId}/events',
        operation_id: 'publish',
        api: 'order-events',
        spec: 'events.json',
        dispatch: { name: 'mock' },
        parameters: [{ name: 'orderId', in: 'path', required: true, types: ['string'] }],
        request_body: { required: true },
      },
    ]);
    expect(schemaOf(operations[0]?.parameters[0]?.schema)).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(schemaOf(bodySchema(operations[0]))).toEqual({ type: 'object', required: ['id'] });
  });

  it('takes the messages that it lists, of the channel where it lists none, and no body where the list is empty', async () => {
    const two = {
      ...orders,
      messages: {
        a: { payload: { type: 'string' } },
        b: { payload: { type: 'integer' } },
        c: { contentType: 'text/csv' },
      },
    };
    const bodyOf = async (operation: object) => {
      const { operations, schemaOf } = await compiled({
        channels: { orders: two },
        operations: { publish: { ...publish, ...operation } },
      });
      const body = operations[0]?.request_body;
      return body && [body.required, Object.keys(body.content), schemaOf(bodySchema(operations[0]))];
    };
    const ref = (name: string) => ({ $ref: `#/channels/orders/messages/${name}` });
    expect(await bodyOf({ messages: [ref('a')] })).toEqual([true, ['application/json'], { type: 'string' }]);
    expect(await bodyOf({ messages: [ref('a'), ref('b')] })).toEqual([
      true,
      ['application/json'],
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    ]);
    expect((await bodyOf({}))?.slice(0, 2)).toEqual([false, ['application/json', 'text/csv']]);
    expect(await bodyOf({ messages: [] })).toBeUndefined();
  });

  it('goes by defaultContentType', async () => {
    const { operations } = await compiled({
      defaultContentType: 'application/vnd.orders+json; charset=utf-8',
      channels: { orders },
      operations: { publish },
    });
    expect(Object.keys(operations[0]?.request_body?.content ?? {})).toEqual(['application/vnd.orders+json']);
  });

  it('follows references to operations, channels, messages and payloads, also in other files', async () => {
    const { codes, operations, schemaOf } = await compiled(
      {
        channels: { orders: { $ref: '#/components/channels/orders' } },
        operations: { publish: { $ref: 'parts/publish.json' } },
        components: {
          channels: { orders: { address: '/orders', messages: { placed: { $ref: 'parts/messages.json#/placed' } } } },
        },
      },
      {
        'parts/publish.json': { action: 'send', channel: { $ref: '../events.json#/channels/orders' }, ...dispatch },
        'parts/messages.json': {
          placed: { payload: { $ref: '#/order' } },
          order: { type: 'object', minProperties: 1 },
        },
      },
    );
    expect(codes).toEqual([]);
    expect(operations[0]?.path).toBe('/orders');
    expect(schemaOf(bodySchema(operations[0]))).toEqual({ type: 'object', minProperties: 1 });
  });

  it('has what its traits say, and its own word over theirs', async () => {
    const { codes, operations } = await compiled({
      channels: {
        orders: {
          ...orders,
          messages: {
            placed: {
              payload: {},
              traits: [{ $ref: '#/components/messageTraits/traced' }],
              headers: { type: 'object', properties: { 'x-own': { type: 'string' } } },
            },
          },
        },
      },
      operations: {
        publish: {
          action: 'send',
          channel: { $ref: '#/channels/orders' },
          traits: [{ $ref: '#/components/operationTraits/limited' }],
          'x-gw-dispatch': { config: { status: 202 } },
        },
      },
      components: {
        operationTraits: {
          limited: {
            'x-gw-dispatch': { name: 'mock', config: { status: 500, body: 'taken' } },
            'x-gw-middlewares': [{ name: 'rate-limit', config: { quota: 1, window: 1 } }],
          },
        },
        messageTraits: {
          traced: {
            contentType: 'text/plain',
            headers: {
              type: 'object',
              required: ['X-Trace'],
              properties: { 'X-Trace': { type: 'integer' }, 'x-own': false },
            },
          },
        },
      },
    });
    expect(codes).toEqual([]);
    expect(operations[0]).toMatchObject({
      dispatch: { name: 'mock', config: { status: 202, body: 'taken' } },
      middlewares: [{ name: 'rate-limit' }],
      admitted_headers: ['x-own', 'x-trace'],
      request_body: { content: { 'text/plain': {} } },
    });
    expect(operations[0]?.parameters.filter(({ in: part }) => part === 'header')).toMatchObject([
      { name: 'x-own', required: false, types: ['string'] },
      { name: 'x-trace', required: true, types: ['integer'] },
    ]);
  });

  it('reads draft 07 and other formats of schemas, and says which it does not', async () => {
    const schemaIn = async (payload: object) => {
      const { codes, operations, schemaOf } = await compiled({
        channels: { orders: { ...orders, messages: { placed: { payload } } } },
        operations: { publish },
      });
      return [codes, schemaOf(bodySchema(operations[0]))];
    };
    const draft07 = {
      items: [{ type: 'string' }],
      additionalItems: { type: 'integer' },
      dependencies: { a: ['b'], c: { required: ['d'] } },
    };
    const same = {
      prefixItems: [{ type: 'string' }],
      items: { type: 'integer' },
      dependentRequired: { a: ['b'] },
      dependentSchemas: { c: { required: ['d'] } },
    };
    expect(await schemaIn(draft07)).toEqual([[], same]);
    expect(await schemaIn({ schemaFormat: 'application/schema+json;version=draft-07', schema: draft07 })).toEqual([
      [],
      same,
    ]);
    expect(
      await schemaIn({
        schemaFormat: 'application/vnd.oai.openapi;version=3.0.0',
        schema: { type: 'string', nullable: true },
      }),
    ).toEqual([[], { type: ['string', 'null'] }]);
    const at = '/channels/orders/messages/placed/payload';
    expect(
      await schemaIn({ schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { type: 'record' } }),
    ).toEqual([[`E1008 ${at}/schemaFormat`], undefined]);
    expect(await schemaIn({ schemaFormat: 'application/schema+json;version=draft-07' })).toEqual([
      [`E1004 ${at}`],
      undefined,
    ]);
  });

  it('admits the credentials of its security schemes, and wants them beside authentication', async () => {
    const authenticated = {
      ...publish,
      'x-gw-middlewares': [{ name: 'apikey-auth', config: { header_name: 'X-Key' } }],
    };
    const schemes = {
      components: { securitySchemes: { key: { type: 'httpApiKey', in: 'header', name: 'X-Key' } } },
    };
    const security = [{ $ref: '#/components/securitySchemes/key' }];
    const good = await compiled({
      channels: { orders },
      operations: { publish: { ...authenticated, security } },
      ...schemes,
    });
    expect(good.codes).toEqual([]);
    expect(good.operations[0]?.admitted_headers).toEqual(['x-key']);
    const bare = await compiled({ channels: { orders }, operations: { publish: authenticated }, ...schemes });
    expect(bare.codes).toEqual(['E1057 /operations/publish']);
    const bearer = await compiled({
      channels: { orders },
      operations: { publish: { ...publish, security: [{ type: 'http', scheme: 'bearer' }, { type: 'gssapi' }] } },
    });
    expect(bearer.operations[0]?.admitted_headers).toEqual(['authorization']);
  });

  it.each([
    ['no address', { channels: { orders: { ...orders, address: null } } }, 'E1022 /channels/orders'],
    [
      'a query in the address',
      { channels: { orders: { ...orders, address: 'a?b=c' } } },
      'E1004 /channels/orders/address',
    ],
    ['an undeclared parameter', { channels: { orders: { address: '{x}' } } }, 'E1004 /operations/publish'],
    [
      'a greedy parameter',
      { channels: { orders: { address: '{x+}', parameters: { x: {} } } } },
      'E1022 /channels/orders/address',
    ],
    ['an address below /__gw/', { channels: { orders: { address: '/__gw/x' } } }, 'E1021 /channels/orders/address'],
    ['no such channel', { channels: {} }, 'E1003 /operations/publish/channel/$ref'],
    [
      'no action',
      { channels: { orders }, operations: { publish: { ...publish, action: 'publish' } } },
      'E1004 /operations/publish/action',
    ],
    [
      'a reserved header',
      {
        channels: {
          orders: { ...orders, messages: { a: { headers: { type: 'object', properties: { 'X-Auth-User': {} } } } } },
        },
      },
      'E1056 /channels/orders/messages/a/headers/properties/X-Auth-User',
    ],
  ])('is refused with %s', async (_, document, code) => {
    expect((await compiled({ operations: { publish }, ...document })).codes).toContain(code);
  });
});

describe('an operation that receives', () => {
  const receive = { action: 'receive', channel: { $ref: '#/channels/orders' } };
  const streams = { 'x-gw-dispatch': { name: 'stream-subscribe', config: { brokers: 'kafka.example', topic: 'a' } } };

  it('is no route by itself, and a dispatcher that streams no messages is out of place', async () => {
    const plain = await compiled({ channels: { orders }, operations: { receive } });
    expect(plain).toMatchObject({ codes: [], operations: [] });
    const dispatched = await compiled({ channels: { orders }, operations: { receive: { ...receive, ...dispatch } } });
    expect(dispatched).toMatchObject({ codes: ['E1015 /operations/receive/x-gw-dispatch'], operations: [] });
  });

  it('is a GET on the address of its channel with one that does, beside a POST of one that sends', async () => {
    const both = { publish, receive: { ...receive, ...streams } };
    const { codes, operations } = await compiled({ channels: { orders }, operations: both });
    expect(codes).toEqual([]);
    expect(operations.map(({ method, path, operation_id: id }) => [method, path, id])).toEqual([
      ['POST', '/orders/{orderId}/events', 'publish'],
      ['GET', '/orders/{orderId}/events', 'receive'],
    ]);
    // Messages go out: nothing of them is asked of a request.
    expect(operations[1]?.parameters.map(({ name }) => name)).toEqual(['orderId']);
    expect(operations[1]?.request_body).toBe(undefined);
    expect(operations[1]?.admitted_headers).toContain('last-event-id');
  });

  it('may have parameters of its channel in its config, and no others', async () => {
    const keyed = (key: string) => ({
      'x-gw-dispatch': { name: 'stream-subscribe', config: { brokers: 'kafka.example', topic: 'a', key } },
    });
    for (const [key, expected] of [
      ['$request.path.orderId', []],
      ['$request.path.other', ['E1030 /operations/receive/x-gw-dispatch/config/key']],
    ] as const) {
      const { codes } = await compiled({
        channels: { orders },
        operations: { receive: { ...receive, ...keyed(key) } },
      });
      expect(codes).toEqual(expected);
    }
  });

  it('has its messages where those of the broker are checked, and none of them may be anything', async () => {
    const dispatch = (validate: string) => ({
      'x-gw-dispatch': { name: 'stream-subscribe', config: { brokers: 'kafka.example', topic: 'a', validate } },
    });
    const of = async (validate: string, channel: object = orders) => {
      const operations = { receive: { ...receive, ...dispatch(validate) } };
      return compiled({ channels: { orders: channel }, operations });
    };
    const { codes, operations, schemaOf } = await of('drop');
    expect(codes).toEqual([]);
    const content = operations[0]?.streamed_messages ?? {};
    expect(schemaOf(content['application/json']?.schema)).toEqual(orders.messages.placed.payload);
    expect((await of('pass')).operations[0]?.streamed_messages).toBeUndefined();
    const more = { ...orders, messages: { ...orders.messages, any: {} } };
    expect((await of('drop', more)).operations[0]?.streamed_messages).toBeUndefined();
  });

  it('is the only one of the two with such a dispatcher', async () => {
    const { codes } = await compiled({ channels: { orders }, operations: { publish: { ...publish, ...streams } } });
    expect(codes).toEqual(['E1034 /operations/publish/x-gw-dispatch']);
  });
});

describe('an operation that receives by ws-upstream', () => {
  const said = { payload: { type: 'string' } };
  const chat = { address: 'chat', messages: { say: orders.messages.placed, said } };
  const ref = (name: string) => ({ $ref: `#/channels/chat/messages/${name}` });
  const of = (action: string, message: string, more: object = {}) => ({
    action,
    channel: { $ref: '#/channels/chat' },
    messages: [ref(message)],
    ...more,
  });
  const socket = { 'x-gw-dispatch': { name: 'ws-upstream' } };
  const jsonOf = (content: object) => ({ 'application/json': content });

  it('is a WebSocket: clients send what other operations on its channel send, which need no dispatch', async () => {
    const { codes, operations, schemaOf } = await compiled({
      channels: { chat },
      operations: { say: of('send', 'say'), hear: of('receive', 'said', socket) },
    });
    expect(codes).toEqual([]);
    expect(operations).toMatchObject([{ method: 'GET', path: '/chat', operation_id: 'hear' }]);
    const { received, sent } = operations[0]?.messages ?? {};
    expect(received).toEqual(jsonOf({ schema: expect.anything() }));
    expect(schemaOf(received?.['application/json']?.schema)).toEqual(chat.messages.say.payload);
    expect(sent).toBeUndefined();
  });

  it('has the messages to clients where responses are validated', async () => {
    const { operations, schemaOf } = await compiled({
      channels: { chat },
      operations: { hear: of('receive', 'said', { ...socket, 'x-gw-validate-response': 'log' }) },
    });
    const { received, sent } = operations[0]?.messages ?? {};
    expect(received).toBeUndefined();
    expect(schemaOf(sent?.['application/json']?.schema)).toEqual({ type: 'string' });
  });

  it.each([
    ['no payload', {}],
    ['a content type that is not read', { contentType: 'application/octet-stream', payload: { type: 'string' } }],
  ])('leaves messages alone of which one has %s', async (_, other) => {
    const { operations } = await compiled({
      channels: { chat: { ...chat, messages: { ...chat.messages, other } } },
      operations: {
        say: of('send', 'say'),
        more: of('send', 'other'),
        hear: of('receive', 'said', socket),
      },
    });
    expect(operations.map(({ messages }) => messages)).toEqual([undefined]);
  });

  it('takes nothing from an operation on another channel, which needs a dispatch', async () => {
    const { codes } = await compiled({
      channels: { chat, orders },
      operations: { publish: { ...publish, 'x-gw-dispatch': undefined }, hear: of('receive', 'said', socket) },
    });
    expect(codes).toEqual(['E1020 /operations/publish']);
  });
});

it('gives diagnostics, and never throws, whatever stands in the place of any part', async () => {
  const whole = {
    defaultContentType: 'application/json',
    channels: { orders: { $ref: '#/components/channels/orders' } },
    operations: { publish: { ...publish, messages: [{ $ref: '#/channels/orders/messages/placed' }], security: [{}] } },
    components: {
      channels: { orders: { ...orders, messages: { placed: { $ref: '#/components/messages/placed' } } } },
      messages: {
        placed: {
          traits: [{ headers: { type: 'object', properties: { a: { type: 'string' } } } }],
          contentType: 'text/plain',
          payload: { schemaFormat: 'application/schema+json;version=draft-07', schema: { dependencies: { a: ['b'] } } },
        },
      },
    },
  };
  const others: Json[] = [null, [], {}, 7, [null], { a: null }, 'x', { $ref: '#' }, { $ref: '#/operations/publish' }];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...placesIn(whole)), fc.constantFrom(...others), async (place, other) => {
      const document = structuredClone(whole);
      const key = place.at(-1) ?? '';
      Reflect.set(
        place.slice(0, -1).reduce<object>((at, name) => Reflect.get(at, name), document),
        key,
        other,
      );
      expect((await compiled(document)).codes).toBeInstanceOf(Array);
    }),
    propertyRuns(200),
  );
});

/** Keys that lead to each part. */
function placesIn(value: object): string[][] {
  return Object.entries(value).flatMap(([key, each]) => [
    [key],
    ...(typeof each === 'object' && each !== null ? placesIn(each).map((place) => [key, ...place]) : []),
  ]);
}

it('conflicts with OpenAPI operations on the same path', async () => {
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: {
      '/orders/{id}/events': { post: { parameters: [{ name: 'id', in: 'path', required: true }], ...dispatch } },
    },
  };
  const file = (name: string, value: object) => ({ name, bytes: Buffer.from(JSON.stringify(value)) });
  const { diagnostics } = await compile({
    specs: ['a.json', 'b.json'],
    files: [file('a.json', openapi), file('b.json', { ...HEAD, channels: { orders }, operations: { publish } })],
    plugins: fakePlugins,
    flags: {},
  });
  expect(diagnostics).toMatchObject([{ code: 'E1010', file: 'b.json', pointer: '/operations/publish' }]);
  expect(diagnostics[0]?.message).toContain('"a.json"');
});

describe('a schema of a format that is not read', () => {
  const avro = (ref: string) => ({ schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { $ref: ref } });
  const channel = (ref: string) => ({ address: 'records', messages: { one: { payload: avro(ref) } } });

  it.each(['./r.avsc', 'https://schemas.example/r.avsc', './missing.avsc#/fields'])(
    'keeps its reference to %s, and is warned of where a route has it',
    async (ref) => {
      const records = channel(ref);
      const send = { action: 'send', channel: { $ref: '#/channels/records' } };
      const routed = await compiled({ channels: { records }, operations: { send: { ...send, ...dispatch } } });
      expect(routed.codes.map((code) => code.split(' ')[0])).toEqual(['E1008']);
      expect(routed.operations).toHaveLength(1);
      const unrouted = await compiled({
        channels: { records, orders },
        operations: { send: { action: 'receive', channel: { $ref: '#/channels/records' } }, publish },
      });
      expect(unrouted.codes.filter((code) => code.startsWith('E1003'))).toEqual([]);
      expect(unrouted.operations).toHaveLength(1);
    },
  );

  it('is no excuse for references beside it', async () => {
    const one = { payload: avro('./r.avsc'), headers: { $ref: './missing.json' } };
    const records = { address: 'records', messages: { one } };
    const { codes } = await compiled({ channels: { records }, operations: {} });
    expect(codes.some((code) => code.startsWith('E1003'))).toBe(true);
  });
});
