/** The HTTPS listener and its certificate, as clients and API servers see them. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, get, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { startApiServer } from '../../../test/operator/fake-api-server.ts';
import { HttpsServer } from '../runtime/https-server.ts';
import { CertificateKeeper } from './certificate-keeper.ts';
import { CERTIFICATE_SECRET, certificateSecret } from './certificate-secret.ts';
import { certificateFolder, SecureListener } from './secure-listener.ts';
import { certificatesOf, renew } from './serving-state.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const apiServer = async () => {
  const server = await startApiServer();
  closing.push(() => server.close());
  return server;
};

const MINUTE = 60_000;
const silent = pino({ level: 'silent' });
const fail = (error: unknown) => {
  throw error;
};

async function serving(routes?: (server: HttpsServer) => void) {
  const server = new HttpsServer({ host: '127.0.0.1', port: 0, onError: () => undefined });
  const files = renew(undefined, { names: ['localhost', '127.0.0.1'] }, new Date());
  routes?.(server);
  const port = await server.start(files);
  closing.push(() => server.close());
  return { server, port, ca: files.ca };
}

function ask(port: number, ca: string, path: string, agent?: Agent): Promise<{ status?: number; body: string }> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, ca, agent: agent ?? false }, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ ...(response.statusCode ? { status: response.statusCode } : {}), body });
    }).once('error', reject);
  });
}

describe('certificates in a Secret', () => {
  it('are the same for two replicas that start at once', async () => {
    const { api, objects, writes } = await apiServer();
    const replica = () => certificateSecret(api, { namespace: 'gw-system', names: ['gw.gw-system.svc'] }).read();
    const [one, other] = await Promise.all([replica(), replica()]);
    expect(other).toEqual(one);
    expect(writes).toEqual([`/api/v1/namespaces/gw-system/secrets/${CERTIFICATE_SECRET}`]);
    expect(await replica()).toEqual(one);
    expect([...objects.values()][0]).toMatchObject({ type: 'Opaque', metadata: { name: CERTIFICATE_SECRET } });
  });

  it('are renewed while requests run, none of which fails, on kept and on new connections', async () => {
    const { api } = await apiServer();
    const server = new HttpsServer({ host: '127.0.0.1', port: 0, onError: fail });
    server.handle('/', (_, response) => void response.end('ok'));
    closing.push(() => server.close());
    const seen = new Set<string>();
    let looks = 0;
    const bundles: string[] = [];
    const keeper = new CertificateKeeper({
      source: certificateSecret(api, {
        namespace: 'gw-system',
        names: ['127.0.0.1'],
        servingMs: 10 * MINUTE,
        authorityMs: 40 * MINUTE,
        overlapMs: 20 * MINUTE,
        everyMs: 20,
        // Runs ahead, within the hour by which certificates are dated back: clients check them by the real time.
        now: () => new Date(Date.now() + Math.min(looks++ * 2, 58) * MINUTE),
      }),
      onChange: (certificate) => {
        seen.add(certificate.cert);
        bundles.push(certificate.ca);
        if (server.port === 0) void server.start(certificate);
        else server.replaceCertificate(certificate);
      },
      onError: fail,
    });
    keeper.start();
    closing.push(() => keeper.close());
    await eventually(() => expect(server.port).toBeGreaterThan(0));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closing.push(async () => agent.destroy());
    let asked = 0;
    while (seen.size < 7) {
      const ca = bundles.at(-1)!;
      for (const connection of [agent, undefined])
        expect(await ask(server.port, ca, '/', connection)).toEqual({ status: 200, body: 'ok' });
      asked += 2;
      await pause(5);
    }
    expect(asked).toBeGreaterThan(8);
    expect(Math.max(...bundles.map((bundle) => certificatesOf(bundle).length))).toBeGreaterThan(1);
  });
});

describe('certificates in a folder', () => {
  it('are those of the files, and a key that does not fit is not taken', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gw-tls-'));
    closing.push(() => rm(folder, { recursive: true }));
    const one = renew(undefined, { names: ['a'] }, new Date());
    const other = renew(undefined, { names: ['a'] }, new Date());
    const write = async (cert: string, key: string, ca: string) => {
      await writeFile(join(folder, 'tls.crt'), cert);
      await writeFile(join(folder, 'tls.key'), key);
      await writeFile(join(folder, 'ca.crt'), ca);
    };
    await write(one.cert, one.key, one.ca);
    expect(await certificateFolder(folder).read()).toEqual({ cert: one.cert, key: one.key, ca: one.ca });
    await write(other.cert, one.key, one.ca);
    await expect(certificateFolder(folder).read()).rejects.toThrow('key values mismatch');
  });
});

describe('the HTTPS listener', () => {
  it('has a certificate for the names of its Services, and tells when there is another', async () => {
    const { api } = await apiServer();
    let told = 0;
    const options = {
      host: '127.0.0.1',
      port: 0,
      namespace: 'gw-system',
      services: ['gw-webhooks', 'gw-link'],
      names: ['127.0.0.1'],
      onCertificate: () => told++,
    };
    const listener = new SecureListener(api, options, silent);
    closing.push(() => listener.close());
    expect(listener.listening).toBe(false);
    const port = await listener.start();
    expect(told).toBe(1);
    const client = connect({ port: port ?? 0, ca: listener.ca, servername: 'gw-link.gw-system.svc' });
    await once(client, 'secureConnect');
    client.destroy();
  });

  it('gives a request to the longest prefix, and says so where there is none', async () => {
    const { port, ca } = await serving((server) => {
      server.handle('/webhooks/', (_, response) => void response.end('webhooks'));
      const off = server.handle('/webhooks/validate', (_, response, url) => void response.end(url.pathname));
      server.handle('/gone', () => undefined);
      expect(() => server.handle('/gone', () => undefined)).toThrow('taken');
      expect(off).toBeTypeOf('function');
    });
    expect((await ask(port, ca, '/webhooks/x')).body).toBe('webhooks');
    expect((await ask(port, ca, '/webhooks/validate?timeout=1s')).body).toBe('/webhooks/validate');
    expect(await ask(port, ca, '/other')).toEqual({ status: 404, body: 'there is nothing here\n' });
  });

  it('answers 500 for a handler that throws, without its reason, and goes on', async () => {
    const { port, ca } = await serving((server) => {
      server.handle('/', () => {
        throw new Error('the password is secret');
      });
    });
    for (let n = 0; n < 2; n++) {
      const { status, body } = await ask(port, ca, '/');
      expect([status, body]).toEqual([500, 'the request failed; see the log of the operator\n']);
    }
  });

  it('hands over upgrades of its paths alone, and takes them off again', async () => {
    let off: () => void = () => undefined;
    const { port, ca } = await serving((server) => {
      off = server.upgrade('/ws', (_, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
        socket.pipe(socket);
      });
    });
    const upgrade = (path: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { connection: 'Upgrade', upgrade: 'echo' };
        const client = request({ host: '127.0.0.1', port, path, ca, headers, agent: false });
        client.once('upgrade', (_, socket) => {
          socket.once('data', () => socket.destroy()).once('close', () => resolve(101));
          socket.write('hello');
        });
        client.once('response', (response) => resolve(response.statusCode ?? 0)).once('error', reject);
        client.end();
      });
    expect([await upgrade('/ws'), await upgrade('/other')]).toEqual([101, 404]);
    off();
    expect(await upgrade('/ws')).toBe(404);
  });

  it('refuses clients of TLS 1.1, and outlives connections that are no TLS', async () => {
    const { port, ca } = await serving((server) => {
      server.handle('/', (_, response) => void response.end('ok'));
    });
    const old = connect({ port, ca, host: '127.0.0.1', minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' });
    await expect(once(old, 'secureConnect')).rejects.toThrow();
    const socket = connectPlain(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n\r\n')).on(
      'error',
      () => undefined,
    );
    await once(socket, 'close');
    expect((await ask(port, ca, '/')).body).toBe('ok');
  });
});
