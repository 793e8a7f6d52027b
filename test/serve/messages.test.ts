/** HTTP's finer points through `gw serve`, in both protocols (RFC 9110, RFC 9112, RFC 9113). */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { h2, h2session, raw } from './http.ts';

const RANGES = '--b\r\nContent-Range: bytes 0-0/4\r\n\r\na\r\n--b\r\nContent-Range: bytes 3-3/4\r\n\r\nd\r\n--b--\r\n';

/** By path: what the upstream does. */
const UPSTREAM: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  '/echo': (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method, headers, trailers } = request;
      response.setHeader('connection', 'x-hop, keep-alive');
      response.setHeader('x-hop', 'of the upstream');
      response.end(JSON.stringify({ method, headers, trailers, body }));
    });
  },
  '/ranges': (request, response) => {
    const status = request.headers.range === undefined ? 200 : 206;
    response.writeHead(status, { 'content-type': 'multipart/byteranges; boundary=b', 'accept-ranges': 'bytes' });
    response.end(RANGES);
  },
  '/trailers': (_request, response) => {
    response.writeHead(200, { trailer: 'x-sum, set-cookie' });
    response.write('body');
    response.addTrailers({ 'x-sum': '42', 'set-cookie': 'a=1' });
    response.end();
  },
  '/hints': (_request, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload', 'x-hint': 'yes' }, () => response.end('done'));
  },
  '/early': (_request, response) => {
    // Without a look at the body.
    response.writeHead(403, { 'content-type': 'text/plain' });
    response.end('no');
  },
  '/slow': (_request, response) => void setTimeout(() => response.end('slow'), 150),
  '/fast': (_request, response) => void response.end('fast'),
  '/checked': (request, response) => void request.resume().on('end', () => response.end('checked')),
};

describe('messages', () => {
  let server: Server;
  let gw: Gateway;
  let session: ClientHttp2Session;
  let arrived: string[] = [];

  /** Sends the text on a connection of its own, and resolves with all that comes back. */
  function send(text: string): Promise<string> {
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write(text);
    return all;
  }
  const get = (path: string, ...fields: string[]) =>
    send([`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: close', ...fields, '', ''].join('\r\n'));

  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? '';
      arrived.push(path);
      UPSTREAM[path]?.(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const operation = {
      responses: { 200: { description: 'OK' } },
      'x-gw-dispatch': { name: 'http-upstream', config: { url: `http://127.0.0.1:${port}` } },
    };
    const paths = Object.fromEntries(
      Object.keys(UPSTREAM).map((path) => [path, { get: operation, ...(path === '/slow' ? {} : { put: operation }) }]),
    );
    const text = { content: { 'application/json': { schema: { type: 'string' } } } };
    const checked = { post: { ...operation, requestBody: text } };
    const described = { ...paths, '/checked': checked };
    const document = { openapi: '3.1.0', info: { title: 'Messages', version: '1' }, paths: described };
    gw = await startGateway(await compileSpec(document, ['http-upstream']), { args: ['--max-body-size', '1000000'] });
    session = await h2session(gw.url);
  });
  afterAll(async () => {
    session?.close();
    expect(await gw?.stop()).toBe(0);
    server?.close();
  });

  describe('Expect: 100-continue', () => {
    const expecting = (path: string, length: number) =>
      `PUT ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

    it('is met when the body is wanted', async () => {
      const { socket, all } = raw(Number(new URL(gw.url).port));
      socket.write(expecting('/echo', 5));
      const first = await new Promise<string>((resolve) => socket.once('data', (text) => resolve(String(text))));
      expect(first).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write('hello');
      expect(await all).toMatch(/HTTP\/1\.1 200 [\s\S]*"body":"hello"/);
    });

    it('is not met where the request is refused without its body', async () => {
      expect(await send(expecting('/nowhere', 5))).toMatch(/^HTTP\/1\.1 404 /);
      expect(await send(expecting('/slow', 5))).toMatch(/^HTTP\/1\.1 405 /);
      expect(await send(expecting('/echo', 2_000_000))).toMatch(/^HTTP\/1\.1 400 [\s\S]*limit is 1000000/);
    });

    it('asks nothing where it is not known', async () => {
      expect(await get('/fast', 'Expect: a-miracle')).toMatch(/^HTTP\/1\.1 200 [\s\S]*fast$/);
    });
  });

  it('HEAD has the head of GET and no body; OPTIONS says what is allowed', async () => {
    const head = await send('HEAD /ranges HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 [\s\S]*accept-ranges: bytes[\s\S]*\r\n\r\n$/);
    const options = await send('OPTIONS /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(options).toMatch(/^HTTP\/1\.1 405 [\s\S]*allow: GET, HEAD\r\n/i);
  });

  it('ranges pass: Range, 206 and multipart/byteranges', async () => {
    const ranges = { ':path': '/ranges', range: 'bytes=0-0,3-3' };
    const answer = await h2(session, ranges);
    expect([answer.status, answer.body]).toEqual([206, RANGES]);
    expect(answer.headers['content-type']).toBe('multipart/byteranges; boundary=b');
    expect(await get('/ranges', 'Range: bytes=0-0,3-3')).toMatch(/^HTTP\/1\.1 206 [\s\S]*--b--/);
  });

  it('trailers of the upstream reach clients that take them, without fields that belong in a head', async () => {
    expect(await get('/trailers', 'TE: trailers')).toMatch(/\r\n0\r\nx-sum: 42\r\n\r\n$/);
    expect(await get('/trailers')).toMatch(/\r\n0\r\n\r\n$/);
    const trailers = (fields: Record<string, string>) =>
      new Promise<IncomingHttpHeaders | null>((resolve, reject) => {
        const stream = session.request({ ':path': '/trailers', ...fields });
        let got: IncomingHttpHeaders | null = null;
        stream.on('trailers', (headers) => {
          got = headers;
        });
        stream.on('error', reject).on('close', () => resolve(got));
        stream.resume();
      });
    const taken = await trailers({ te: 'trailers' });
    expect(taken).toMatchObject({ 'x-sum': '42' });
    expect(taken).not.toHaveProperty('set-cookie');
    expect(await trailers({})).toBeNull();
  });

  it('trailers of a request end there', async () => {
    const head = 'PUT /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await send(`${head}2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n`)).toMatch(/"trailers":\{\},"body":"hi"/);
  });

  it('early hints (103) are passed on, but not to HTTP/1.0', async () => {
    expect(await get('/hints')).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\n[\s\S]*rel=preload[\s\S]*\r\n\r\nHTTP\/1\.1 200 [\s\S]*done/,
    );
    expect(await send('GET /hints HTTP/1.0\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 [\s\S]*done/);
    const stream = session.request({ ':path': '/hints' });
    const hints = await new Promise<IncomingHttpHeaders>((resolve) => stream.once('headers', resolve));
    expect(hints).toMatchObject({ ':status': 103, link: '</style.css>; rel=preload' });
    stream.close();
  });

  it('an answer that comes before the body was read is passed on at once', async () => {
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write('PUT /early HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\nbegin');
    expect(await all).toMatch(/^HTTP\/1\.1 403 [\s\S]*connection: close[\s\S]*no/i);
    const stream = session.request({ ':path': '/early', ':method': 'PUT' });
    stream.write('begin');
    const answer = await new Promise<IncomingHttpHeaders>((resolve) => stream.once('response', resolve));
    expect(answer).toMatchObject({ ':status': 403 });
    stream.on('error', () => {}).destroy();
    expect((await h2(session, { ':path': '/fast' })).body).toBe('fast');
  });

  it('an answer that comes while a large body is still on its way reaches the client', async () => {
    const { socket, all } = raw(Number(new URL(gw.url).port));
    const body = Buffer.alloc(8 << 20, 'x');
    socket.write(`PUT /early HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`);
    socket.write(body);
    // Past --max-body-size where the upstream was not first.
    expect(await all).toMatch(/^HTTP\/1\.1 (403|400) [\s\S]*connection: close/i);
  });

  it('a client that closes its side has left: its request is given up', async () => {
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.end('GET /slow HTTP/1.1\r\nHost: a\r\nX-Request-Id: leaves\r\n\r\n');
    expect(await all).toBe('');
    const line = await gw.logged(({ request_id }) => request_id === 'leaves');
    expect(line['status']).toBe(499);
  });

  it('pipelined requests are answered in order, and run one after another', async () => {
    arrived = [];
    const text = ['/slow', '/fast', '/slow'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
    const answers = await send(`${text}GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answers.match(/\r\n\r\n(slow|fast)/g)).toEqual(
      ['slow', 'fast', 'slow', 'fast'].map((each) => `\r\n\r\n${each}`),
    );
    expect(arrived).toEqual(['/slow', '/fast', '/slow', '/fast']);
  });

  it('pipelined requests take no memory before it is their turn, and no turns of others', async () => {
    const residentMiB = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gw.pid}/status`, 'utf8'))?.[1]) / 1024;
    const resident = residentMiB();
    const flood = Array.from({ length: 20 }, () => {
      const { socket, all } = raw(Number(new URL(gw.url).port));
      socket.write(
        `${'GET /fast HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(999)}GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      );
      return all;
    });
    expect(await get('/fast')).toMatch(/^HTTP\/1\.1 200 /);
    const answers = await Promise.all(flood);
    expect(answers.map((each) => each.match(/\r\n\r\nfast/g)?.length)).toEqual(Array(20).fill(1_000));
    // All at once they would take 300 MB; a heap that 20,000 requests have warmed up takes 140.
    expect(residentMiB() - resident).toBeLessThan(180);
  });

  it('a body in chunks of one byte takes little more memory than in one piece', async () => {
    const residentMiB = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gw.pid}/status`, 'utf8'))?.[1]) / 1024;
    const resident = residentMiB();
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write('POST /checked HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n');
    socket.write(`Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\n"\r\n`);
    await new Promise<void>((resolve) => socket.write('1\r\nx\r\n'.repeat(500_000), () => resolve()));
    expect(await get('/fast')).toMatch(/^HTTP\/1\.1 200 /);
    expect(residentMiB() - resident).toBeLessThan(60);
    socket.write('1\r\n"\r\n0\r\n\r\n');
    expect(await all).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('fields that Connection names end there, in both directions', async () => {
    const answer = await get('/echo', 'Connection: x-request-id, TE', 'X-Request-Id: mine', 'TE: gzip');
    expect(answer).not.toMatch(/x-hop/i);
    const [, body = ''] = answer.split('\r\n\r\n');
    expect(JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)).headers).not.toHaveProperty('te');
  });
});
