/**
 * `helm upgrade` of the operator from the chart's first release, on a cluster with pods and under load, then `helm test`
 * and `helm uninstall`. GW_E2E_FIRST_IMAGE is the image of that release; default: the one that is tested.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { image, LITTLE, missing, skipped } from './installed-operator.ts';
import { DRAIN_SECONDS, execute, kubectl, lastingPods } from './kubectl.ts';
import { startLoad } from './load.ts';

const firstImage = process.env['GW_E2E_FIRST_IMAGE'] ?? image;
const root = join(import.meta.dirname, '..', '..');
const first = join(root, 'test', 'helm', 'releases', 'gw-operator-0.8.0.tgz');
const now = join(root, 'charts', 'operator');
const run = randomBytes(3).toString('hex');
const [system, namespace, release] = [`gw-system-upgrade-${run}`, `gw-upgrade-${run}`, `gw-operator-upgrade-${run}`];
const k = kubectl(namespace);

const projectNamed = (name: string, replicas: number, drain: number) => `
apiVersion: gw.dev/v1alpha1
kind: GatewayProject
metadata: {name: ${name}}
spec:
  specs: {names: [shop]}
  plugins: [{name: mock}]
  pods: {image: "${image}", replicas: ${replicas}, resources: ${JSON.stringify(LITTLE)}}
  serve: {drainDelay: ${drain}}
  rollout: {progressDeadlineSeconds: 10}
---`;
const objects = `${projectNamed('shop', 2, DRAIN_SECONDS)}
apiVersion: gw.dev/v1alpha1
kind: ApiSpec
metadata: {name: shop}
spec:
  source:
    inline: |
      openapi: 3.1.0
      info: {title: Shop, version: "1"}
      paths:
        /status:
          get:
            operationId: status
            responses: {"200": {description: OK}}
            x-gw-dispatch: {name: mock, config: {body: "open"}}
`;

function helm(command: string, chart: string, tagged: string, values: readonly string[] = []): Promise<string> {
  const colon = tagged.lastIndexOf(':');
  return execute('helm', [
    ...[command, release, chart, '-n', system, '--wait', '--timeout', '240s'],
    ...['--set', `image.repository=${tagged.slice(0, colon)}`, '--set-string', `image.tag=${tagged.slice(colon + 1)}`],
    ...['--set', `watchNamespaces={${namespace}}`, '--set', 'crds.install=false'],
    ...['--set', `resources.requests.cpu=${LITTLE.requests.cpu}`],
    ...values.flatMap((value) => ['--set', value]),
  ]);
}

/** Everything that the release and the operator have in its namespace or in none, but what a namespace always has. */
async function left(): Promise<readonly string[]> {
  const kinds = [
    'all',
    'lease',
    'secret',
    'configmap',
    'serviceaccount',
    'role',
    'rolebinding',
    'networkpolicy',
    'pdb',
  ];
  const own = await execute('kubectl', ['-n', system, 'get', [...kinds, 'endpointslice'].join(), '-o', 'name']);
  const roles = 'clusterrole,clusterrolebinding,validatingwebhookconfiguration,mutatingwebhookconfiguration';
  const wide = await execute('kubectl', ['get', roles, '-l', `app.kubernetes.io/instance=${release}`, '-o', 'name']);
  const always = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];
  return `${own}${wide}`.split('\n').filter((name) => name !== '' && !always.includes(name));
}

describe.skipIf(missing.length > 0)(`an upgrade of the operator's chart${skipped}`, () => {
  let uid = '';
  let hash = '';
  const project = 'gatewayproject/shop';

  beforeAll(async () => {
    // Shared by every suite that runs at the same time, so no release owns them.
    await execute('kubectl', ['apply', '--server-side', '--force-conflicts', '-f', join(root, 'crds')]);
    for (const each of [system, namespace]) {
      await execute('kubectl', ['create', 'namespace', each]);
      await execute('kubectl', ['label', 'namespace', each, 'pod-security.kubernetes.io/enforce=restricted']);
    }
    await helm('install', first, firstImage);
    await k.apply(objects);
    await k.condition(project, 'Ready');
    uid = await k.field(project, '{.metadata.uid}');
    hash = await k.field(project, '{.status.artifactHash}');
  });

  afterAll(async () => {
    await execute('kubectl', ['delete', 'namespace', namespace, '--wait=false']);
    await execute('kubectl', ['delete', 'namespace', system, '--wait=false']);
  });

  it('does not harm traffic, and leaves objects and what they serve as they are', async () => {
    const url = `http://${await k.field('service/shop-gateway', '{.spec.clusterIP}')}/status`;
    await eventually(async () => expect((await fetch(url)).status).toBe(200));
    const load = startLoad(url, 50, {});
    await eventually(() => expect(load.sent).toBeGreaterThan(50));
    await helm('upgrade', now, image);
    // The new one reconciles: what is asked of it now, it does.
    await k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', '{"spec":{"pods":{"replicas":3}}}');
    await eventually(async () => expect(await k.field(project, '{.status.pods.programmed}')).toBe('3'));
    await k.condition(project, 'Ready');
    await load.stop();
    expect(load.sent).toBeGreaterThan(100);
    expect(load.failures).toEqual([]);
    expect(await k.field(project, '{.metadata.uid}')).toBe(uid);
    expect(await k.field(project, '{.status.artifactHash}')).toBe(hash);
  });

  it('replaces the pods of a few projects at a time, and of no more while those fail', async () => {
    const others = ['a', 'b'];
    await k.apply(others.map((name) => projectNamed(name, 1, 1)).join('\n'));
    const all = ['shop', ...others].map((name) => `gatewayproject/${name}`);
    await Promise.all(all.map((each) => k.condition(each, 'Ready')));
    const reasons = async () => {
      const path = '{.status.conditions[?(@.type=="Updated")].reason} {.status.conditions[?(@.type=="Ready")].status}';
      return (await Promise.all(all.map((each) => k.field(each, path)))).toSorted();
    };
    const url = `http://${await k.field('service/shop-gateway', '{.spec.clusterIP}')}/status`;
    const load = startLoad(url, 50, {});
    // Pods that no node takes: the first project keeps the only place.
    await helm('upgrade', now, image, ['updatesAtOnce=1', 'policy.podDefaults.spec.nodeSelector.is=nowhere']);
    const stopped = ['UpdateFailed True', 'UpdateStopped True', 'UpdateStopped True'];
    await eventually(async () => expect(await reasons()).toEqual(stopped));
    const pending = await k('get', 'pods', '--field-selector=status.phase=Pending', '-o', 'name');
    expect(pending.trim().split('\n')).toHaveLength(pending.includes('shop-') ? 2 : 1);
    await helm('upgrade', now, image, ['updatesAtOnce=1', 'policy.podDefaults.metadata.labels.is=right']);
    await eventually(async () => expect(await reasons()).toEqual(Array(3).fill('Updated True')));
    expect(await lastingPods(k, 'is=right')).toHaveLength(5);
    await load.stop();
    expect(load.failures).toEqual([]);
  });

  it('passes helm test', async () => {
    const said = await execute('helm', ['test', release, '-n', system, '--timeout', '180s']);
    expect(said).toContain('Phase:          Succeeded');
    expect(said).not.toContain('Failed');
  });

  it('uninstalled, it leaves nothing of its own, and gateways go on serving', async () => {
    const url = `http://${await k.field('service/shop-gateway', '{.spec.clusterIP}')}/status`;
    await execute('helm', ['uninstall', release, '-n', system, '--wait']);
    await eventually(async () => expect(await left()).toEqual([]));
    expect((await fetch(url)).status).toBe(200);
    expect(await k.field(project, '{.metadata.uid}')).toBe(uid);
  });
});
