/** Certificates of clients on the port of `gw serve`, and mtls-auth by them. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, refusedStart, startGateway } from '../../../../test/serve/gateway.ts';
import { h2, h2session } from '../../../../test/serve/http.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const { TLS_DIR = '' } = process.env;
const file = (name: string) => join(TLS_DIR, name);
const ca = () => readFileSync(file('ca.crt'));
const shown = (name: string) => ({ cert: readFileSync(file(`${name}.crt`)), key: readFileSync(file(`${name}.key`)) });

const IDENTITY = {
  'x-auth-consumer': 'billing',
  'x-auth-consumer-groups': 'services',
  'x-auth-cert-subject': 'CN=client,O=gw-peers',
};

describe.skipIf(TLS_DIR === '')('certificates of clients (needs TLS_DIR)', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  let dir: string;
  const gateways: Gateway[] = [];

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-mtls-'));
    upstream = await startUpstream();
    const consumers = [{ id: 'billing', groups: ['services'], san_uri: 'spiffe://example.org/client' }];
    const dispatch = { name: 'http-upstream', config: { url: upstream.url } };
    artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Certificates', version: '1' },
        components: { securitySchemes: { certificate: { type: 'mutualTLS' } } },
        paths: {
          '/who': {
            get: {
              responses: { 200: { description: 'OK' } },
              security: [{ certificate: [] }],
              'x-gw-middlewares': [{ name: 'mtls-auth', config: { consumers } }],
              'x-gw-dispatch': dispatch,
            },
          },
          '/open': { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch } },
        },
      },
      ['mtls-auth', 'http-upstream'],
    );
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gw) => gw.stop()));
    await upstream?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function start(...args: string[]): Promise<Gateway> {
    const gw = await startGateway(artifact, {
      args: ['--tls-cert', file('server.crt'), '--tls-key', file('server.key'), ...args],
    });
    gateways.push(gw);
    return gw;
  }

  interface Answer {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
  }
  /** Over a connection of its own. */
  function ask(gw: Gateway, path: string, tls: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { ca: ca(), agent: false, headers, ...tls } as const;
      request(gw.url.replace('http:', 'https:') + path, options, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text) => {
          body += text;
        });
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          resolve({ status, headers: status === 200 ? JSON.parse(body).headers : {} });
        });
      })
        .on('error', reject)
        .end();
    });
  }

  it('are asked for and verified: known ones have their identity, others and none get 401', async () => {
    const gw = await start('--tls-client-ca', file('ca.crt'), '--tls-client-auth', 'optional');
    const spoofed = {
      'x-auth-consumer': 'root',
      'x-forwarded-client-cert': 'URI=spiffe://example.org/client',
      'x-client-cert': 'x',
      'ssl-client-cert': 'x',
    };
    const known = await ask(gw, '/who', shown('client'), spoofed);
    expect(known.status).toBe(200);
    expect(known.headers).toMatchObject(IDENTITY);
    expect(known.headers).not.toHaveProperty('x-forwarded-client-cert');
    expect((await ask(gw, '/who', shown('rogue-client'), spoofed)).status).toBe(401);
    expect((await ask(gw, '/who', {}, spoofed)).status).toBe(401);
    expect((await ask(gw, '/open')).status).toBe(200);
    expect((await ask(gw, '/open', shown('rogue-client'))).status).toBe(200);
    // Signed by the right CA, and nobody that the plugin knows.
    expect((await ask(gw, '/who', shown('server'))).status).toBe(401);
  });

  it('hold for all streams of an HTTP/2 connection', async () => {
    const gw = await start('--tls-client-ca', file('ca.crt'), '--tls-client-auth', 'optional');
    const origin = gw.url.replace('http:', 'https:');
    for (const [name, status] of [
      ['client', 200],
      ['rogue-client', 401],
    ] as const) {
      const session = await h2session(origin, { ca: ca().toString(), ...shown(name) });
      const answers = await Promise.all([1, 2, 3].map(() => h2(session, { ':path': '/who' })));
      expect(answers.map((each) => each.status)).toEqual([status, status, status]);
      session.close();
    }
  });

  it('are demanded where they are required, by every worker', async () => {
    const gw = await start('--tls-client-ca', file('ca.crt'), '--tls-client-auth', 'required', '--workers', '2');
    for (let i = 0; i < 4; i++) {
      expect((await ask(gw, '/who', shown('client'))).headers).toMatchObject(IDENTITY);
      await expect(ask(gw, '/open')).rejects.toThrow();
      await expect(ask(gw, '/open', shown('rogue-client'))).rejects.toThrow();
    }
  });

  it('are not asked for by default, and never believed from headers', async () => {
    const gw = await start();
    const headers = { 'x-forwarded-client-cert': 'URI=spiffe://example.org/client', 'x-auth-consumer': 'billing' };
    expect((await ask(gw, '/who', shown('client'), headers)).status).toBe(401);
    expect((await ask(gw, '/open', shown('client'), headers)).headers).not.toHaveProperty('x-auth-consumer');
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'are shown at each connection: %s sessions are not resumed',
    async (version) => {
      const session = (gw: Gateway, session?: Buffer) =>
        new Promise<{ session: Buffer | undefined; reused: boolean }>((resolve, reject) => {
          let given: Buffer | undefined;
          let reused = false;
          const port = Number(new URL(gw.url).port);
          const tls = { ca: ca().toString(), ...shown('client'), maxVersion: version, ...(session ? { session } : {}) };
          const socket = connect({ port, host: '127.0.0.1', ...tls }, () => {
            reused = socket.isSessionReused();
            given = socket.getSession();
            socket.write('GET /who HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
          });
          socket.on('session', (each) => {
            given = each;
          });
          socket.on('error', reject).resume();
          socket.on('close', () => resolve({ session: given, reused }));
        });
      const again = async (gw: Gateway) => (await session(gw, (await session(gw)).session)).reused;
      expect(await again(await start())).toBe(true);
      expect(await again(await start('--tls-client-ca', file('ca.crt'), '--tls-client-auth', 'optional'))).toBe(false);
    },
  );

  it('are verified by the CAs of now: replaced while it serves, and a bad file is refused', async () => {
    const roots = join(dir, 'ca.crt');
    copyFileSync(file('ca.crt'), roots);
    const gw = await start('--tls-client-ca', roots, '--tls-client-auth', 'optional');
    const kept = await h2session(gw.url.replace('http:', 'https:'), { ca: ca().toString(), ...shown('client') });
    expect((await h2(kept, { ':path': '/who' })).status).toBe(200);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: ca(), ...shown('client') });
    expect((await ask(gw, '/who', { agent })).status).toBe(200);
    copyFileSync(file('rogue-ca.crt'), roots);
    await gw.logged(({ msg }) => msg === 'certificate replaced');
    await eventually(() => expect(kept.closed).toBe(true));
    // Its connection has ended, so that it is verified anew.
    await eventually(() => expect(Object.values(agent.freeSockets)).toEqual([]));
    expect((await ask(gw, '/who', { agent })).status).toBe(401);
    agent.destroy();
    expect((await ask(gw, '/who', shown('client'))).status).toBe(401);
    expect((await ask(gw, '/who', shown('rogue-client'))).status).toBe(200);

    copyFileSync(file('server.key'), roots);
    await gw.logged(
      ({ msg, reason }) => msg.startsWith('certificate rejected') && /--tls-client-ca/.test(String(reason)),
    );
    expect((await ask(gw, '/who', shown('rogue-client'))).status).toBe(200);
  });

  it.each([
    ['roots without a mode', ['--tls-client-ca', 'ca.crt'], '--tls-client-ca needs --tls-client-auth'],
    ['a mode without roots', ['--tls-client-auth', 'required'], 'needs --tls-client-ca'],
    ['a file that does not exist', ['--tls-client-ca', 'none.crt', '--tls-client-auth', 'required'], 'no such file'],
    [
      'a file without a certificate',
      ['--tls-client-ca', 'ca.key', '--tls-client-auth', 'required'],
      'holds no certificate',
    ],
  ])('stop the start where they are given %s', async (_what, args, says) => {
    const paths = args.map((each) => (/\.(crt|key)$/.test(each) ? file(each) : each));
    const tls = ['--tls-cert', file('server.crt'), '--tls-key', file('server.key')];
    const { code, stderr } = await refusedStart(['--artifact', 'none.gwa', ...tls, ...paths]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
  });
});
