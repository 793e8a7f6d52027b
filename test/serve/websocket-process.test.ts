/** WebSockets of a `gw serve` that stops, loads another artifact, has workers or TLS. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startGateway } from './gateway.ts';
import { makeCertificate, OPENSSL } from './http.ts';
import { artifactOf, gatewayOf, operation, sample } from './web-socket-project.ts';
import {
  closed,
  frame,
  handshake,
  message,
  opened,
  RawClient,
  serverClose,
  startEcho,
  type WebSocketUpstream,
} from './web-sockets.ts';

describe('a gateway', () => {
  let echo: WebSocketUpstream;
  beforeAll(async () => {
    echo = await startEcho();
  });
  afterAll(() => echo?.close());
  const paths = () => ({ '/echo': operation({ url: echo.url }) });

  it('that stops tells both sides, at the end of a frame, and ends with the last of them', async () => {
    const gw = await gatewayOf(paths());
    const client = await opened(`${gw.url}/echo`);
    const bare = new RawClient(gw.url, handshake('/echo'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    const upstreams = [...echo.server.clients].map(closed);
    const whole = frame('x'.repeat(1000));
    bare.socket.write(whole.subarray(0, 500));
    // The upstream is told when it has the whole frame.
    gw.signal('SIGTERM');
    const told = { code: 1001, reason: 'the gateway is stopping' };
    expect(await closed(client)).toEqual(told);
    await bare.until(({ frames }) => frames.equals(serverClose(told.code, told.reason)));
    bare.socket.write(whole.subarray(500));
    bare.socket.write(frame(Buffer.from([0x03, 0xe9]), { opcode: 8 }));
    expect(await Promise.all(upstreams)).toEqual([told, told]);
    await bare.until(({ ended }) => ended);
    expect(await gw.exited).toBe(0);
    expect(gw.log.filter(({ status }) => status === 101).map(({ closed_by }) => closed_by)).toEqual([
      'gateway',
      'gateway',
    ]);
  });

  it('that stops waits for nobody who does not answer', async () => {
    const gw = await gatewayOf(paths());
    const bare = new RawClient(gw.url, handshake('/echo'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    bare.socket.write(frame('x'.repeat(1000)).subarray(0, 500));
    expect(await gw.stop()).toBe(0);
    await bare.until(({ ended }) => ended);
    await eventually(async () => expect(await echo.connections()).toBe(0));
  });

  it('that loads another artifact keeps the connections of the one before', async () => {
    const gw = await gatewayOf(paths());
    const client = await opened(`${gw.url}/echo`);
    gw.signal('SIGHUP');
    await eventually(() => expect(gw.log.filter(({ msg }) => msg === 'artifact loaded')).toHaveLength(2));
    client.send('still here');
    expect(String(await message(client))).toBe('still here');
    client.close();
    await closed(client);
    expect(await gw.stop()).toBe(0);
  });

  it('cuts off a client that reads nothing for --send-timeout', async () => {
    const gw = await gatewayOf(paths(), ['--send-timeout', '0.5']);
    const bare = new RawClient(gw.url, handshake('/echo', 'X-Request-Id: unread'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    bare.socket.pause();
    const upstream = echo.latest();
    const over = closed(upstream);
    for (let i = 0; i < 32; i++) upstream.send(randomBytes(1 << 20));
    expect((await over).code).toBe(1001);
    expect(await gw.logged(({ request_id }) => request_id === 'unread')).toMatchObject({
      status: 101,
      close_code: 1006,
    });
    bare.socket.destroy();
    expect(await gw.stop()).toBe(0);
  });

  it('does not start with a plaintext upstream that is not allowed', async () => {
    const artifact = await artifactOf(paths());
    const started = startGateway(artifact, { egress: ['--egress-allow', '127.0.0.1'] });
    await expect(started).rejects.toThrow(/plaintext: use wss:\/\/, or allow it with --allow-plaintext-upstream/);
  });

  it('serves them from workers too, and stops those', async () => {
    const gw = await gatewayOf(paths(), ['--workers', '2']);
    const clients = await Promise.all(Array.from({ length: 8 }, () => opened(`${gw.url}/echo`)));
    expect(await sample(gw, 'gw_websocket_connections')).toBe(8);
    const all = Promise.all(clients.map(closed));
    expect(await gw.stop()).toBe(0);
    expect(new Set((await all).map(({ code }) => code))).toEqual(new Set([1001]));
  });
});

describe.skipIf(!OPENSSL)('TLS (needs openssl)', () => {
  it('is between client and gateway, and between gateway and upstream', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-wss-'));
    const { cert, key } = makeCertificate(dir, 'server');
    const echo = await startEcho({}, { cert: readFileSync(cert), key: readFileSync(key) });
    const artifact = await artifactOf({ '/echo': operation({ url: echo.url, tls: { ca: cert } }) });
    const gw = await startGateway(artifact, {
      args: ['--tls-cert', cert, '--tls-key', key],
      egress: ['--egress-allow', '127.0.0.1'],
      env: { GW_SECRETS_DIR: dir },
    });
    const client = await opened(`${gw.url.replace('http', 'wss')}/echo`, [], { ca: readFileSync(cert) });
    client.send(randomBytes(1 << 20));
    expect((await message(client)).length).toBe(1 << 20);
    client.close(1000);
    expect((await closed(client)).code).toBe(1000);
    expect(await gw.stop()).toBe(0);
    await echo.close();
    rmSync(dir, { recursive: true });
  });
});
