/** object-store through a real `gw serve`, with a real S3-compatible store that verifies signatures. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';

const {
  S3_ENDPOINT = '',
  S3_ACCESS_KEY_ID = '',
  S3_SECRET_ACCESS_KEY = '',
  S3_REGION = '',
  S3_BUCKET = '',
  TLS_DIR,
} = process.env;

const MIB = 1 << 20;
/** Bytes of the object that streams, and what the gateway may need for it. */
const LARGE = 192 * MIB;
const ROOM_KIB = 60 * 1024;

const credentials = {
  access_key_id: 'env://STORE_KEY_ID',
  secret_access_key: 'env://STORE_SECRET',
  region: S3_REGION,
};
const AMZ = [
  'x-amz-meta-note',
  'x-amz-copy-source',
  'cookie',
  'content-md5',
  'cache-control',
  'x-amz-date',
  'x-amz-content-sha256',
];

/** All of a store's methods on a path. */
function operations(path: string, config: object, body: object = {}) {
  const params = [...path.matchAll(/\{(\w+)(\+?)\}/g)].map(([, name, greedy]) => ({
    name,
    in: 'path',
    required: true,
    allowReserved: greedy === '+',
    schema: { type: 'string' },
  }));
  const operation = {
    parameters: AMZ.map((name) => ({ name, in: 'header', schema: { type: 'string' } })),
    responses: { default: { description: 'any' } },
    'x-gw-dispatch': { name: 'object-store', config: { ...credentials, endpoint: S3_ENDPOINT, ...config } },
  };
  const written = { ...operation, requestBody: { content: { '*/*': body } } };
  return { parameters: params, get: operation, head: operation, delete: operation, put: written, post: written };
}

/** A wire that nobody else reads, before the store. */
async function tlsBefore(endpoint: string, dir: string): Promise<Server> {
  const { hostname, port } = new URL(endpoint);
  const pem = (name: string) => readFileSync(join(dir, name));
  const server = createTlsServer({ cert: pem('server.crt'), key: pem('server.key') }, (socket) => {
    const store = connect(Number(port), hostname);
    store.on('error', () => socket.destroy());
    socket.on('error', () => store.destroy());
    socket.pipe(store).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A request whose path goes out as it is written here. */
async function raw(
  url: string,
  path: string,
  method: string,
  body: Buffer | null = null,
  headers: Record<string, string> = {},
) {
  const { hostname, port } = new URL(url);
  const request = send({
    hostname,
    port,
    path,
    method,
    headers: { ...(body && !headers['transfer-encoding'] ? { 'content-length': body.length } : {}), ...headers },
  });
  request.end(body ?? undefined);
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: Number(response.statusCode), headers: response.headers, body: Buffer.concat(chunks) };
}

describe.skipIf(S3_ENDPOINT === '')('object-store (needs S3_ENDPOINT)', () => {
  /** Objects of this run. */
  const run = `gw-${randomUUID()}`;
  const bytes = randomBytes(300_000);
  let gw: Gateway;
  let tls: Server | undefined;
  beforeAll(async () => {
    tls = TLS_DIR === undefined ? undefined : await tlsBefore(S3_ENDPOINT, TLS_DIR);
    const secure = tls && `https://127.0.0.1:${(tls.address() as AddressInfo).port}`;
    const fixed = { bucket: S3_BUCKET };
    const paths = {
      '/fixed/{key+}': operations('/fixed/{key+}', fixed),
      '/named/{bucket}/{key+}': operations('/named/{bucket}/{key+}', {}),
      '/other/{store}/{file}': operations('/other/{store}/{file}', { bucket_param: 'store', key_param: 'file' }),
      '/held/{key+}': operations('/held/{key+}', fixed, { schema: { type: 'object' } }),
      '/site/{key+}': operations('/site/{key+}', { ...fixed, fallback_key: `${run}/index page.html` }),
      '/site-without/{key+}': operations('/site-without/{key+}', { ...fixed, fallback_key: `${run}/nothing` }),
      '/wrong/{key+}': operations('/wrong/{key+}', { ...fixed, secret_access_key: 'env://STORE_WRONG' }),
      ...(secure === undefined
        ? {}
        : { '/secure/{key+}': operations('/secure/{key+}', { ...fixed, endpoint: secure }) }),
    };
    const document = { openapi: '3.1.0', info: { title: 'Objects', version: '1' }, paths };
    gw = await startGateway(await compileSpec(document, ['object-store']), {
      args: ['--max-body-size', String(2 ** 31)],
      env: {
        STORE_KEY_ID: S3_ACCESS_KEY_ID,
        STORE_SECRET: S3_SECRET_ACCESS_KEY,
        STORE_WRONG: 'planted-secret',
        ...(TLS_DIR === undefined ? {} : { NODE_EXTRA_CA_CERTS: join(TLS_DIR, 'ca.crt') }),
      },
    });
    await put('/fixed/bytes', bytes, { 'content-type': 'image/x-test' });
    await put('/fixed/index%20page.html', Buffer.from('the index'));
  });
  afterAll(async () => {
    await gw?.stop();
    tls?.close();
  });
  /** The most that it has had. */
  const peakKiB = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${gw.pid}/status`, 'utf8'))?.[1]);
  /** Within this run's folder of the bucket. */
  const at = (path: string) => path.replace(/^(\/[a-z-]+)\//, `$1/${run}/`);
  const call = (path: string, init: RequestInit = {}) => fetch(gw.url + at(path), init);
  const put = async (path: string, body: Buffer, headers: Record<string, string> = {}) => {
    const response = await call(path, { method: 'PUT', body: new Uint8Array(body), headers });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, '']);
    return response;
  };
  const bytesOf = async (path: string) => Buffer.from(await (await call(path)).arrayBuffer());

  it('stores and returns bytes, their type and their ETag', async () => {
    const response = await call('/fixed/bytes');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/x-test']);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(response.headers.get('etag')).toBe(`"${createHash('md5').update(bytes).digest('hex')}"`);
    const head = await call('/fixed/bytes', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])('signs a body of %d bytes in chunks', async (length) => {
    const body = randomBytes(length);
    await put('/fixed/length', body);
    expect(await bytesOf('/fixed/length')).toEqual(body);
  });

  it('hashes a body that the gateway has read', async () => {
    const body = Buffer.from(JSON.stringify({ text: 'größe' }));
    await put('/held/json', body, { 'content-type': 'application/json' });
    expect(await bytesOf('/fixed/json')).toEqual(body);
    expect(
      (await call('/held/json', { method: 'PUT', body: '[]', headers: { 'content-type': 'application/json' } })).status,
    ).toBe(400);
  });

  it.skipIf(TLS_DIR === undefined)('sends a body as it is over TLS (needs TLS_DIR)', async () => {
    await put('/secure/bytes-2', bytes, { 'content-encoding': 'x-own' });
    const response = await call('/secure/bytes-2');
    expect(response.headers.get('content-encoding')).toBe('x-own');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  });

  it('keeps the content encoding of what it sends in chunks', async () => {
    await put('/fixed/encoded', bytes, { 'content-encoding': 'x-own' });
    expect((await call('/fixed/encoded')).headers.get('content-encoding')).toBe('x-own');
  });

  it('deletes', async () => {
    await put('/fixed/gone', bytes);
    expect((await call('/fixed/gone', { method: 'DELETE' })).status).toBe(204);
    expect((await call('/fixed/gone')).status).toBe(404);
  });

  it('passes the query on, in which uploads in parts are made', async () => {
    const begun = await (await call('/fixed/parts?uploads', { method: 'POST' })).text();
    const id = /<UploadId>(.*)<\/UploadId>/.exec(begun)?.[1] ?? '';
    const part = await put(`/fixed/parts?partNumber=1&uploadId=${id}`, bytes);
    const etag = part.headers.get('etag');
    const list = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
    expect((await call(`/fixed/parts?uploadId=${id}`, { method: 'POST', body: list })).status).toBe(200);
    expect(await bytesOf('/fixed/parts')).toEqual(bytes);
    const shown = await call('/fixed/bytes?response-content-type=text%2Fx%20y%2Bz&response-cache-control=a+b');
    expect([shown.headers.get('content-type'), shown.headers.get('cache-control')]).toEqual(['text/x y+z', 'a b']);
  });

  it('signs headers of AWS that the operation admits, and takes no other from the client', async () => {
    const own = {
      'x-amz-meta-note': 'two  words, größe',
      'x-amz-date': '20200101T000000Z',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amz-security-token': 'planted',
      authorization: 'Bearer planted',
    };
    const latin1 = Object.fromEntries(
      Object.entries(own).map(([name, value]) => [name, Buffer.from(value).toString('latin1')]),
    );
    await put('/fixed/noted', bytes, latin1);
    const { headers } = await raw(gw.url, at('/fixed/noted'), 'HEAD');
    expect(Buffer.from(String(headers['x-amz-meta-note']), 'latin1').toString()).toMatch(/^two +words, größe$/);
  });

  it('answers ranges and conditions as the store does', async () => {
    const range = await call('/fixed/bytes', { headers: { range: 'bytes=1000-1999' } });
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 1000-1999/${bytes.length}`]);
    expect(Buffer.from(await range.arrayBuffer())).toEqual(bytes.subarray(1000, 2000));
    const etag = range.headers.get('etag') ?? '';
    expect((await call('/fixed/bytes', { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await call('/fixed/bytes', { headers: { 'if-match': '"other"' } })).status).toBe(412);
    expect((await call('/fixed/bytes', { headers: { range: 'bytes=900000-' } })).status).toBe(416);
  });

  it.each([
    ['a%20b', 'a b'],
    ['a+b', 'a+b'],
    ['a%2Bb', 'a+b'],
    ['d%2Fe', 'd/e'],
    ['a%252Fb', 'a%2Fb'],
    ['%c3%bcber%E2%98%83', 'über☃'],
    ["!'()*~_-.", "!'()*~_-."],
    ['a=b&c@d:e,f;g$h', 'a=b&c@d:e,f;g$h'],
    ['q%3Fx=1%23y', 'q?x=1#y'],
    ['f/g/h', 'f/g/h'],
    ['%41', 'A'],
    ['...', '...'],
  ])('reaches the object whose key is sent as %s', async (sent, key) => {
    const body = Buffer.from(`the object ${key}`);
    const stored = await raw(gw.url, at(`/fixed/${sent}`), 'PUT', body);
    expect(stored.status).toBe(200);
    const listed = await raw(gw.url, `/named/${S3_BUCKET}/${run}/${sent}`, 'GET');
    expect([listed.status, listed.body.toString()]).toEqual([200, body.toString()]);
    const other = await raw(gw.url, at(`/fixed/${encodeURIComponent(key)}`), 'GET');
    expect([other.status, other.body.toString()]).toEqual([200, body.toString()]);
  });

  it.each([
    '/fixed/..%2f..%2fother%2fsecret',
    '/fixed/a/%2e%2e/b',
    '/fixed/a/../b',
    '/fixed/%2E',
    '/fixed/a/..',
    '/fixed/%ff',
    '/fixed/%',
    '/named/a%2Fb/key',
    '/named/..%2f/key',
    '/named/%2e%2e/key',
    '/named/x/key',
    '/named/a%3fb/key',
    '/named/-abc-/key',
  ])('refuses what names no bucket or no object: %s', async (path) => {
    const { status, body } = await raw(gw.url, path, 'GET');
    expect(status).toBe(400);
    expect(JSON.parse(body.toString())).toMatchObject({ status: 400, type: expect.stringMatching(/^urn:gw:error:/) });
  });

  it('takes bucket and key out of the parameters that its config names', async () => {
    expect((await raw(gw.url, `/other/${S3_BUCKET}/${encodeURIComponent(`${run}/bytes`)}`, 'GET')).body).toEqual(bytes);
  });

  it('passes the refusals of the store on', async () => {
    const missing = await call('/fixed/missing');
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, expect.stringContaining('xml')]);
    expect(await missing.text()).toContain('NoSuchKey');
    const wrong = await call('/wrong/bytes');
    expect([wrong.status, await wrong.text()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')]);
    const bucket = await fetch(`${gw.url}/named/${run}/key`);
    expect([bucket.status, await bucket.text()]).toEqual([404, expect.stringContaining('NoSuchBucket')]);
  });

  it('falls back to another key once where there is nothing, for GET alone', async () => {
    expect((await bytesOf('/site/bytes')).length).toBe(bytes.length);
    const page = await call('/site/some/page?response-content-type=text%2Fplanted');
    expect([page.status, await page.text()]).toEqual([200, 'the index']);
    expect(page.headers.get('content-type')).not.toBe('text/planted');
    const again = await call('/site/some/page', { headers: { 'if-none-match': page.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    expect((await call('/site/some/page', { method: 'HEAD' })).status).toBe(404);
    const without = await call('/site-without/some/page');
    expect([without.status, await without.text()]).toEqual([404, expect.stringContaining('NoSuchKey')]);
  });

  it('wants the length of a body that it cannot hold, and none that is framed already', async () => {
    const unknown = await raw(gw.url, at('/fixed/unknown'), 'PUT', Buffer.from('x'), {
      'transfer-encoding': 'chunked',
    });
    expect([unknown.status, JSON.parse(unknown.body.toString()).type]).toEqual([411, 'urn:gw:error:length-required']);
    const framed = await call('/fixed/framed', {
      method: 'PUT',
      body: 'x',
      headers: { 'content-encoding': 'aws-chunked' },
    });
    expect(framed.status).toBe(415);
    expect((await call('/fixed/framed')).status).toBe(404);
  });

  it.skipIf(process.platform !== 'linux')('streams what is larger than its memory', async () => {
    const piece = randomBytes(MIB);
    const sum = createHash('sha256');
    const pieces = async function* () {
      for (let i = 0; i < LARGE / MIB; i++) {
        sum.update(piece);
        yield piece;
      }
    };
    const before = peakKiB();
    const { hostname, port } = new URL(gw.url);
    const request = send({
      hostname,
      port,
      path: at('/fixed/large'),
      method: 'PUT',
      headers: { 'content-length': LARGE },
    });
    Readable.from(pieces()).pipe(request);
    const [stored] = await once(request, 'response');
    stored.resume();
    expect(stored.statusCode).toBe(200);
    const got = createHash('sha256');
    for await (const chunk of (await call('/fixed/large')).body ?? []) got.update(chunk);
    expect(got.digest('hex')).toBe(sum.digest('hex'));
    expect(peakKiB() - before).toBeLessThan(ROOM_KIB);
    await call('/fixed/large', { method: 'DELETE' });
  });

  it('says nothing of its credentials', async () => {
    const said = JSON.stringify(gw.log);
    for (const secret of [S3_SECRET_ACCESS_KEY, S3_ACCESS_KEY_ID, 'planted-secret', 'Signature='])
      expect(said).not.toContain(secret);
  });
});
