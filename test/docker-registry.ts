/** Real registries for tests: the `docker-registry` of Debian, with basic or token authentication. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { importPKCS8, SignJWT } from 'jose';
import { freePort } from './free-port.ts';

/** Whether there is a docker-registry to start. */
export const hasDockerRegistry = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'docker-registry')));

/** The one user of registries that ask for one. */
export const USER = { username: 'robot', password: 's3cret' } as const;
const HTPASSWD = 'robot:$2y$05$abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK\n';
const SERVICE = 'registry.test';
const ISSUER = 'tokens.test';

export interface DockerRegistry {
  /** `ADDRESS:PORT`, plain HTTP. */
  readonly host: string;
  /** Scopes for which tokens were asked, in turn; none where it asks for no token. */
  readonly scopes: readonly string[];
  /** Ends the process, and keeps what it has stored. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface DockerRegistryOptions {
  readonly auth?: 'basic' | 'token';
  /** Where it listens. Default 127.0.0.1. */
  readonly address?: string;
  /** Whether images may be deleted. Default true. */
  readonly deletes?: boolean;
}

export async function startDockerRegistry({
  auth,
  address = '127.0.0.1',
  deletes = true,
}: DockerRegistryOptions = {}): Promise<DockerRegistry> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-registry-'));
  const host = `${address}:${await freePort()}`;
  const tokens = auth === 'token' ? await startTokenServer(dir) : undefined;
  writeFileSync(join(dir, 'htpasswd'), HTPASSWD);
  const authentication = {
    basic: { htpasswd: { realm: 'test', path: join(dir, 'htpasswd') } },
    token: { token: { realm: tokens?.url, service: SERVICE, issuer: ISSUER, rootcertbundle: join(dir, 'token.crt') } },
  };
  writeFileSync(
    join(dir, 'config.yml'),
    JSON.stringify({
      version: 0.1,
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: join(dir, 'data') }, delete: { enabled: deletes } },
      http: { addr: host },
      ...(auth ? { auth: authentication[auth] } : {}),
    }),
  );
  let child: ChildProcess | undefined;
  const stop = async () => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill();
    await gone;
  };
  const start = async () => {
    child = spawn('docker-registry', ['serve', join(dir, 'config.yml')], { stdio: 'ignore' });
    const started = child;
    for (;;) {
      if (started.exitCode !== null) throw new Error(`docker-registry ended with ${started.exitCode}`);
      const answer = await fetch(`http://${host}/v2/`).catch(() => undefined);
      if (answer) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await start();
  return {
    host,
    scopes: tokens?.scopes ?? [],
    stop,
    start,
    async close() {
      await stop();
      tokens?.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What stands beside registries such as Docker Hub or Harbor: tokens for those who know the password. */
async function startTokenServer(dir: string) {
  const [key, cert] = [join(dir, 'token.key'), join(dir, 'token.crt')];
  const subject = ['-subj', '/CN=tokens', '-days', '2'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  execFileSync('openssl', ['req', '-x509', '-nodes', ...curve, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  const privateKey = await importPKCS8(readFileSync(key, 'utf8'), 'ES256');
  const x5c = [readFileSync(cert, 'utf8').replace(/-----[A-Z ]+-----|\s/g, '')];
  const expected = `Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}`;
  const scopes: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.headers.authorization !== expected) {
      response.writeHead(401).end();
      return;
    }
    const wanted = url.searchParams.getAll('scope');
    scopes.push(...wanted);
    const access = wanted.map((scope) => {
      const [type, name, actions] = scope.split(':');
      return { type, name, actions: actions?.split(',') };
    });
    void new SignJWT({ access })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', x5c })
      .setIssuer(ISSUER)
      .setAudience(url.searchParams.get('service') ?? '')
      .setSubject(USER.username)
      .setIssuedAt()
      .setNotBefore(Math.floor(Date.now() / 1000) - 10)
      .setExpirationTime('5 min')
      .setJti('1')
      .sign(privateKey)
      .then((token) => response.end(JSON.stringify({ token, expires_in: 300 })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/token`, scopes, close: () => void server.close() };
}
