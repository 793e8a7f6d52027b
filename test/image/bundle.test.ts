/** What bundling could lose of `gw`: modules that are loaded only where they are wanted. Needs dist/image as CI builds it. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startControl } from '../control/server.ts';
import { compileSpec, startGateway } from '../serve/gateway.ts';
import { LinkServer } from '../serve/link-server.ts';
import { OTLP, OTLP_GRPC, spansOf, tree } from '../serve/spans.ts';
import { document, PLUGINS } from '../serve/traced-project.ts';

const main = join(import.meta.dirname, '..', '..', 'dist', 'image', 'gw.js');
const missing = ['GW_E2E_IMAGE', 'OTLP_ENDPOINT', 'OTLP_GRPC_ENDPOINT'].filter((name) => !process.env[name]);

describe.skipIf(missing.length > 0)('the bundle', () => {
  it.each([
    ['HTTP', OTLP ?? ''],
    ['gRPC', (OTLP_GRPC ?? '').replace('http:', 'grpc:')],
  ])('exports traces by %s', async (_name, endpoint) => {
    const artifact = await compileSpec(document('http://127.0.0.1:1'), PLUGINS);
    const gw = await startGateway(artifact, { main, args: ['--otlp-endpoint', endpoint] });
    const id = (await fetch(`${gw.url}/mock`)).headers.get('x-trace-id') ?? '';
    expect(await gw.stop()).toBe(0);
    expect(tree(await spansOf(id))).toEqual([['GET /mock', ['dispatch mock']]]);
  });
});

describe.skipIf(!process.env['GW_E2E_IMAGE'] || !process.env['REDIS_URL'])('the bundle (needs REDIS_URL)', () => {
  it('has the files that its workers and threads start from, and the client of shared state', async () => {
    const users = { ada: '$2a$04$zSWtd0mpki7JSb0Gq9CSS.brknISr.kcQsgaiVwTVsRoby2Ms6NuC' };
    const credentials = Object.entries(users).map(([username, password]) => ({ username, password }));
    const guarded = {
      responses: { 200: { description: 'OK' } },
      security: [{ basic: [] }],
      'x-gw-middlewares': [
        { name: 'basic-auth', config: { credentials } },
        { name: 'rate-limit', config: { quota: 1000, window: 60, policy_name: crypto.randomUUID() } },
      ],
      'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } },
    };
    const project = {
      openapi: '3.1.0',
      info: { title: 'Bundle', version: '1' },
      components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
      paths: { '/': { get: guarded } },
    };
    const args = ['--workers', '2', '--state', process.env['REDIS_URL'] ?? ''];
    const gw = await startGateway(await compileSpec(project, ['basic-auth', 'rate-limit', 'mock']), { main, args });
    onTestFinished(async () => void (await gw.stop()));
    const authorization = `Basic ${Buffer.from('ada:lovelace').toString('base64')}`;
    const response = await fetch(gw.url, { headers: { authorization } });
    expect([response.status, await response.text()]).toEqual([200, 'hello']);
    expect(response.headers.get('x-ratelimit-remaining')).toBe('999');
    const specs = await fetch(`${gw.url}/__gw/specs/openapi`);
    expect(specs.status).toBe(200);
  });
});

describe.skipIf(!process.env['GW_E2E_IMAGE'])('the bundle', () => {
  it('starts and builds plugins with the SDK that it has', () => {
    // Where a folder above has the compiler.
    const folder = mkdtempSync(join(import.meta.dirname, 'plugin-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const gw = (...args: readonly string[]) =>
      execFileSync(process.execPath, [main, 'plugin', ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    gw('init', 'hello');
    expect(gw('build', 'hello')).toMatch(/hello\.wasm: \d+ bytes/);
    expect(gw('test', 'hello')).toContain('4 passed, 0 failed');
  });

  it('has the embedded database and its files', async () => {
    const worker = new Worker(join(main, '..', 'pglite-worker.js'), { workerData: {} });
    onTestFinished(async () => void (await worker.terminate()));
    expect(await once(worker, 'message')).toEqual([{ ready: true }]);
  });

  it('takes its artifact from a control plane', async () => {
    const control = await LinkServer.start();
    onTestFinished(() => control.kill());
    const gw = await startGateway(null, { main, args: control.args });
    onTestFinished(async () => void (await gw.stop()));
    const operation = {
      responses: { 200: { description: 'OK' } },
      'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } },
    };
    const project = { openapi: '3.1.0', info: { title: 'Bundle', version: '1' }, paths: { '/': { get: operation } } };
    await control.outcome(await control.deploy(await compileSpec(project, ['mock'])), 'applied');
    expect(await (await fetch(gw.url)).text()).toBe('hello');
  });

  it('has the console beside the control plane', async () => {
    const control = await startControl({ main: join(main, '..', 'gw-control.js') });
    onTestFinished(async () => void (await control.stop()));
    const page = await (await fetch(`${control.url}/ui`)).text();
    const script = /src="(\/ui\/assets\/[^"]+)"/.exec(page)?.[1];
    expect((await fetch(control.url + script)).status).toBe(200);
  });
});
