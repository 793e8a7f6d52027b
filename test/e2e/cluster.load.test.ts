/**
 * The main job on a real cluster: install the chart, apply the bookstore, and be a client of it. Needs KUBECONFIG, the
 * image in the cluster as GW_E2E_IMAGE, kubectl and helm. GW_E2E_ACCESS says how this machine reaches the Service:
 * `cluster-ip` (default) or `node-port` (kind).
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { DRAIN_SECONDS, execute, kubectl, lastingPods } from './kubectl.ts';
import { startLoad } from './load.ts';
import { reachable } from './reachable.ts';

const image = process.env['GW_E2E_IMAGE'] ?? '';
const access = process.env['GW_E2E_ACCESS'] ?? 'cluster-ip';
const missing = ['KUBECONFIG', 'GW_E2E_IMAGE'].filter((name) => !process.env[name]);
const root = join(import.meta.dirname, '..', '..');
const bookstore = join(root, 'examples', 'bookstore');
const run = randomBytes(3).toString('hex');
const system = `gw-system-${run}`;
const namespace = `gw-e2e-${run}`;
const k = kubectl(namespace);
const KEY = { 'x-api-key': 'demo-key' };

/** The example as a user applies it, with the image that is tested and without waiting for a registry. */
async function manifests(): Promise<string> {
  const names = (await readdir(bookstore)).filter((name) => name.endsWith('.yaml')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(bookstore, name), 'utf8')));
  return texts
    .join('\n---\n')
    .replaceAll('image: gw:0.8.0', `image: ${image}`)
    .replace('  pods:\n    replicas: 2', `  serve: { drainDelay: ${DRAIN_SECONDS} }\n$&`);
}

async function apiSpec(change: (text: string) => string): Promise<string> {
  const text = await readFile(join(bookstore, '4-api-spec.yaml'), 'utf8');
  const changed = change(text);
  expect(changed).not.toBe(text);
  return changed;
}

async function address(): Promise<string> {
  if (access === 'node-port') {
    await k('patch', 'gatewayproject', 'bookstore', '--type=merge', '-p', '{"spec":{"service":{"type":"NodePort"}}}');
    await eventually(async () =>
      expect(await k.field('service/bookstore-gateway', '{.spec.ports[0].nodePort}')).toMatch(/^\d+$/),
    );
    const node = await execute('kubectl', [
      'get',
      'nodes',
      '-o',
      'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}',
    ]);
    return `http://${node}:${await k.field('service/bookstore-gateway', '{.spec.ports[0].nodePort}')}`;
  }
  return `http://${await k.field('service/bookstore-gateway', '{.spec.clusterIP}')}`;
}

const READY_PODS = 'jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].targetRef.name}';
const hash = () => k.field('gatewayproject/bookstore', '{.status.artifactHash}');
const operatorLog = () =>
  execute('kubectl', ['-n', system, 'logs', '-l', 'app.kubernetes.io/name=gw-operator', '--tail=-1', '--prefix']);

describe.skipIf(missing.length > 0)(
  `a cluster${missing.length > 0 ? ` (skipped: ${missing.join(' and ')} not set)` : ''}`,
  () => {
    let url = '';
    let first = '';

    beforeAll(async () => {
      // Shared by every suite that runs at the same time, so no release owns them.
      await execute('kubectl', ['apply', '--server-side', '--force-conflicts', '-f', join(root, 'crds')]);
      for (const name of [namespace, system]) {
        await execute('kubectl', ['create', 'namespace', name]);
        // Everything of ours must run where nothing but restricted pods may.
        await execute('kubectl', ['label', 'namespace', name, 'pod-security.kubernetes.io/enforce=restricted']);
      }
      const colon = image.lastIndexOf(':');
      await execute('helm', [
        'install',
        `gw-operator-${run}`,
        join(root, 'charts', 'operator'),
        '-n',
        system,
        '--wait',
        '--timeout',
        '120s',
        '--set',
        `image.repository=${image.slice(0, colon)}`,
        '--set-string',
        `image.tag=${image.slice(colon + 1)}`,
        '--set',
        'replicas=2',
        '--set',
        'crds.install=false',
        '--set',
        `watchNamespaces={${namespace}}`,
      ]);
      // In the order of the files nothing names what comes later.
      await execute('kubectl', ['-n', namespace, 'apply', '--warnings-as-errors', '-f', '-'], await manifests());
      await k.condition('gatewayproject/bookstore', 'Ready');
      await k('rollout', 'status', 'deployment.apps/inventory', '--timeout=60s');
      url = await address();
      await eventually(async () => expect((await fetch(`${url}/status`)).status).toBe(200));
      await eventually(async () => expect((await fetch(`${url}/books`, { headers: KEY })).status).toBe(200));
    });

    afterAll(async () => {
      await execute('kubectl', ['delete', 'namespace', namespace, '--wait=false']);
      await execute('helm', ['uninstall', `gw-operator-${run}`, '-n', system, '--wait']);
      await execute('kubectl', ['delete', 'namespace', system, '--wait=false']);
    });

    it('answers as the document says', async () => {
      const get = (path: string, init?: RequestInit) => fetch(url + path, init);
      expect((await get('/status')).status).toBe(200);
      expect(await (await get('/books', { headers: KEY })).json()).toMatchObject([
        { id: 1, title: 'The Dispossessed' },
        {},
        {},
      ]);
      expect(await (await get('/books?genre=science', { headers: KEY })).json()).toHaveLength(1);
      expect((await get('/books')).status).toBe(401);
      expect((await get('/books', { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
      expect((await get('/books?limit=0', { headers: KEY })).status).toBe(400);
      expect((await get('/books/x', { headers: KEY })).status).toBe(400);
      expect((await get('/nowhere')).status).toBe(404);
      const refused = await get('/status', { method: 'POST' });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
      expect(await (await get('/covers/a/b/c.png')).text()).toBe('cover of a/b/c.png');
    });

    it('validates bodies before the upstream sees them', async () => {
      const post = (body: string) =>
        fetch(`${url}/books`, { method: 'POST', headers: { ...KEY, 'content-type': 'application/json' }, body });
      const bad = await post('{"title":"Emma"}');
      expect([bad.status, bad.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
      expect(await bad.json()).toMatchObject({ type: 'urn:gw:error:validation-failed', status: 400 });
      const good = await post('{"title":"Emma","author":"Jane Austen","price":7}');
      expect([good.status, await good.json()]).toMatchObject([201, { id: 4, title: 'Emma' }]);
    });

    it('answers preflights of the allowed origin', async () => {
      const preflight = (origin: string) =>
        fetch(`${url}/books`, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' },
        });
      const allowed = await preflight('https://shop.example.org');
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([
        204,
        'https://shop.example.org',
      ]);
      expect((await preflight('https://elsewhere.example.org')).status).toBe(403);
    });

    it('limits rates', async () => {
      // Two pods count apart, so that at most twice the quota of five passes.
      const statuses = await Promise.all(
        Array.from({ length: 30 }, async () => (await fetch(`${url}/recommendations`)).status),
      );
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(10);
      const limited = statuses.filter((status) => status === 429);
      expect(limited.length).toBeGreaterThanOrEqual(20);
    });

    it('kubectl get shows Ready and the hash', async () => {
      first = await hash();
      expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
      for (const name of ['apispec', 'gatewayproject', 'gwdeploy']) {
        const [head = '', row = ''] = (await k('get', name, 'bookstore')).split('\n');
        expect(head).toMatch(/READY.*REASON.*HASH.*AGE/);
        expect(row).toMatch(/True/);
        expect(row).toContain(` ${first.slice(7, 19)} `);
      }
      expect(await k('describe', 'gatewayproject', 'bookstore')).toMatch(/Programmed/);
    });

    it('rolls to an edited ApiSpec while no request fails', async () => {
      const load = startLoad(`${url}/books/1`, 50, KEY);
      await eventually(() => expect(load.sent).toBeGreaterThan(50));
      await k.apply(await apiSpec((text) => text.replace('{"status":"open"}', '{"status":"open late"}')));
      await eventually(async () => expect(await hash()).not.toBe(first));
      await k.condition('gatewayproject/bookstore', 'Programmed');
      // Nodes follow these: new connections reach the new pods, and no others.
      const routed = (await k('get', 'endpointslices', '-l', 'gw.dev/project=bookstore', '-o', READY_PODS)).trim();
      expect(routed.split(' ').toSorted()).toEqual(await lastingPods(k, 'gw.dev/project=bookstore'));
      await k.condition('apispec/bookstore', 'Ready');
      await eventually(async () => expect(await (await fetch(`${url}/status`)).text()).toContain('open late'));
      // Until the last old pod has gone, with its drain and all.
      await eventually(async () =>
        expect(JSON.parse(await k('get', 'pods', '-l', 'gw.dev/project=bookstore', '-o', 'json')).items).toHaveLength(
          2,
        ),
      );
      await load.stop();
      expect(load.sent).toBeGreaterThan(100);
      expect(load.failures).toEqual([]);
    });

    it('an ApiSpec that does not compile leaves the old one serving, with diagnostics', async () => {
      const serving = await hash();
      const broken = (text: string) => text.replace('#/components/schemas/NewBook', '#/components/schemas/Nothing');
      // What is inline does not even get in: the webhook compiles it.
      await expect(k.apply(await apiSpec(broken))).rejects.toThrow('E1003');
      const document = await readFile(join(bookstore, 'project', 'specs', 'bookstore.yaml'), 'utf8');
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bookstore' } };
      await k.apply(JSON.stringify({ ...map, data: { 'bookstore.yaml': broken(document) } }));
      await k.apply(
        await apiSpec((text) => `${text.slice(0, text.indexOf('    inline:'))}    configMap: {name: bookstore}\n`),
      );
      await k.condition('apispec/bookstore', 'Compiled', 'False');
      expect(await hash()).toBe(serving);
      expect(await k.field('apispec/bookstore', '{.status.diagnostics[0].code} {.status.diagnostics[0].file}')).toBe(
        'E1003 bookstore.yaml',
      );
      expect(await k.field('gatewayproject/bookstore', '{.status.conditions[?(@.type=="Ready")].reason}')).toBe(
        'LastGoodServing',
      );
      expect((await fetch(`${url}/books/1`, { headers: KEY })).status).toBe(200);
      await eventually(async () =>
        expect(await k('get', 'events', '--field-selector', 'reason=CompileFailed')).toContain('E1003'),
      );
      await k.apply(await apiSpec((text) => text.replace('{"status":"open"}', '{"status":"open late"}')));
      await k.condition('apispec/bookstore', 'Ready');
    });

    it('a Deployment of an older revision is the rollback', async () => {
      await k(
        'patch',
        'gwdeploy',
        'bookstore',
        '--type=json',
        '-p',
        '[{"op":"replace","path":"/spec/artifact","value":{"revision":1}}]',
      );
      await eventually(async () => expect(await hash()).toBe(first));
      await eventually(async () =>
        expect(await k.field('gwdeploy/bookstore', '{.status.outcome} {.status.revision}')).toBe('Succeeded 1'),
      );
      // A connection that is kept alive may still end at a pod that drains.
      await eventually(async () => expect(await (await fetch(`${url}/status`)).text()).toBe('{"status":"open"}'));
      const newer =
        'apiVersion: gw.dev/v1alpha1\nkind: Deployment\nmetadata: {name: newer}\nspec: {project: bookstore, artifact: {latest: true}}\n';
      await k.apply(newer);
      await eventually(async () => expect(await k.field('gwdeploy/bookstore', '{.status.outcome}')).toBe('Superseded'));
      await eventually(async () => expect(await k.field('gwdeploy/newer', '{.status.outcome}')).toBe('Succeeded'));
    });

    it('puts back what is taken away or changed behind its back', async () => {
      await k('delete', 'service', 'bookstore-gateway');
      await eventually(async () =>
        expect(await k('get', 'service', 'bookstore-gateway', '-o', 'name')).toContain('service/'),
      );
      await k('scale', 'deployment.apps/bookstore-gateway', '--replicas=1');
      await eventually(async () =>
        expect(await k.field('deployment.apps/bookstore-gateway', '{.spec.replicas}')).toBe('2'),
      );
      await k.condition('gatewayproject/bookstore', 'Ready');
      url = await address();
      await reachable(url);
    });

    it('what the API server refuses is told, and tried again', async () => {
      const service = (patch: string) => k('patch', 'gatewayproject', 'bookstore', '--type=merge', '-p', patch);
      const before = await k.field('gatewayproject/bookstore', '{.spec.service.type}');
      await service('{"spec":{"service":{"type":"NodePort","nodePort":1}}}');
      await eventually(async () =>
        expect(await k.field('gatewayproject/bookstore', '{.status.conditions[?(@.type=="Programmed")].reason}')).toBe(
          'ApplyFailed',
        ),
      );
      expect((await fetch(`${url}/status`)).status).toBe(200);
      await service(`{"spec":{"service":{"type":"${before}","nodePort":null}}}`);
      await k.condition('gatewayproject/bookstore', 'Ready');
    });

    it('another replica takes over from a leader that goes', async () => {
      const holder = () =>
        execute('kubectl', ['-n', system, 'get', 'lease', 'gw-operator', '-o', 'jsonpath={.spec.holderIdentity}']);
      const leader = await holder();
      await execute('kubectl', ['-n', system, 'delete', 'pod', leader, '--wait=true', '--timeout=60s']);
      await eventually(async () => expect(['', leader]).not.toContain(await holder()));
      await k('patch', 'gatewayproject', 'bookstore', '--type=merge', '-p', '{"spec":{"pods":{"replicas":3}}}');
      await eventually(async () =>
        expect(await k.field('gatewayproject/bookstore', '{.status.pods.programmed}')).toBe('3'),
      );
      // The other replica compiles anew, and finds that there is nothing new.
      expect(await k.field('gatewayproject/bookstore', '{.status.latestRevision}')).toBe('2');
    });

    // docs/decisions.md#newest-deployment-wins
    it('Kustomize transforms the kind Deployment as any other of that name', async () => {
      const dir = await mkdtemp(join(tmpdir(), 'gw-kustomize-'));
      try {
        await writeFile(join(dir, 'deployment.yaml'), await readFile(join(bookstore, '6-deployment.yaml'), 'utf8'));
        await writeFile(
          join(dir, 'kustomization.yaml'),
          'resources: [deployment.yaml]\nlabels: [{pairs: {team: books}, includeSelectors: true, includeTemplates: true}]\nreplicas: [{name: bookstore, count: 3}]\nnameSuffix: -kustomized\n',
        );
        const yaml = await execute('kubectl', ['kustomize', dir]);
        expect(yaml).toContain('replicas: 3');
        expect(await execute('kubectl', ['-n', namespace, 'apply', '--dry-run=server', '-f', '-'], yaml)).toContain(
          'created',
        );
      } finally {
        await rm(dir, { recursive: true });
      }
    });

    it('refuses what contradicts itself', async () => {
      const both =
        'apiVersion: gw.dev/v1alpha1\nkind: ApiSpec\nmetadata: {name: both}\nspec: {source: {inline: a, configMap: {name: b}}}\n';
      await expect(k.apply(both)).rejects.toThrow('exactly one of inline, configMap, oci and url');
      const long = `apiVersion: gw.dev/v1alpha1\nkind: GatewayProject\nmetadata: {name: ${'a'.repeat(51)}}\nspec: {specs: {names: [a]}}\n`;
      await expect(k.apply(long)).rejects.toThrow('at most 50 characters');
      const project = (spec: string) =>
        k.apply(
          `apiVersion: gw.dev/v1alpha1\nkind: GatewayProject\nmetadata: {name: odd}\nspec: {specs: {names: [a]}, ${spec}}\n`,
        );
      await expect(project('pods: {resources: {requests: {memory: 12Xi}}}')).rejects.toThrow(
        'spec.pods.resources.requests.memory',
      );
      const falling = 'rollout: {canary: {steps: [{weight: 50}, {weight: 20}]}}';
      await expect(project(falling)).rejects.toThrow('weights of steps must not decrease');
    });

    it('deleting the GatewayProject removes all that it made', async () => {
      await k('delete', 'gatewayproject', 'bookstore', '--timeout=30s');
      const made = 'configmaps,deployments.apps,services,serviceaccounts,networkpolicies,poddisruptionbudgets';
      await eventually(async () =>
        expect(await k('get', made, '-l', 'gw.dev/project=bookstore', '-o', 'name')).toBe(''),
      );
      await eventually(async () => expect(await lastingPods(k, 'gw.dev/project=bookstore')).toEqual([]));
    });

    it('the operator was never refused a right', async () => {
      const log = await operatorLog();
      expect(log).toContain('leading');
      expect(log.split('\n').filter((line) => /forbidden/i.test(line))).toEqual([]);
    });
  },
);
