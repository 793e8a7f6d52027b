/**
 * The operator with the chart's rights and no others, through what needs them: nothing is refused, and each verb that
 * is granted is used. Needs KUBECONFIG, kubectl and helm.
 */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWN_RULES, RULES } from '../../operator/src/install/rbac.ts';
import { foreignKinds, hasGo } from '../e2e/foreign-kinds/crds.ts';
import { kindsGone } from '../e2e/kinds-gone.ts';
import { execute } from '../e2e/kubectl.ts';
import { eventually } from '../eventually.ts';
import { chartRights, LINKED } from './chart-rights.ts';
import { apiSpec, document, project } from './manifests.ts';
import { OperatorProcess } from './operator-process.ts';
import { type Manifest, User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';

/** Of APIs that a cluster need not have: without go, which fetches them, they are not used here. */
const OPTIONAL = hasGo ? [] : ['httproutes', 'podmonitors'];
/** Pods that never run: nothing here is about them. */
const NOWHERE = { nodeSelector: { 'gw.dev/nowhere': 'true' } };

/** Everything that a project can own, and a change of it. */
const FULL = project({
  pods: { ...NOWHERE, autoscaling: { minReplicas: 2, maxReplicas: 3 } },
  networkPolicy: { enabled: true },
  exposure: { ingress: { hosts: ['books.example.org'] }, httpRoute: { parentRefs: [{ name: 'gate' }] } },
  monitoring: { podMonitor: {}, dashboard: {} },
  signing: { keySecret: { name: 'signing' } },
});
const BARE = project({ networkPolicy: { enabled: false } });

const canary = (uid: string): Manifest => ({
  metadata: {
    labels: { 'gw.dev/project': 'books' },
    ownerReferences: [{ apiVersion: 'gw.dev/v1alpha1', kind: 'GatewayProject', name: 'books', uid, controller: true }],
  },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'canary' } },
    template: {
      metadata: { labels: { app: 'canary' } },
      spec: { containers: [{ name: 'gateway', image: 'gw.invalid/gw:test' }] },
    },
  },
});
const isOptional = (right: string) => OPTIONAL.some((plural) => right.endsWith(`/${plural}`));

describe.skipIf(missing !== '')(`the operator with the chart's rights${missing}`, () => {
  let user: User;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    user = await User.start('rbac');
    if (!hasGo) return;
    const { manifests, names } = await foreignKinds();
    await execute('kubectl', ['apply', '--server-side', '-f', '-'], manifests);
    closing.push(async () => {
      await execute('kubectl', ['delete', ...names, '--wait=false']);
      await kindsGone((...args) => execute('kubectl', args), names);
    });
    await execute('kubectl', ['wait', ...names, '--for=condition=Established', '--timeout=30s']);
  });
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await user.leave();
    await user.api.close();
  });

  it('uses each of them, and is refused nothing', async () => {
    const rights = await chartRights(user.namespace, [`watchNamespaces={${user.namespace}}`]);
    closing.push(() => rights.close());
    const { proxy } = rights;
    const watched = ['--namespace', user.namespace, '--namespaces', user.namespace];
    const operator = await OperatorProcess.start(proxy.kubeconfig, watched);
    closing.push(() => operator.stop('SIGKILL'));
    await operator.until('watching');
    const condition = (type: string, expected: string) =>
      eventually(async () => expect(await user.condition('GatewayProject', 'books', type)).toBe(expected));
    const { privateKey } = generateKeyPairSync('ed25519');
    await user.apply('Secret', 'signing', {
      stringData: { 'signing.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }) },
    });
    await user.apply('ConfigMap', 'docs', { data: { 'books.json': document('docs', '/docs') } });
    await user.apply('ApiSpec', 'docs', {
      metadata: { labels: { app: 'books' } },
      spec: { source: { configMap: { name: 'docs' } } },
    });
    await user.apply('ApiSpec', 'books', apiSpec('one'));
    await user.apply('PluginRef', 'mock', { spec: { plugin: 'mock', source: { builtin: {} } } });
    await user.apply('Deployment', 'books', { spec: { project: 'books', artifact: { latest: true } } });
    await user.apply('GatewayProject', 'books', FULL);
    await condition('Stored', 'True Stored');
    await eventually(async () => expect(await user.list('Ingress')).toHaveLength(1));
    // The same Event twice is a series: it does not compile, does, and does not again.
    for (const title of ['broken', 'two', 'broken', 'two']) {
      const broken = apiSpec('one');
      await user.apply(
        'ApiSpec',
        'books',
        title === 'broken' ? { ...broken, spec: { source: { inline: '{' } } } : apiSpec(title),
      );
      await condition('Compiled', title === 'broken' ? 'False CompileFailed' : 'True Compiled');
    }
    // What an operator that was killed has left of a canary.
    const owner = await user.get('GatewayProject', 'books');
    await user.apply('Workload', 'books-gateway-canary', canary(owner?.metadata.uid ?? ''));
    await eventually(async () => expect(await user.get('Workload', 'books-gateway-canary')).toBeUndefined());
    await user.apply('GatewayProject', 'books', BARE);
    await eventually(async () => {
      for (const kind of ['Ingress', 'HorizontalPodAutoscaler', 'NetworkPolicy', 'PodDisruptionBudget'] as const)
        expect(await user.list(kind)).toEqual([]);
    });

    const refused = proxy.requests.filter(({ status }) => status === 403 || status === 401);
    expect(refused).toEqual([]);
    // Read while there was nobody to be waited for: Leases are renewed.
    await eventually(() => expect([...proxy.counts.keys()]).toContain('update coordination.k8s.io/leases'));
    expect(await operator.stop()).toBe(0);
    const unused = rights.unused([...RULES, ...OWN_RULES]).filter((right) => !isOptional(right) && !LINKED.has(right));
    expect(unused).toEqual([]);
  });
});
