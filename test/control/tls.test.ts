/** `gw-control serve` with a certificate of its own: REST, the data-plane channel, renewal while it serves. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../eventually.ts';
import { makeCertificate, OPENSSL } from '../serve/http.ts';
import { type ControlServer, startControl } from './server.ts';

describe.skipIf(!OPENSSL)('gw-control with TLS of its own (needs openssl)', () => {
  let dir: string;
  let server: ControlServer;
  const at = (name: string) => join(dir, name);
  const use = (name: string) => {
    const { cert, key } = makeCertificate(dir, name);
    copyFileSync(key, at('tls.key'));
    copyFileSync(cert, at('tls.crt'));
    return readFileSync(cert);
  };
  const address = () => new URL(server.url);

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-control-tls-'));
    use('first');
    const args = ['--tls-cert', at('tls.crt'), '--tls-key', at('tls.key'), '--admin-bind', 'off'];
    server = await startControl({ args });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const health = (ca: Buffer) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { hostname: host, port } = address();
      request({ host, port, path: '/health', ca, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .once('error', reject)
        .end();
    });

  it('answers by HTTPS, and by nothing less than TLS 1.2', async () => {
    expect(await health(readFileSync(at('tls.crt')))).toBe(200);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
    const old = new Promise((resolve, reject) => {
      const { hostname: host, port } = address();
      const options = { host, port: Number(port), rejectUnauthorized: false, maxVersion: 'TLSv1.1' } as const;
      connect({ ...options, minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }, () => resolve('connected')).once(
        'error',
        reject,
      );
    });
    await expect(old).rejects.toThrow(/version|alert|protocol/i);
  });

  it('has the data-plane channel on the same port', async () => {
    const socket = new WebSocket(`wss://${address().host}/ws/data-plane`, ['gw.data-plane.v1'], {
      rejectUnauthorized: false,
    });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve).once('error', reject);
    });
    socket.terminate();
  });

  it('takes a renewed certificate without a restart, and keeps the one before where the new one cannot be used', async () => {
    const second = use('second');
    await eventually(async () => expect(await health(second)).toBe(200));
    const { key } = makeCertificate(dir, 'other');
    copyFileSync(key, at('tls.key'));
    await server.logged(({ msg }) => typeof msg === 'string' && msg.includes('cannot be used'));
    expect(await health(second)).toBe(200);
  });
});
