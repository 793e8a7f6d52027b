/**
 * Sidecars on a real cluster (docs/sidecars.md): an app gets one and its Service does not change, other namespaces by
 * grant alone, new artifacts without a change of the pod, Jobs end, and what happens while the operator is away. Needs
 * KUBECONFIG and the image in the cluster as GW_E2E_IMAGE, kubectl and helm.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { WAIT_LIMIT_MS } from '../wait-limit.ts';
import { type InstalledOperator, image, installOperator, missing, skipped } from './installed-operator.ts';
import { execute, type Kubectl, kubectl, lastingPods } from './kubectl.ts';
import { startSteadyLoad } from './steady-load.ts';

const team = `gw-sidecar-team-${randomBytes(3).toString('hex')}`;
let operator: InstalledOperator;
let k: Kubectl;
const t = kubectl(team);

/** Says which pod it is; what asks for `/wait` is answered once `/go` was asked for. */
const APP = `let waiting;
require('node:http').createServer((request, response) => {
  if (request.url === '/wait') return waiting = response;
  if (request.url === '/go') waiting.end();
  response.setHeader('pod', process.env.HOSTNAME).end('app ' + request.method + ' ' + request.url);
}).listen(3000); process.on('SIGTERM', () => process.exit(0));`;
const restricted = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  runAsUser: 2000,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

/** `more`: of the container. */
function podSpec(script: string, more: object = {}): object {
  return {
    terminationGracePeriodSeconds: WAIT_LIMIT_MS / 1000,
    containers: [
      {
        name: 'app',
        image,
        imagePullPolicy: 'IfNotPresent',
        command: ['node', '-e', script],
        ports: [{ name: 'http', containerPort: 3000 }],
        // With one second for an answer, a node that stands still takes all new pods out of the routes at once.
        readinessProbe: { httpGet: { path: '/probe', port: 'http' }, periodSeconds: 1, timeoutSeconds: 5 },
        securityContext: restricted,
        ...more,
      },
    ],
  };
}

function pod(name: string, labels: object, annotations: object = {}): string {
  const metadata = { name, labels, annotations };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: podSpec(APP) });
}

function app(labels: object, annotations: object = {}, replicas = 1, more: object = {}): string {
  const template = { metadata: { labels: { app: 'orders', ...labels }, annotations }, spec: podSpec(APP, more) };
  const spec = { replicas, selector: { matchLabels: { app: 'orders' } }, template };
  return JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'orders' }, spec });
}

const service = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'orders' },
  spec: { selector: { app: 'orders' }, ports: [{ port: 80, targetPort: 'http' }] },
});

/** The app, at this path alone. */
function apiSpec(path: string): string {
  const dispatch = { name: 'http-upstream', config: { url: 'upstream://app' } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Orders', version: '1' },
    paths: { [path]: { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch } } },
  };
  const spec = { source: { inline: JSON.stringify(document) } };
  return JSON.stringify({ apiVersion: 'gw.dev/v1alpha1', kind: 'ApiSpec', metadata: { name: 'orders' }, spec });
}

function project(allowedNamespaces: object = {}): string {
  const spec = {
    specs: { names: ['orders'] },
    plugins: [{ name: 'http-upstream' }],
    pods: { replicas: 0 },
    sidecar: { allowedNamespaces, resources: { requests: { cpu: '10m', memory: '64Mi' } } },
  };
  return JSON.stringify({ apiVersion: 'gw.dev/v1alpha1', kind: 'GatewayProject', metadata: { name: 'orders' }, spec });
}

const asks = { 'gw.dev/sidecar': 'true' };

async function ask(url: string, path: string) {
  const response = await fetch(url + path, { signal: AbortSignal.timeout(5000) });
  return { status: response.status, server: response.headers.get('server'), body: await response.text() };
}

/** The pod that answers on a connection of its own. */
async function podThatAnswers(url: string): Promise<string | null> {
  const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5000) });
  await response.text();
  return response.headers.get('pod');
}

/**
 * Until no node leads new connections to other pods any more. None of as many connections reached one: where one in
 * two would, this is wrong once in 2^40.
 */
async function outOfAllRoutes(url: string, pods: readonly string[]): Promise<void> {
  await eventually(async () => {
    for (let tries = 0; tries < 40; tries++) expect(pods).toContain(await podThatAnswers(url));
  });
}

const address = async (of: Kubectl) => `http://${await of.field('service/orders', '{.spec.clusterIP}')}`;

/** Until the pods of before are gone as well, which answer until all nodes know that they shall not. */
async function rolledOut(replicas: number): Promise<void> {
  await k('rollout', 'status', 'deployment.apps/orders', '--timeout=120s');
  await eventually(async () =>
    expect((await k('get', 'pods', '-l', 'app=orders', '-o', 'name')).trim().split('\n')).toHaveLength(replicas),
  );
}

/** An app that waits before it ends, and the command in its container with it. */
async function letEnd(pod: string): Promise<void> {
  await k('exec', pod, '-c', 'app', '--', 'node', '-e', `fetch('http://127.0.0.1:3000/go')`).catch(() => undefined);
}

async function scaleOperator(replicas: number): Promise<void> {
  const { release, system } = operator;
  const deployments = await execute('kubectl', ['-n', system, 'get', 'deployments.apps', '-o', 'name']);
  const [name = ''] = deployments.split('\n').filter((each) => each.includes(release) || each.includes('operator'));
  await execute('kubectl', ['-n', system, 'scale', name, `--replicas=${replicas}`]);
  if (replicas > 0) await execute('kubectl', ['-n', system, 'rollout', 'status', name, '--timeout=120s']);
  else await execute('kubectl', ['-n', system, 'wait', '--for=delete', 'pod', '--all', '--timeout=60s']);
}

describe.skipIf(missing.length > 0)(`sidecars on a cluster${skipped}`, () => {
  let url = '';

  beforeAll(async () => {
    await execute('kubectl', ['create', 'namespace', team]);
    await execute('kubectl', ['label', 'namespace', team, 'pod-security.kubernetes.io/enforce=restricted']);
    operator = await installOperator('sidecar', [`watchNamespaces[1]=${team}`]);
    k = operator.k;
    await k.apply(service);
    url = await address(k);
  });

  afterAll(async () => {
    // Nobody lets these end.
    await k?.('delete', 'pods', '-l', 'app=orders', '--grace-period=1', '--wait=false');
    await execute('kubectl', ['delete', 'namespace', team, '--wait=false']);
    await operator?.uninstall();
  });

  it('an app is served by itself before, and through its sidecar after, by the same Service', async () => {
    await k.apply(app({}));
    await k('rollout', 'status', 'deployment.apps/orders', '--timeout=120s');
    await eventually(async () =>
      expect(await ask(url, '/orders')).toEqual({ status: 200, server: null, body: 'app GET /orders' }),
    );
    await k.apply(apiSpec('/orders'));
    await k.apply(project());
    await k.condition('gatewayproject/orders', 'Stored');
    await k.apply(app(asks, { 'gw.dev/project': 'orders' }));
    await rolledOut(1);
    await eventually(async () => {
      const answer = await ask(url, '/orders');
      expect(answer).toMatchObject({ status: 200, server: expect.stringMatching(/^gw\//), body: 'app GET /orders' });
    });
    await eventually(async () => expect((await ask(url, '/secret')).status).toBe(404));
    const slice = JSON.parse(await k('get', 'endpointslices', '-l', 'kubernetes.io/service-name=orders', '-o', 'json'));
    expect(slice.items[0].ports[0].port).toBe(19080);
    await k.condition('gatewayproject/orders', 'Injected');
    await k.condition('gatewayproject/orders', 'Ready');
  });

  it('a new artifact reaches it without a change of the pod', async () => {
    const before = await k('get', 'pods', '-l', 'app=orders', '-o', 'jsonpath={.items[*].metadata.uid}');
    await k.apply(apiSpec('/orders/v2'));
    const started = performance.now();
    await eventually(async () => expect((await ask(url, '/orders/v2')).status).toBe(200));
    process.stderr.write(`apply to serving in a sidecar: ${Math.round(performance.now() - started)} ms\n`);
    expect((await ask(url, '/orders')).status).toBe(404);
    expect(await k('get', 'pods', '-l', 'app=orders', '-o', 'jsonpath={.items[*].metadata.uid}')).toBe(before);
    expect(
      await k(
        'get',
        'pods',
        '-l',
        'app=orders',
        '-o',
        'jsonpath={.items[*].status.initContainerStatuses[*].restartCount}',
      ),
    ).toBe('0');
    const hash = await k.field('gatewayproject/orders', '{.status.artifactHash}');
    await eventually(async () => {
      const status = JSON.parse(await k.field('gatewayproject/orders', '{.status.sidecars}'));
      expect(status).toMatchObject({ pods: 1, connected: 1, missing: 0, byHash: [{ artifactHash: hash, count: 1 }] });
    });
  });

  it('is rolled under load without a failed request, where the app waits until it is out of all routes', async () => {
    const lifecycle = { preStop: { httpGet: { path: '/wait', port: 'http' } } };
    await k.apply(app(asks, { 'gw.dev/project': 'orders' }, 2, { lifecycle }));
    // Those before had no such wait.
    await rolledOut(2);
    const before = await lastingPods(k, 'app=orders');
    await outOfAllRoutes(`${url}/orders/v2`, before);
    const load = startSteadyLoad(`${url}/orders/v2`, 50);
    try {
      await eventually(async () => expect(load.totals.answered).toBeGreaterThan(100));
      await k('rollout', 'restart', 'deployment.apps/orders');
      await k('rollout', 'status', 'deployment.apps/orders', '--timeout=120s');
      await outOfAllRoutes(`${url}/orders/v2`, await lastingPods(k, 'app=orders'));
      for (const pod of before) await letEnd(pod);
      await rolledOut(2);
    } finally {
      await load.stop();
      process.stderr.write(`${load.summary()}\n`);
    }
    expect(load.totals.failures.length, load.summary()).toBe(0);
    expect(load.totals.answered).toBe(load.totals.sent);
  });

  it('a pod of another namespace has one by grant alone, and without it is told why', async () => {
    const annotations = { 'gw.dev/project': `${operator.namespace}/orders` };
    await expect(t.apply(pod('foreign', { app: 'orders', ...asks }, annotations))).rejects.toThrow(
      `GatewayProject "${operator.namespace}/orders" does not exist, or its spec.sidecar.allowedNamespaces does not name "${team}"`,
    );
    await k.apply(project({ names: [team] }));
    await t.apply(service);
    await t.apply(pod('foreign', { app: 'orders', ...asks }, annotations));
    await t('wait', 'pod/foreign', '--for=condition=Ready', '--timeout=120s');
    const there = await address(t);
    await eventually(async () =>
      expect(await ask(there, '/orders/v2')).toMatchObject({ status: 200, body: 'app GET /orders/v2' }),
    );
    expect(await t('get', 'pod/foreign', '-o', 'json')).not.toContain(
      '"configMap": {\n                                "name": "orders-',
    );
  });

  it('a pod that cannot have one is refused by what it says itself', async () => {
    const named = { 'gw.dev/project': 'orders' };
    await expect(k.apply(pod('nowhere', asks))).rejects.toThrow('no annotation gw.dev/project names a GatewayProject');
    await expect(k.apply(pod('unnamed', asks, { ...named, 'gw.dev/port': 'web' }))).rejects.toThrow(
      'no TCP port named "web"',
    );
    await k.apply(pod('without', { 'gw.dev/sidecar': 'false' }, named));
    expect(await k.field('pod/without', '{.spec.initContainers}')).toBe('');
    await k('delete', 'pod', 'without', '--wait=false');
  });

  it('a Job with one ends', async () => {
    const template = {
      metadata: { labels: asks, annotations: { 'gw.dev/project': 'orders' } },
      spec: { ...podSpec(`setTimeout(() => console.log('done'), 2000)`), restartPolicy: 'Never' },
    };
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'once' },
      spec: { template, backoffLimit: 0 },
    };
    await k.apply(JSON.stringify(job));
    await k('wait', 'job/once', '--for=condition=Complete', '--timeout=120s');
    await k('delete', 'job', 'once');
  });

  it('while the operator is away, it restarts with what it served, and a pod that is missed is reported afterwards', async () => {
    await scaleOperator(0);
    // Of another namespace: there is no artifact in its pod but the one that it kept.
    await t('exec', 'foreign', '-c', 'gw-sidecar', '--', 'node', '-e', `process.kill(1, 'SIGTERM')`);
    await eventually(async () =>
      expect(await t.field('pod/foreign', '{.status.initContainerStatuses[0].restartCount}')).toBe('1'),
    );
    await t('wait', 'pod/foreign', '--for=condition=Ready', '--timeout=120s');
    const there = await address(t);
    await eventually(async () => expect((await ask(there, '/orders/v2')).status).toBe(200));

    await k.apply(pod('missed', asks, { 'gw.dev/project': 'orders' }));
    expect(await k.field('pod/missed', '{.spec.initContainers}')).toBe('');
    await scaleOperator(2);
    await k.condition('gatewayproject/orders', 'Injected', 'False');
    expect(await k.field('gatewayproject/orders', '{.status.conditions[?(@.type=="Injected")].message}')).toContain(
      `${operator.namespace}/missed`,
    );
    expect(await k.field('gatewayproject/orders', '{.status.sidecars.missing}')).toBe('1');
    await eventually(async () => expect(await k('describe', 'pod', 'missed')).toContain('SidecarMissing'));
    await k('delete', 'pod', 'missed', '--wait=false');
    await k.apply(pod('missed-no-more', asks, { 'gw.dev/project': 'orders' }));
    await k.condition('gatewayproject/orders', 'Injected', 'True');
    expect(await k.field('pod/missed-no-more', '{.spec.initContainers[0].name}')).toBe('gw-sidecar');
  });
});
