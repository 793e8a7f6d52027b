/** The two requests that engines are measured with; `oracle --bench` has the same. */
import type { OracleRequest } from './oracle.ts';

const HEADERS: readonly (readonly [string, string])[] = [
  ['Host', 'api.example.com'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Accept', 'application/json'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Authorization', 'Bearer eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c3JfNDIifQ.c2lnbmF0dXJl'],
];

function order(): unknown {
  return {
    customer: 'usr_42',
    email: 'jane.doe@example.com',
    address: { city: 'Springfield', country: 'US', street: 'Main Street 12', zip: '62701' },
    items: Array.from({ length: 6 }, (_, index) => ({
      sku: `SKU-000${index}`,
      name: 'Garden chair, green',
      quantity: index + 1,
      price: 19.95,
      gift: index % 2 === 0,
    })),
    note: 'Please ring twice and leave the parcel with the neighbours. '.repeat(5),
  };
}

export function benchRequests(): OracleRequest[] {
  const body = Buffer.from(JSON.stringify(order()));
  const common = { version: 'HTTP/1.1', response: null };
  return [
    {
      ...common,
      id: 'GET with three parameters',
      method: 'GET',
      target: '/v1/orders?status=open&limit=50&sort=created_at',
      headers: HEADERS,
      body: Buffer.alloc(0),
    },
    {
      ...common,
      id: 'POST of 1 KB of JSON',
      method: 'POST',
      target: '/v1/orders',
      headers: [...HEADERS, ['Content-Type', 'application/json'], ['Content-Length', String(body.length)]],
      body,
    },
  ];
}
