/** `kubectl gw` against a project on a real cluster, as a platform engineer uses it. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { type InstalledOperator, image, LITTLE, missing, skipped } from './installed-operator.ts';
import { sharedOperator } from './shared-operator.ts';

const PLANTED = 'planted-secret-5c1d';

const apiSpec = (books: string) => `
apiVersion: gw.dev/v1alpha1
kind: ApiSpec
metadata: {name: books, labels: {app: shop}}
spec:
  source:
    inline: |
      openapi: 3.1.0
      info: {title: Books, version: "1"}
      components: {securitySchemes: {key: {type: apiKey, in: header, name: x-api-key}}}
      paths:
        /books:
          get:
            operationId: listBooks
            parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1}}]
            responses: {"200": {description: OK}}
            x-gw-dispatch: {name: mock, config: {body: ${books}}}
        /private:
          get:
            security: [{key: []}]
            responses: {"200": {description: OK}}
            x-gw-middlewares: [{name: apikey-auth, config: {keys: [{id: a, key: "env://API_KEY"}]}}]
            x-gw-dispatch: {name: mock, config: {body: private}}
`;

const project = JSON.stringify({
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GatewayProject',
  metadata: { name: 'shop' },
  spec: {
    specs: { selector: { matchLabels: { app: 'shop' } } },
    plugins: [{ name: 'mock' }, { name: 'apikey-auth' }],
    secrets: { env: ['shop-env'] },
    pods: { image, replicas: 2, resources: LITTLE },
  },
});

// Each command is a process of its own, and several of them a test.
describe.skipIf(missing.length > 0)(`kubectl gw${skipped}`, () => {
  let operator: InstalledOperator;
  let bin = '';

  /** By kubectl, which finds the plugin on its path. */
  const gw = (...args: readonly string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const child = spawn('kubectl', ['gw', ...args, '-n', operator.namespace], {
        env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
      });
      let [out, err] = ['', ''];
      child.stdout.on('data', (text) => {
        out += text;
      });
      child.stderr.on('data', (text) => {
        err += text;
      });
      child.on('close', (code) => resolve({ code: code ?? -1, out, err }));
    });
  const served = () => operator.k.field('gatewayproject/shop', '{.status.revision}');

  beforeAll(async () => {
    bin = await mkdtemp(join(tmpdir(), 'gw-kubectl-'));
    await symlink(GW_OPERATOR, join(bin, 'kubectl-gw'));
    operator = await sharedOperator('plugin');
    await operator.k('create', 'secret', 'generic', 'shop-env', `--from-literal=API_KEY=${PLANTED}`);
    await operator.k.apply(apiSpec('first'));
    await operator.k.apply(project);
    await operator.k.condition('gatewayproject/shop', 'Ready');
    await operator.k.apply(apiSpec('second').replace('minimum: 1', 'minimum: 5'));
    await eventually(async () => expect(await served()).toBe('2'));
    await operator.k.condition('gatewayproject/shop', 'Ready');
  });

  afterAll(async () => {
    await rm(bin, { recursive: true, force: true });
    await operator?.uninstall();
  });

  it('shows projects, and all of one', async () => {
    const all = await gw('status');
    expect([all.code, all.err]).toEqual([0, '']);
    expect(all.out).toMatch(/shop\s+True\s+Ready\s+2\s+[0-9a-f]{12}\s+2\/2/);
    const one = await gw('status', 'shop');
    expect(one.out).toMatch(/serves\s+revision 2/);
    expect(one.out.match(/ready\s+serves it/g)).toHaveLength(2);
    expect(one.out).toMatch(/Programmed\s+True/);
    const json = JSON.parse((await gw('status', 'shop', '-o', 'json')).out);
    expect(json).toMatchObject({ name: 'shop', revision: 2 });
    // Those of before may still drain.
    const staying = json.podsNow.filter(({ ending }: { ending?: true }) => !ending);
    expect(staying).toEqual(Array(2).fill(expect.objectContaining({ ready: true, serves: json.artifactHash })));
    const none = await gw('status', 'nope');
    expect([none.code, none.err]).toEqual([1, expect.stringMatching(/no GatewayProject "nope"; it has shop/)]);
  });

  it('lists routes, and what a revision changes', async () => {
    expect((await gw('routes', 'shop')).out).toMatch(/GET\s+\/private\s+mock\s+apikey-auth/);
    const diff = await gw('diff', 'shop', '--exit-code');
    expect([diff.code, diff.err]).toEqual([1, '']);
    expect(diff.out).toMatch(/^revision 1 to 2\nGET \/books/);
    expect(diff.out).toMatch(/! .*limit/);
    expect((await gw('diff', 'shop', '--to', '9')).err).toMatch(/keeps no revision 9; it keeps 2, 1/);
  });

  it('traces a request', async () => {
    const refused = await gw('trace', 'shop', '/books?limit=1');
    expect([refused.code, refused.err]).toEqual([0, '']);
    expect(refused.out).toMatch(/validate parameters\s+refused/);
    const report = JSON.parse((await gw('trace', 'shop', '/private', '-H', `x-api-key: ${PLANTED}`, '-o', 'json')).out);
    expect(report.response).toMatchObject({ status: 200, body: 'private' });
    expect(report.stages.map(({ stage }: { stage: string }) => stage)).toContain('middleware apikey-auth request');
  });

  it('shows the lines of all pods', async () => {
    const report = JSON.parse((await gw('trace', 'shop', '/books', '-o', 'json')).out);
    const logs = await gw('logs', 'shop', '--request-id', report.request_id, '-o', 'json');
    expect(JSON.parse(logs.out)).toMatchObject({ pod: report.pod, path: '/books', status: 200 });
    expect((await gw('logs', 'shop', '--level', 'error')).out).toBe('');
  });

  it('rolls back, and ends that', async () => {
    const back = await gw('rollback', 'shop');
    expect([back.code, back.err]).toEqual([
      0,
      expect.stringMatching(/^rolling shop back to revision 1, made \S+ ago\n$/),
    ]);
    expect(back.out).toMatch(/^shop serves revision 1, /);
    expect(await served()).toBe('1');
    expect((await gw('rollback', 'shop', '--end')).code).toBe(0);
    await eventually(async () => expect(await served()).toBe('2'));
    await operator.k.condition('gatewayproject/shop', 'Ready');
    expect((await gw('rollback', 'shop', '--end')).err).toMatch(/not rolled back/);
  });

  it('steers a canary: paused, promoted, aborted and tried again, and waited for', async () => {
    const canary = { steps: [25, 50].map((weight) => ({ weight, pauseSeconds: 3600 })), watchSeconds: 0 };
    const spec = JSON.stringify({ spec: { rollout: { strategy: 'Canary', canary } } });
    await operator.k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', spec);
    await operator.k.condition('gatewayproject/shop', 'Ready');
    const idle = await gw('promote', 'shop');
    expect([idle.code, idle.err]).toEqual([1, expect.stringContaining('no rollout of "shop" is under way')]);
    await operator.k.apply(apiSpec('third'));
    const rollout = (field: string) => operator.k.field('gatewayproject/shop', `{.status.rollout.${field}}`);
    await eventually(async () => expect(await rollout('strategy')).toBe('Canary'));
    const paused = await gw('pause', 'shop');
    expect([paused.code, await rollout('paused')]).toEqual([0, 'true']);
    // Where its second pod is not there yet, it says that.
    expect(await gw('promote', 'shop')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^shop: step 2 of 2: (50 % of the pods|\d of 2 canary pods serve revision 3)\n$/),
    });
    expect(await gw('abort', 'shop')).toMatchObject({ code: 0, out: expect.stringContaining('aborted manually') });
    const failed = await gw('wait', 'shop');
    expect([failed.code, failed.out]).toEqual([
      1,
      expect.stringMatching(/failed to roll out, the last good one is served/),
    ]);
    expect((await gw('retry', 'shop')).code).toBe(0);
    expect((await gw('promote', 'shop', '--full')).code).toBe(0);
    const waited = await gw('wait', 'shop');
    // Pods of the canary may still be there.
    expect([waited.code, waited.out]).toEqual([
      0,
      expect.stringMatching(/^shop: \d pod\(s\) serve the newest artifact$/m),
    ]);
    const rolling = JSON.stringify({ spec: { rollout: { strategy: 'Rolling' } } });
    await operator.k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', rolling);
  });

  it('makes a support bundle without a secret in it', async () => {
    // The bundle says so of a pod that goes while it is made.
    await eventually(async () =>
      expect(
        (await operator.k('get', 'pods', '-l', 'gw.dev/project=shop', '-o', 'name')).trim().split('\n'),
      ).toHaveLength(2),
    );
    const file = join(bin, 'bundle.tar.gz');
    const made = await gw('support-bundle', 'shop', '-f', file, '--operator-namespace', operator.system);
    expect([made.code, made.err]).toEqual([0, expect.stringMatching(/^(?:added {2}\S+\n)+$/)]);
    const tar = gunzipSync(await readFile(file)).toString('latin1');
    for (const name of [
      'objects/gatewayprojects.yaml',
      'objects/deployments.yaml',
      'objects/deployments.apps.yaml',
      'objects/pods.yaml',
      'events.yaml',
      'gateway.log',
      'metrics.txt',
      'operator/',
    ]) {
      expect(tar).toContain(name);
    }
    expect(tar).toContain('gw_requests_total');
    expect(tar).not.toContain(PLANTED);
    expect(tar).not.toContain('errors.txt');
  });
});
