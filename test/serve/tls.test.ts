/** TLS on the port of `gw serve`: protocols, versions, and certificates that change while it serves. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, refusedStart, startGateway } from './gateway.ts';
import { CURL, curl, h2, h2session, makeCertificate, OPENSSL } from './http.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'TLS', version: '1' },
  paths: {
    '/hello': {
      get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } } },
    },
  },
};

describe.skipIf(!OPENSSL)('TLS (needs openssl)', () => {
  let dir: string;
  let gw: Gateway;
  let artifact: Uint8Array;
  const path = (name: string) => join(dir, name);
  const at = (gateway: Gateway) => gateway.url.replace('http:', 'https:');
  const port = () => Number(new URL(gw.url).port);

  /** As the kubelet does: a folder beside, then one rename of the link that everything goes through. */
  function publish(version: string, cert: Buffer, key: Buffer): void {
    mkdirSync(path(version));
    writeFileSync(join(path(version), 'tls.crt'), cert);
    writeFileSync(join(path(version), 'tls.key'), key);
    symlinkSync(version, path('..next'));
    renameSync(path('..next'), path('..data'));
  }
  const pairOf = (name: string) => {
    const { cert, key } = makeCertificate(dir, name);
    return { cert: readFileSync(cert), key: readFileSync(key) };
  };
  const certificate = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: port(), host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-tls-'));
    const first = pairOf('first');
    publish('v0', first.cert, first.key);
    symlinkSync('..data/tls.crt', path('tls.crt'));
    symlinkSync('..data/tls.key', path('tls.key'));
    artifact = await compileSpec(document, ['mock']);
    gw = await startGateway(artifact, {
      args: ['--tls-cert', path('tls.crt'), '--tls-key', path('tls.key'), '--headers-timeout', '600'],
    });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    rmSync(dir, { recursive: true, force: true });
  });

  it('closes a connection that ends before its handshake, as a probe of the port makes it', async () => {
    for (const sent of ['', '\x16\x03\x01']) {
      const probe = connectPlain({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
      const closed = once(probe, 'close');
      probe.resume().on('error', () => {});
      await once(probe, 'connect');
      probe.end(sent);
      // The gateway ends its side long before --headers-timeout, which is the limit of a handshake.
      await once(probe, 'end');
      probe.destroy();
      await closed;
    }
  });

  it.skipIf(!CURL)('negotiates HTTP/2 or HTTP/1.1 by ALPN (needs curl with HTTP/2)', async () => {
    const url = `${at(gw)}/hello`;
    const ca = ['--cacert', path('first.crt')];
    expect(await curl(url, ...ca, '--http2')).toEqual({ status: 200, version: '2', body: 'hello' });
    expect(await curl(url, ...ca, '--http1.1')).toEqual({ status: 200, version: '1.1', body: 'hello' });
    expect(await curl(url, ...ca, '--no-alpn')).toMatchObject({ status: 200, version: '1.1' });
    expect(await curl(url, ...ca, '--tlsv1.3')).toMatchObject({ status: 200, version: '2' });
    expect(await curl(url, ...ca, '--tls-max', '1.2')).toMatchObject({ status: 200, version: '2' });
    await expect(curl(gw.url, '--http1.1')).rejects.toThrow(/curl/);
    expect((await curl(url, ...ca)).status).toBe(200);
  });

  it('holds --tls-min-version', async () => {
    const strict = await startGateway(artifact, {
      args: ['--tls-cert', path('first.crt'), '--tls-key', path('first.key'), '--tls-min-version', '1.3'],
    });
    const version = (most: 'TLSv1.2' | 'TLSv1.3') =>
      new Promise<string | null>((resolve, reject) => {
        const socket = connect(
          { port: Number(new URL(strict.url).port), host: '127.0.0.1', rejectUnauthorized: false, maxVersion: most },
          () => {
            resolve(socket.getProtocol());
            socket.destroy();
          },
        );
        socket.on('error', reject);
      });
    expect(await version('TLSv1.3')).toBe('TLSv1.3');
    await expect(version('TLSv1.2')).rejects.toThrow(/protocol version/i);
    expect(await strict.stop()).toBe(0);
  });

  it('does not start without both files, with files that are not there, or are no pair', async () => {
    const file = path('api.gwa');
    writeFileSync(file, artifact);
    const other = makeCertificate(dir, 'other');
    const start = (...args: string[]) =>
      refusedStart(['--artifact', file, '--listen', '127.0.0.1:0', '--admin-bind', 'off', ...args]);
    const cases: [string[], RegExp][] = [
      [['--tls-cert', path('first.crt')], /^gw serve: --tls-cert needs --tls-key: give both or neither\n$/],
      [['--tls-key', path('first.key')], /^gw serve: --tls-key needs --tls-cert: give both or neither\n$/],
      [
        ['--tls-cert', path('nothing'), '--tls-key', path('first.key')],
        /^gw serve: cannot read .*nothing \(--tls-cert\): there is no such file\n$/,
      ],
      [['--tls-cert', path('first.crt'), '--tls-key', other.key], /^gw serve: .*the key does not belong.*\n$/],
      [['--tls-cert', file, '--tls-key', path('first.key')], /^gw serve: .*cannot be used: .*\n$/],
    ];
    for (const [args, said] of cases) {
      const { code, stderr } = await start(...args);
      expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
    }
  });

  it('says when the certificate expires: a metric, and a warning that it is soon', async () => {
    const warning = await gw.logged(({ msg }) => msg.startsWith('the certificate expires soon'));
    expect(warning.level).toBe('warn');
    const expires = Date.parse(String(warning['expires'])) / 1000;
    expect(Math.abs(expires - (Date.now() / 1000 + 2 * 86_400))).toBeLessThan(600);
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    expect(text).toContain(`\ngw_tls_certificate_expiry_seconds ${expires}\n`);
  });

  it('takes a certificate that is replaced 20 times under load, and no request fails', async () => {
    const other = pairOf('second');
    const first = { cert: readFileSync(path('first.crt')), key: readFileSync(path('first.key')) };
    const ca = `${first.cert}${other.cert}`;
    const session = await h2session(at(gw), { ca });
    let over = false;
    let sent = 0;
    const failures: unknown[] = [];
    /** One after another, on a connection that stays or on a new one each time. */
    const load = async (once: () => Promise<number | undefined>) => {
      while (!over) {
        const status = await once().catch((error: unknown) => error);
        sent++;
        if (status !== 200) failures.push(status);
      }
    };
    const fresh = () =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${at(gw)}/hello`, { ca, agent: false }, (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode));
        })
          .on('error', reject)
          .end();
      });
    const kept = async () => (await h2(session, { ':path': '/hello' })).status;
    const loads = [load(fresh), load(kept), load(kept)];
    const replaced = () => gw.log.filter(({ msg }) => msg === 'certificate replaced').length;
    for (let i = 1; i <= 20; i++) {
      const { cert, key } = i % 2 === 1 ? other : first;
      publish(`v${i}`, cert, key);
      await expect.poll(replaced, { interval: 20 }).toBe(i);
      expect(await certificate()).toBe(i % 2 === 1 ? 'second' : 'first');
    }
    over = true;
    await Promise.all(loads);
    session.close();
    expect(failures).toEqual([]);
    expect(sent).toBeGreaterThan(200);
  });

  it('refuses a pair that does not fit, says so once, and goes on with the old one', async () => {
    const before = await certificate();
    const one = pairOf('third');
    const two = pairOf('fourth');
    publish('bad', one.cert, two.key);
    const refused = await gw.logged(({ msg }) => msg.startsWith('certificate rejected'));
    expect(refused).toMatchObject({ level: 'error', reason: expect.stringContaining('the key does not belong') });
    expect(await certificate()).toBe(before);
    publish('good', two.cert, two.key);
    await expect.poll(certificate, { interval: 50 }).toBe('fourth');
    expect(gw.log.filter(({ msg }) => msg.startsWith('certificate rejected'))).toHaveLength(1);
  });
});
