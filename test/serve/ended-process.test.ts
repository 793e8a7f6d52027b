/** What once ended the process, by one client or one upstream: each ends its own request or connection alone. */
import { connect } from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { compileSpec, withGateway } from './gateway.ts';

const TRAILER =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nhttp2-settings: AAA\r\nx-a: b\r\n\r\n';
const PARTIAL = '{"id":1,"secret":"s"}';
const RANGE = `HTTP/1.1 206 Partial Content\r\ncontent-type: application/json\r\ncontent-range: bytes 0-20/21\r\ncontent-length: 21\r\n\r\n${PARTIAL}`;
const WHOLE = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 21\r\n\r\n${PARTIAL}`;

it('a process goes on after odd trailers, addresses and connections that are reset', async () => {
  const upstream = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (head) => {
        if (head.includes('/trailer')) socket.write(TRAILER);
        else socket.write(/^range:/im.test(head.toString()) ? RANGE : WHOLE);
      });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const dispatch = { name: 'http-upstream', config: { url } };
  const only = { type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: false };
  const described = { 200: { description: 'OK', content: { 'application/json': { schema: only } } } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Ended', version: '1' },
    paths: {
      '/trailer': { get: { responses: {}, 'x-gw-dispatch': dispatch } },
      '/judged': { get: { responses: described, 'x-gw-validate-response': 'enforce', 'x-gw-dispatch': dispatch } },
    },
  };
  const artifact = await compileSpec(document, ['http-upstream']);
  await withGateway(artifact, ['--trusted-proxies', '127.0.0.0/8'], async (gw) => {
    for (const address of ['::1%a.b', 'fe80::1%eth0.100', '::1%a.b, 127.0.0.9']) {
      expect((await fetch(`${gw.url}/none`, { headers: { 'x-forwarded-for': address } })).status).toBe(404);
      expect((await fetch(`${gw.url}/none`, { headers: { 'x-real-ip': address } })).status).toBe(404);
    }
    const session = connect(gw.url).on('error', () => {});
    const trailers = await new Promise((resolve, reject) => {
      const stream = session.request({ ':path': '/trailer', te: 'trailers' }).on('error', reject).resume();
      stream.on('trailers', ({ 'x-a': a, 'http2-settings': settings }) => resolve([a, settings]));
    });
    expect(trailers).toEqual(['b', undefined]);
    session.destroy();
    const port = Number(new URL(gw.url).port);
    for (let i = 0; i < 60; i++) {
      await new Promise<void>((resolve) => {
        const client = connectTcp(port, '127.0.0.1', () => {
          const reset = () => client.resetAndDestroy();
          client.write('CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n', () =>
            i % 2 === 0 ? reset() : setImmediate(reset),
          );
        });
        client.on('error', () => {}).on('close', () => resolve());
      });
    }
    // A range would take the answer out of its validation.
    for (const headers of [{}, { range: 'bytes=0-' }]) {
      expect((await fetch(`${gw.url}/judged`, { headers })).status).toBe(502);
    }
  });
  upstream.close();
});
