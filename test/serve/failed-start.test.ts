/**
 * A start that fails half way leaves nothing behind: a program that embeds it ends by itself, and the addresses that
 * were bound before the failure are free again. Each runs in a process of its own, which nothing but what was left
 * open would keep alive.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_URL, unopenedDatabase } from '../control/database.ts';
import { WAIT_LIMIT_MS } from '../wait-limit.ts';
import { compileSpec } from './gateway.ts';

const run = promisify(execFile);
/** A connection that could stay; without a server there is none. */
const { REDIS_URL } = process.env;
const root = join(import.meta.dirname, '..', '..');

const documentOf = (body: string) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths: { '/a': { get: { responses: {}, 'x-gw-dispatch': { name: 'mock', config: { body } } } } },
});

const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;

describe('a start that fails half way', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-failed-start-'));
  let taken: Server;
  let port = 0;
  beforeAll(async () => {
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    port = (taken.address() as { port: number }).port;
    writeFileSync(join(dir, 'shop.gwa'), await compileSpec(documentOf('ok'), ['mock']));
    writeFileSync(join(dir, 'secret.gwa'), await compileSpec(documentOf('env://NOT_THERE'), ['mock']));
    writeFileSync(join(dir, 'kubeconfig'), KUBECONFIG);
  });
  afterAll(() => {
    taken.close();
    rmSync(dir, { recursive: true });
  });

  /** What the program says of its failure, once it has ended by itself. */
  async function failureOf(program: string): Promise<string> {
    const file = join(dir, `${crypto.randomUUID()}.ts`);
    writeFileSync(file, program);
    const { stdout } = await run(process.execPath, [file], {
      env: { PATH: process.env['PATH'], KUBECONFIG: join(dir, 'kubeconfig') },
      timeout: WAIT_LIMIT_MS,
    });
    return stdout;
  }
  const source = (path: string) => JSON.stringify(join(root, path));
  const failing = (start: string) => `
    await (${start}).then(
      () => console.log('started'),
      (error) => console.log(error.message),
    );`;

  it.each([
    ['a port in use', 1, 'shop', 'in use'],
    ['a port in use', 2, 'shop', 'in use'],
    ['a secret that is not there', 1, 'secret', 'NOT_THERE'],
    ['a secret that is not there', 2, 'secret', 'NOT_THERE'],
  ])('for %s keeps no gateway open, with %i worker(s)', async (_, workers, name, expected) => {
    const said = await failureOf(`
      import { serveDefaults, serveOptions } from ${source('gateway/src/cli/serve/serve-flags.ts')};
      import { startGateway } from ${source('gateway/src/serve/serve.ts')};
      import { createLog } from ${source('gateway/src/telemetry/log.ts')};
      const flags = {
        ...serveDefaults(),
        artifact: ${JSON.stringify(join(dir, `${name}.gwa`))},
        workers: ${workers},
        ...${JSON.stringify(REDIS_URL === undefined ? {} : { state: REDIS_URL })},
        listen: { host: '127.0.0.1', port: ${port} },
        adminBind: { host: '127.0.0.1', port: 0 },
      };
      const log = await createLog('silent', 'json');
      ${failing('startGateway(serveOptions(flags, {}), { log, stderr: () => {} })')}`);
    expect(said).toContain(expected);
  });

  it('keeps no control plane open', async () => {
    const database = await unopenedDatabase(DATABASE_URL === undefined ? 'pglite' : 'postgres');
    const said = await failureOf(`
      import { pino } from ${JSON.stringify(import.meta.resolve('pino'))};
      import { serve } from ${source('control/src/serve.ts')};
      const options = {
        databaseUrl: ${JSON.stringify(database.url)},
        listen: { host: '127.0.0.1', port: ${port} },
        adminBind: { host: '127.0.0.1', port: 0 },
        adminToken: 'a-token-that-is-long-enough',
        allowedOrigins: [],
      };
      ${failing('serve(options, pino({ enabled: false }))')}`);
    await database.drop();
    expect(said).toContain('EADDRINUSE');
  });

  it('keeps no operator open', async () => {
    const said = await failureOf(`
      import { pino } from ${JSON.stringify(import.meta.resolve('pino'))};
      import { EgressGuard } from ${source('gateway/src/egress/index.ts')};
      import { run } from ${source('operator/src/run.ts')};
      const guard = new EgressGuard({ allowInternal: false, allow: [] });
      const options = {
        namespaces: [],
        image: 'gw:test',
        leaderElection: true,
        bind: { host: '127.0.0.1', port: ${port} },
        workers: 1,
        updatesAtOnce: 1,
        policy: { images: [], fields: new Set(), templatePatches: true, secretGrants: false },
        egress: { guard, egressAllow: [], plainHttpRegistries: [], plainHttpSources: [], sourceCacheBytes: 1 << 20 },
      };
      ${failing('run(options, pino({ enabled: false }))')}`);
    expect(said).toContain('EADDRINUSE');
  });
});
