/** What `mock` and `gw dev --mock` answer out of an API description (docs/reference/plugins.md#examples). */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DevServer, startDev } from '../../../../test/serve/dev-server.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';

const book = {
  type: 'object',
  required: ['id', 'title'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    title: { type: 'string', example: 'Dune' },
    secret: { type: 'string', writeOnly: true },
  },
};
const schema = { $ref: '#/components/schemas/Book' };
const mock = (config: object = {}) => ({ 'x-gw-dispatch': { name: 'mock', config } });

const paths = {
  '/books/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    get: {
      responses: {
        404: {
          description: 'Not there',
          content: { 'application/problem+json': { example: { title: 'Not there' } } },
        },
        200: {
          description: 'The book',
          headers: {
            'X-Rate-Limit': { schema: { type: 'integer' }, example: 60 },
            'Content-Type': { schema: { type: 'string' }, example: 'text/evil' },
            'X-Request-Id': { schema: { type: 'string' }, example: 'of the document' },
          },
          content: {
            'application/json': {
              schema,
              examples: {
                broken: { value: { id: 5 } },
                dune: { value: { id: '2b3cd2c6-9d4c-4a8b-8f0e-1b2a3c4d5e6f', title: 'Dune' } },
                emma: { $ref: '#/components/examples/Emma' },
              },
            },
            'text/csv': { schema: { type: 'string' }, example: 'id,title\n1,Dune\n' },
          },
        },
      },
      ...mock(),
    },
    put: { responses: { 204: { description: 'Done' } }, ...mock() },
  },
  '/made/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    get: { responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } }, ...mock() },
    post: { responses: { 201: { description: 'Made', content: { 'application/json': { schema } } } }, ...mock() },
  },
  '/given': {
    get: {
      responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
      ...mock({ body: 'as it is' }),
    },
    post: {
      responses: { 201: { description: 'OK', content: { 'application/json': { schema } } } },
      ...mock({ body: '' }),
    },
  },
  '/failing': {
    get: {
      responses: { '5XX': { description: 'Bad', content: { 'text/plain': { example: 'broken' } } } },
      ...mock({ status: 503, headers: { 'Retry-After': '5', Server: 'another', 'X-Request-Id': 'another' } }),
    },
  },
  '/unmakeable/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    get: {
      responses: {
        default: { description: 'OK', content: { 'application/json': { schema: { type: 'array', minItems: 1e9 } } } },
        404: { description: 'Not there', content: { 'application/json': { schema: { type: 'string' } } } },
      },
      ...mock(),
    },
  },
  '/silent': { get: { responses: { 200: { description: 'OK' } }, ...mock() } },
};
const document = {
  openapi: '3.0.3',
  info: { title: 'Books', version: '1' },
  components: {
    schemas: { Book: book },
    examples: { Emma: { value: { id: '0e0f1f6e-8f6b-4b7e-9a55-0a9b8c7d6e5f', title: 'Emma' } } },
  },
  paths,
};

describe('mock without a body', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(document, ['mock']));
  });
  afterAll(() => gw.stop());
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${gw.url}${path}`, { method, headers });

  it('answers with the first example that its own schema admits, and the headers of the response', async () => {
    const response = await get('/books/1');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-rate-limit')).toBe('60');
    expect(response.headers.get('x-request-id')).not.toBe('of the document');
    expect(await response.json()).toEqual({ id: '2b3cd2c6-9d4c-4a8b-8f0e-1b2a3c4d5e6f', title: 'Dune' });
  });

  it('answers in the media type that Accept asks for', async () => {
    const response = await get('/books/1', { accept: 'text/csv' });
    expect(response.headers.get('content-type')).toBe('text/csv');
    expect(await response.text()).toBe('id,title\n1,Dune\n');
    expect((await get('/books/1', { accept: 'image/png' })).status).toBe(406);
  });

  it('answers with the response and the example that Prefer names', async () => {
    const missing = await get('/books/1', { prefer: 'code=404' });
    expect([missing.status, missing.headers.get('preference-applied')]).toEqual([404, 'code']);
    expect(missing.headers.get('content-type')).toBe('application/problem+json');
    expect(await missing.json()).toEqual({ title: 'Not there' });
    const emma = await get('/books/1', { prefer: 'example=emma, code=200' });
    expect(emma.headers.get('preference-applied')).toBe('code, example');
    expect(await emma.json()).toMatchObject({ title: 'Emma' });
  });

  it.each([
    ['code=418', 'Prefer asks for code=418; the description has 200, 404.'],
    ['code=9', 'Prefer asks for code=9; the description has 200, 404.'],
    ['example=none', 'Prefer asks for example=none; the description has broken, dune, emma.'],
  ])('refuses %s, which is not described', async (prefer, detail) => {
    const response = await get('/books/1', { prefer });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'urn:gw:error:validation-failed', detail });
  });

  it('makes values from the schema: the same for the same request', async () => {
    const [first, again, other] = await Promise.all(
      ['/made/1', '/made/1', '/made/2'].map(async (path) => (await get(path)).json()),
    );
    expect(first).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), title: 'Dune' });
    expect(first).not.toHaveProperty('secret');
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it('answers with the first success that is described, and with no body where that has none', async () => {
    expect((await get('/made/1', {}, 'POST')).status).toBe(201);
    const done = await get('/books/1', {}, 'PUT');
    expect([done.status, await done.text()]).toEqual([204, '']);
    const silent = await get('/silent');
    expect([silent.status, await silent.text()]).toEqual([200, '']);
  });

  it('answers with the status of its config, by range too, and its headers', async () => {
    const response = await get('/failing');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.text()).toBe('broken');
    // Headers that the gateway sets itself are there once.
    expect(response.headers.get('server')).toMatch(/^gw\/[\d.]+$/);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers with a body that is given, also an empty one, as it is', async () => {
    expect(await (await get('/given')).text()).toBe('as it is');
    const empty = await get('/given', {}, 'POST');
    expect([empty.status, await empty.text()]).toEqual([200, '']);
  });

  it('answers 501 where no value can be found, and nothing that the schema does not admit', async () => {
    const response = await get('/unmakeable/1');
    expect(response.status).toBe(501);
    const told = JSON.parse(await response.text());
    expect(told).toMatchObject({ type: 'urn:gw:error:not-implemented', detail: expect.stringContaining('example') });
    expect(told).not.toHaveProperty('errors');
    expect((await get('/unmakeable/1', { prefer: 'code=404' })).status).toBe(404);
  });

  it('answers HEAD as GET, without the body', async () => {
    const response = await get('/books/1', {}, 'HEAD');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.text()).toBe('');
  });
});

/** OpenAPI 3.2: texts as they are sent, and items of sequential media types. */
const event = { type: 'object', properties: { event: { const: 'added' }, data: { type: 'string', const: 'a\nb' } } };
const sequences = {
  openapi: '3.2.0',
  info: { title: 'Sequences', version: '1' },
  paths: {
    '/exact': {
      get: {
        responses: {
          200: {
            description: 'x',
            headers: {
              'X-Ids': {
                schema: { type: 'array', items: { type: 'integer' } },
                examples: { ids: { dataValue: [1, 2], serializedValue: '1,  2' } },
              },
            },
            content: {
              'application/json': {
                schema: { type: 'object', required: ['n'] },
                examples: {
                  broken: { serializedValue: '{"n":' },
                  other: { serializedValue: '[]' },
                  right: { dataValue: { n: 1 }, serializedValue: '{ "n": 1.0 }' },
                },
              },
              'application/xml': { examples: { one: { serializedValue: '<n>1</n>' } } },
            },
          },
        },
        ...mock(),
      },
    },
    '/items': {
      get: {
        responses: {
          200: {
            description: 'x',
            content: {
              'application/jsonl': { itemSchema: schema },
              'application/json-seq': { itemSchema: { const: 7 } },
              'application/geo+json-seq': { itemSchema: { const: 8 } },
              'text/event-stream': { itemSchema: { ...event, required: ['event', 'data'] } },
              'application/x-ndjson': {
                itemSchema: { type: 'integer' },
                examples: { wrong: { dataValue: ['a'] }, right: { dataValue: [1, 2, 3] } },
              },
            },
          },
        },
        ...mock(),
      },
    },
    '/told': {
      get: {
        responses: {
          200: {
            description: 'x',
            content: {
              'text/event-stream': {
                itemSchema: {
                  type: 'object',
                  required: ['data'],
                  properties: {
                    data: { type: 'string', contentMediaType: 'application/json', contentSchema: schema },
                    event: { const: 'book' },
                  },
                },
              },
            },
          },
        },
        ...mock(),
      },
    },
    '/endless': {
      get: {
        responses: {
          200: {
            description: 'x',
            content: { 'text/event-stream': { itemSchema: { $ref: '#/components/schemas/Told' } } },
          },
        },
        ...mock(),
      },
    },
    '/nothing': { get: { ...mock() }, put: { responses: { 200: { description: 'x' } }, ...mock({ status: 201 }) } },
    '/typed': { get: { ...mock({ headers: { 'Content-Type': 'text/plain' } }) } },
    '/no-place': {
      get: { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }], ...mock() },
    },
  },
  components: {
    schemas: {
      Book: book,
      Told: {
        type: 'object',
        required: ['data'],
        properties: {
          data: {
            type: 'string',
            contentMediaType: 'application/json',
            contentSchema: { $ref: '#/components/schemas/Told' },
          },
        },
      },
    },
  },
};

describe('mock of OpenAPI 3.2', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(sequences, ['mock']));
  });
  afterAll(() => gw.stop());
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${gw.url}${path}`, { headers });
  const items = async (accept: string) => {
    const response = await get('/items', { accept });
    expect(response.headers.get('content-type')).toBe(accept);
    return response.text();
  };

  it('sends serializedValue as it stands, if it is JSON that its schema admits where it should be', async () => {
    const response = await get('/exact');
    expect([await response.text(), response.headers.get('x-ids')]).toEqual(['{ "n": 1.0 }', '1,  2']);
    expect(await (await get('/exact', { prefer: 'example=broken' })).text()).toBe('{"n":');
    expect(await (await get('/exact', { accept: 'application/xml' })).text()).toBe('<n>1</n>');
  });

  it('makes items of itemSchema, in the form of their media type', async () => {
    const lines = (await items('application/jsonl')).split('\n');
    expect(lines.map((line) => (line === '' ? null : JSON.parse(line).title))).toEqual(['Dune', 'Dune', null]);
    expect(await items('application/json-seq')).toBe('\u001e7\n\u001e7\n');
    expect(await items('application/geo+json-seq')).toBe('\u001e8\n\u001e8\n');
    expect(await items('text/event-stream')).toBe('event: added\ndata: a\ndata: b\n\n'.repeat(2));
    expect(await items('application/x-ndjson')).toBe('1\n2\n3\n');
  });

  it('makes the JSON that texts of events hold, of contentSchema', async () => {
    const told = await (await get('/told')).text();
    const events = told.split('\n\n').filter((each) => each !== '');
    expect(events).toHaveLength(2);
    for (const each of events) {
      const [name, data = ''] = each.split('\n');
      expect([name, JSON.parse(data.replace('data: ', ''))]).toMatchObject(['event: book', { title: 'Dune' }]);
    }
  });

  it('ends where a text holds a text that holds a text', async () => {
    const response = await get('/endless');
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeLessThan(1 << 20);
  });

  it('calls an empty body nothing, least of all JSON', async () => {
    for (const method of ['GET', 'PUT']) {
      const response = await fetch(`${gw.url}/nothing`, { method });
      expect([await response.text(), response.headers.get('content-type')]).toEqual(['', null]);
    }
    expect((await get('/typed')).headers.get('content-type')).toBe('text/plain');
  });

  it('serves an operation whose path does not have its path parameter', async () => {
    expect((await get('/no-place')).status).toBe(200);
  });
});

describe('gw dev --mock', () => {
  let dir = '';
  let dev: DevServer | null = null;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-mock-'));
  });
  afterEach(async () => {
    await dev?.stop();
    dev = null;
    rmSync(dir, { recursive: true, force: true });
  });

  /** Where it serves. */
  async function start(...args: string[]): Promise<string> {
    dev = await startDev(dir, '--mock', ...args);
    return dev.url;
  }

  it('serves a document as it is, without a manifest', async () => {
    const plain = JSON.parse(JSON.stringify(document, (key, value) => (key === 'x-gw-dispatch' ? undefined : value)));
    writeFileSync(join(dir, 'openapi.json'), JSON.stringify(plain));
    const url = await start('--spec', 'openapi.json');
    expect(await (await fetch(`${url}/made/1`)).json()).toMatchObject({ title: 'Dune' });
    expect((await fetch(`${url}/books/1`, { headers: { prefer: 'code=404' } })).status).toBe(404);
    const unmakeable = await fetch(`${url}/unmakeable/1`);
    const field = '/paths/~1unmakeable~1{id}/get/responses/default/content/application~1json/schema';
    expect([unmakeable.status, await unmakeable.json()]).toEqual([
      501,
      expect.objectContaining({ errors: [expect.objectContaining({ in: 'document', field })] }),
    ]);
  });

  it('takes the place of other dispatchers of a project, and leaves mocks as they are', async () => {
    const upstream = { 'x-gw-dispatch': { name: 'http-upstream', config: { url: 'https://books.example' } } };
    const get = { responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } } };
    const annotated = { ...document, paths: { '/up': { get: { ...get, ...upstream } }, '/given': paths['/given'] } };
    writeFileSync(join(dir, 'api.json'), JSON.stringify(annotated));
    writeFileSync(join(dir, 'gw.yaml'), 'plugins:\n  http-upstream: {}\n');
    const url = await start('--spec', 'api.json');
    expect(await (await fetch(`${url}/up`)).json()).toMatchObject({ title: 'Dune' });
    expect(await (await fetch(`${url}/given`)).text()).toBe('as it is');
  });

  const folder = process.env['GW_DOCUMENTS'] ?? '';
  const documents = folder === '' ? ['(no folder)'] : readdirSync(folder).filter((name) => name.endsWith('.json'));
  it.skipIf(folder === '').each(documents)('serves %s as it is (needs GW_DOCUMENTS)', async (name) => {
    const { paths: all } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const path = Object.keys(all).find((each) => !each.includes('{') && all[each].get);
    const began = performance.now();
    const url = await start('--spec', join(folder, name));
    const response = await fetch(`${url}${path}`);
    console.log(`${name}: first answer (${response.status}) after ${Math.round(performance.now() - began)} ms`);
    // Without the credentials and parameters that it may ask for, a refusal of ours is an answer, too.
    expect([200, 400]).toContain(response.status);
  });
});
