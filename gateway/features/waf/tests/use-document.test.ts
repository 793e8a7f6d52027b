/** waf with what the document proves of requests (docs/reference/plugins.md#waf, `use_document`), through a real `gw serve`. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const INJECTION = "1' or '1'='1";
/** Refuses a number that is no attack: rules of a project look at all values. */
const RULES = `SecRule ARGS "@rx ^666$" "id:1001,phase:2,deny,status:406,msg:'A number'"\n`;

const sort = { enum: ['asc', 'desc', INJECTION] };
const free = { type: 'string' };
const body = {
  type: 'object',
  properties: {
    note: free,
    profile: free,
    sort,
    count: { type: 'integer' },
    lines: { type: 'array', items: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } } },
  },
};
const inQuery = (name: string, schema: object) => ({ name, in: 'query', schema });

let upstream: Upstream;
let gw: Gateway;

function document(url: string) {
  const operation = (config: object, more: object) => ({
    responses: { 200: { description: 'OK', content: { 'text/plain': {} } } },
    'x-gw-middlewares': [{ name: 'waf', config: { rules: ['*.conf'], ...config } }],
    'x-gw-dispatch': { name: 'http-upstream', config: { url } },
    ...more,
  });
  const parameters = [
    inQuery('sort', sort),
    inQuery('q', free),
    inQuery('page', { type: 'integer' }),
    { name: 'x-sort', in: 'header', schema: sort },
    { name: 'content-range', in: 'header', schema: free },
    inQuery('created[$gte]', free),
  ];
  const inPath = (name: string) => ({ name, in: 'path', required: true, schema: free });
  const requestBody = {
    content: { 'application/json': { schema: body }, 'application/x-www-form-urlencoded': { schema: body } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    paths: {
      '/books': { get: operation({}, { parameters }) },
      '/unused': { get: operation({ use_document: false }, { parameters }) },
      '/detected': { get: operation({ mode: 'detect' }, { parameters }) },
      '/notes': { post: operation({}, { requestBody: { content: { 'application/json': { schema: body } } } }) },
      '/both': { post: operation({}, { requestBody }) },
      '/users.profile.get': { get: operation({}, { parameters }) },
      '/shelves/{name}/dockerfile': { get: operation({}, { parameters: [inPath('name')] }) },
      '/domains/{name}': { get: operation({}, { parameters: [inPath('name')] }) },
      '/files/{path+}': { get: operation({}, { parameters: [{ ...inPath('path'), allowReserved: true }] }) },
      '/search': { get: operation({}, { requestBody }) },
    },
  };
}

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('fine');
  });
  const api = document(upstream.url);
  const files = [
    { name: 'api.json', bytes: Buffer.from(JSON.stringify(api)) },
    { name: 'numbers.conf', bytes: Buffer.from(RULES) },
  ];
  gw = await startGateway(await compileSpec(api, ['waf', 'http-upstream'], [], {}, { files }));
});
afterAll(async () => {
  await gw?.stop();
  await upstream?.close();
});

const HEADERS = { 'user-agent': 'Mozilla/5.0', accept: '*/*' };

async function get(path: string, more: Readonly<Record<string, string>> = {}): Promise<number> {
  return (await fetch(gw.url + path, { headers: { ...HEADERS, ...more } })).status;
}

async function post(path: string, sent: unknown, type = 'application/json'): Promise<number> {
  const headers = { ...HEADERS, 'content-type': type };
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  return (await fetch(gw.url + path, { method: 'POST', headers, body: text })).status;
}

const encoded = encodeURIComponent(INJECTION);

describe('a value that the document lists', () => {
  it('passes as a parameter, and is refused as free text', async () => {
    expect(await get(`/books?sort=${encoded}`)).toBe(200);
    expect(await get('/books', { 'x-sort': INJECTION })).toBe(200);
    expect(await get(`/books?q=${encoded}`)).toBe(403);
  });

  it('is refused under another name, or if it is not exactly the same', async () => {
    expect(await get(`/books?Sort=${encoded}`)).toBe(403);
    expect(await get(`/books?sort=${encoded}%20--%20`)).toBe(403);
    expect(await get(`/books?sort=${encoded}&sort=${encoded}%20--%20`)).toBe(403);
  });

  it('is refused with use_document: false', async () => {
    expect(await get(`/unused?sort=${encoded}`)).toBe(403);
    expect(await get('/unused?sort=asc')).toBe(200);
  });

  it('passes in a body, where its name means nothing else', async () => {
    expect(await post('/notes', { sort: INJECTION })).toBe(200);
    expect(await post('/notes', { note: INJECTION })).toBe(403);
    expect(await post('/both', { sort: INJECTION })).toBe(403);
    expect(await post('/both', { sort: 'asc' })).toBe(200);
  });
});

describe('an injection', () => {
  it('is refused in place of a number, before it is validated', async () => {
    expect(await get('/books?page=2')).toBe(200);
    expect(await get(`/books?page=${encoded}`)).toBe(403);
    expect(await post('/notes', { count: INJECTION })).toBe(403);
  });

  it('is refused in an undeclared parameter', async () => {
    expect(await get(`/books?other=${encoded}`)).toBe(403);
    expect(await post('/notes', { lines: [{ id: 'b2c7c5f0-6f7a-4d7b-9d8e-3f1c2a4b5d6e', x: INJECTION }] })).toBe(403);
  });

  it('is told of in mode detect', async () => {
    expect(await get(`/detected?page=${encoded}`)).toBe(400);
    expect(await get(`/detected?sort=${encoded}`)).toBe(200);
    const line = await gw.logged(({ status, route }) => route === '/detected' && status === 400);
    expect(line).toMatchObject({ waf: { outcome: 'would-deny' } });
    const passed = await gw.logged(({ status, route }) => route === '/detected' && status === 200);
    // The host of the test is a number.
    expect(passed).toMatchObject({ waf: { outcome: 'matched', rules: [{ id: 920350 }] } });
  });
});

describe('what the author of the document has chosen', () => {
  it('passes as the name of a parameter, header or member', async () => {
    expect(await get('/books?created[$gte]=2026-01-01')).toBe(200);
    expect(await get('/unused?created[$gte]=2026-01-01')).toBe(403);
    expect(await get('/books', { 'content-range': 'bytes 0-1/2' })).toBe(200);
    expect(await get('/unused', { 'content-range': 'bytes 0-1/2' })).toBe(403);
    expect(await post('/notes', { profile: 'A' })).toBe(200);
    expect(await post('/notes', { '.profile': 'A' })).toBe(403);
    expect(await post('/notes', { profile: INJECTION })).toBe(403);
  });

  it('passes as part of the path, and what clients write there does not', async () => {
    expect(await get('/users.profile.get')).toBe(200);
    expect(await get('/shelves/a/dockerfile')).toBe(200);
    expect(await get('/shelves/.htaccess/dockerfile')).toBe(403);
  });

  it('says that the end of a path is data, and no file', async () => {
    expect(await get('/domains/example.com')).toBe(200);
    expect(await get('/domains/.htaccess')).toBe(403);
    expect(await get('/files/example.com')).toBe(403);
  });

  it('says that GET has a body', async () => {
    const send = (path: string) =>
      new Promise<number>((done, failed) => {
        const headers = { ...HEADERS, 'content-type': 'application/json', 'content-length': '2' };
        const sent = request(gw.url + path, { headers }, (response) => {
          response.resume();
          done(response.statusCode ?? 0);
        });
        sent.on('error', failed).end('{}');
      });
    expect(await send('/search')).toBe(200);
    expect(await send('/domains/a')).toBe(403);
  });
});

it('rules of the project look at proved values, too', async () => {
  expect(await get('/books?page=665')).toBe(200);
  expect(await get('/books?page=666')).toBe(406);
});
