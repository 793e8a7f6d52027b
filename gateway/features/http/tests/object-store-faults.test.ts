/** object-store with stores that fail, and clients that leave: what each costs, and whom. */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

const BIG = 64 << 20;
const XML = '<Error><Code>NoSuchKey</Code></Error>';

let seen: Seen[];
let sockets: Set<Socket>;
let store: ReturnType<typeof createServer>;
let broken: Server;
let gw: Gateway;

/** A store that answers as the first segment of its path says. */
function startStore() {
  return createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers });
    const [, kind = '', , key = ''] = url.split(/[/?]/);
    request.on('error', () => {});
    if (kind === 'silent') return;
    if (kind === 'refusing') return void response.writeHead(403).end('<Error/>');
    request.resume();
    if (kind === 'big') return void response.writeHead(200, { 'content-length': BIG }).end(Buffer.alloc(BIG));
    if (kind === 'hanging') return void response.writeHead(200, { 'content-length': 10 }).write('half');
    if (kind === 'closing')
      return void response.writeHead(200, { 'content-length': 10 }).write('half', () => request.socket.destroy());
    if (kind === 'failing')
      return void response.writeHead(503, { 'content-type': 'application/xml' }).end('<SlowDown/>');
    if (key === 'index') return void response.end('the index');
    if (kind === 'absent') return void response.writeHead(404).end(XML);
    if (kind === 'absent-big') return void response.writeHead(404).end(Buffer.alloc(BIG));
    if (kind === 'absent-closing')
      return void response.writeHead(404, { 'content-length': 10 }).write('half', () => request.socket.destroy());
    if (kind === 'absent-hanging') return void response.writeHead(404, { 'content-length': 10 }).write('half');
    if (kind === 'slow') return;
    request.on('end', () => response.end('stored'));
  });
}

function operation(endpoint: string, config: object = {}) {
  const dispatch = {
    name: 'object-store',
    config: {
      access_key_id: 'env://STORE_KEY_ID',
      secret_access_key: 'env://STORE_SECRET',
      session_token: 'env://STORE_TOKEN',
      region: 'us-east-1',
      endpoint,
      bucket: 'books',
      ...config,
    },
  };
  const both = { responses: { default: { description: 'any' } }, security: [{ user: [] }], 'x-gw-dispatch': dispatch };
  return { get: both, head: both, put: { ...both, requestBody: { content: { '*/*': {} } } } };
}

beforeAll(async () => {
  seen = [];
  sockets = new Set();
  store = startStore().listen(0, '127.0.0.1');
  store.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  broken = createTcpServer((socket) => {
    socket.on('error', () => {}).once('data', (head) => socket.end(head.includes('/nonsense/') ? 'SSH-2.0-x\r\n' : ''));
  }).listen(0, '127.0.0.1');
  await Promise.all([once(store, 'listening'), once(broken, 'listening')]);
  const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const at = (kind: string) => `${urlOf(store)}/${kind}`;
  const kinds = ['big', 'failing', 'refusing', 'closing', 'slow', 'echo'];
  const paths = {
    ...Object.fromEntries(kinds.map((kind) => [`/${kind}`, operation(at(kind))])),
    '/silent': operation(at('silent'), { timeout: 0.3 }),
    '/hanging': operation(at('hanging'), { timeout: 0.3 }),
    '/patient': operation(at('patient'), { timeout: 0.3 }),
    '/dead': operation('http://127.0.0.1:1'),
    '/again': operation('http://127.0.0.1:1/again'),
    '/private': operation(at('private').replace('127.0.0.1', '127.0.0.2')),
    '/nonsense': operation(`${urlOf(broken)}/nonsense`),
    '/closed': operation(`${urlOf(broken)}/closed`),
    ...Object.fromEntries(
      ['absent', 'absent-big', 'absent-closing', 'absent-hanging'].map((kind) => [
        `/${kind}`,
        operation(at(kind), { fallback_key: 'index', timeout: kind === 'absent-hanging' ? 0.3 : 30 }),
      ]),
    ),
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Faults', version: '1' },
    components: { securitySchemes: { user: { type: 'http', scheme: 'bearer' } } },
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => {
        const parameters = [{ name: 'key', in: 'path', required: true, schema: { type: 'string' } }];
        return [`${path}/{key}`, { parameters, ...item }];
      }),
    ),
  };
  gw = await startGateway(await compileSpec(document, ['object-store']), {
    args: ['--max-body-size', String(BIG)],
    env: { STORE_KEY_ID: 'planted-id', STORE_SECRET: 'planted-secret', STORE_TOKEN: 'planted-token' },
  });
});
afterAll(async () => {
  await gw?.stop();
  store?.close();
  store?.closeAllConnections();
  broken?.close();
});
beforeEach(() => {
  seen.length = 0;
});

const call = (path: string, init: RequestInit = {}) => fetch(gw.url + path, init);
const typeOf = async (response: Response) => [response.status, (await jsonOf(response))['type']];
const idle = async () => {
  const metrics = await scrape(gw.admin);
  return metrics.value('gw_plugin_instances_busy') === 0;
};

/** An upload of which the client sends half. */
function halfSent(path: string) {
  const { hostname, port } = new URL(gw.url);
  const request = send({ hostname, port, path, method: 'PUT', headers: { 'content-length': BIG } });
  request.on('error', () => {});
  request.write(Buffer.alloc(BIG / 2));
  return request;
}

describe('a store that fails', () => {
  it.each(['/dead', '/private', '/nonsense', '/closed'])('is 502: %s', async (path) => {
    expect(await typeOf(await call(`${path}/key`))).toEqual([502, 'urn:gw:error:upstream-failed']);
    expect(await typeOf(await call(`${path}/key`, { method: 'PUT', body: 'body' }))).toEqual([
      502,
      'urn:gw:error:upstream-failed',
    ]);
  });

  it('is 504 where it does not answer', async () => {
    expect(await typeOf(await call('/silent/key'))).toEqual([504, 'urn:gw:error:upstream-timeout']);
    expect(await typeOf(await call('/silent/key', { method: 'PUT', body: 'body' }))).toEqual([
      504,
      'urn:gw:error:upstream-timeout',
    ]);
  });

  it('is left alone for a while where it has failed repeatedly', async () => {
    for (let i = 0; i < 5; i++) expect((await call('/again/key')).status).toBe(502);
    const response = await call('/again/key');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  });

  it.each(['/closing', '/hanging'])('breaks the answer off where it does: %s', async (path) => {
    await expect(call(`${path}/key`).then((response) => response.text())).rejects.toThrow();
  });

  it('says so itself where it can', async () => {
    const response = await call('/failing/key');
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      503,
      'application/xml',
      '<SlowDown/>',
    ]);
  });

  it('may answer before it has the body', async () => {
    const request = halfSent('/refusing/key');
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(403);
    request.destroy();
    expect((await call('/echo/key')).status).toBe(200);
  });

  it('is not waited for while the client has yet to send what is hashed whole', async () => {
    const { hostname, port } = new URL(gw.url);
    const headers = { 'content-length': 10 };
    const request = send({ hostname, port, path: '/patient/key?tagging', method: 'PUT', headers });
    request.write('first');
    // It began later, and has run out.
    expect((await call('/silent/key')).status).toBe(504);
    request.end('last.');
    const [response] = await once(request, 'response');
    expect([response.statusCode, seen.at(-1)?.headers['content-length']]).toEqual([200, '10']);
  });
});

describe('a fallback', () => {
  it.each(['/absent', '/absent-big', '/absent-closing'])(
    'follows an answer 404, whatever is in it: %s',
    async (path) => {
      const response = await call(`${path}/key?versionId=1`);
      expect([response.status, await response.text()]).toEqual([200, 'the index']);
      expect(seen.map(({ url }) => url)).toEqual([`${path}/books/key?versionId=1`, `${path}/books/index`]);
      const [first, second] = seen.map(({ headers }) => headers['authorization']);
      expect(first).not.toBe(second);
    },
  );

  it('does not follow one that does not end', async () => {
    expect((await call('/absent-hanging/key')).status).toBe(504);
  });

  it('is asked for once, and for GET alone', async () => {
    await (await call('/absent/index')).text();
    expect((await call('/absent/key', { method: 'HEAD' })).status).toBe(404);
    expect((await call('/absent/key', { method: 'PUT', body: 'x' })).status).toBe(404);
    expect(seen.length).toBe(3);
  });
});

describe('what the store sees', () => {
  it('is signed, and says nothing of the client', async () => {
    const headers = {
      authorization: 'Bearer planted',
      'x-forwarded-for': '203.0.113.9',
      range: 'bytes=0-1',
      'if-match': '"e"',
      'user-agent': 'test',
    };
    await (await call('/echo/a%20b', { headers })).text();
    const [request] = seen;
    expect(request?.url).toBe('/echo/books/a%20b');
    expect(request?.headers).toMatchObject({
      range: 'bytes=0-1',
      'if-match': '"e"',
      'x-amz-security-token': 'planted-token',
    });
    expect(request?.headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=planted-id\//);
    expect(Object.keys(request?.headers ?? {}).filter((name) => /forwarded|real-ip/.test(name))).toEqual([]);
  });
});

describe('a client that leaves', () => {
  it('ends its download', async () => {
    const left = new AbortController();
    const responses = await Promise.all([1, 2, 3, 4].map(() => call('/big/key', { signal: left.signal })));
    const open = sockets.size;
    for (const response of responses) expect(response.status).toBe(200);
    left.abort();
    await eventually(() => sockets.size <= open - 4);
    await eventually(idle);
    expect((await call('/echo/key')).status).toBe(200);
  });

  it('ends its upload', async () => {
    const open = sockets.size;
    const uploads = [1, 2, 3, 4].map(() => halfSent('/slow/key'));
    await eventually(() => seen.length === 4 && sockets.size >= open);
    for (const upload of uploads) upload.destroy();
    await eventually(() => [...sockets].length <= open);
    await eventually(idle);
    expect((await call('/echo/key')).status).toBe(200);
  });

  it('is counted where it leaves before there is anything to send', async () => {
    const { hostname, port } = new URL(gw.url);
    const upload = send({
      hostname,
      port,
      path: '/echo/left?tagging',
      method: 'PUT',
      headers: { 'content-length': 10 },
    });
    upload.on('error', () => {});
    await new Promise((written) => upload.write('first', written));
    await call('/echo/key');
    upload.destroy();
    const line = await gw.logged(({ msg, path }) => msg === 'request' && path === '/echo/left');
    expect(line['status']).toBe(499);
  });

  it('leaves nothing of credentials behind', async () => {
    const said = JSON.stringify(gw.log) + (await (await fetch(`${gw.admin}/metrics`)).text());
    for (const secret of ['planted-id', 'planted-secret', 'planted-token']) expect(said).not.toContain(secret);
  });
});
