/** AsyncAPI operations over HTTP (docs/reference/gateway.md#asyncapi), through a real `gw serve`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';

const DOCUMENT = {
  asyncapi: '3.0.0',
  info: { title: 'Orders', version: '1' },
  channels: {
    orders: {
      address: 'orders/{region}',
      parameters: { region: { enum: ['eu', 'us'] } },
      messages: {
        placed: {
          headers: { type: 'object', required: ['x-tenant'], properties: { 'x-tenant': { type: 'integer' } } },
          payload: { $ref: '#/components/schemas/Order' },
        },
      },
    },
  },
  operations: {
    placeOrder: {
      action: 'send',
      channel: { $ref: '#/channels/orders' },
      'x-gw-dispatch': { name: 'mock', config: { status: 202, body: '{"status":"accepted"}' } },
    },
    onOrder: { action: 'receive', channel: { $ref: '#/channels/orders' } },
  },
  components: {
    schemas: { Order: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
  },
};

describe('an AsyncAPI operation that sends', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(DOCUMENT, ['mock']));
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(gw.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-tenant': '7', ...headers },
    });

  it('answers as its dispatcher does', async () => {
    const response = await post('/orders/eu', '{"id":1}');
    expect([response.status, await response.text()]).toEqual([202, '{"status":"accepted"}']);
  });

  it.each([
    ['a payload that does not fit', '/orders/eu', '{"id":"one"}', {}, 400],
    ['no payload', '/orders/eu', '', {}, 400],
    ['a channel parameter that is none of its values', '/orders/mars', '{"id":1}', {}, 400],
    ['a header that does not fit', '/orders/eu', '{"id":1}', { 'x-tenant': 'seven' }, 400],
    ['another content type', '/orders/eu', 'id=1', { 'content-type': 'text/csv' }, 415],
  ])('refuses %s', async (_, path, body, headers, status) => {
    const response = await post(path, body, headers);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  it('has no other method, and what is received has no route', async () => {
    const response = await fetch(`${gw.url}/orders/eu`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await jsonOf(await fetch(`${gw.url}/__gw/health`))).toMatchObject({ routes_count: 1 });
  });
});
