/**
 * The operator with the chart's rights and no others, through what needs them: nothing is refused, and each verb that
 * is granted is used. Needs KUBECONFIG, kubectl and helm.
 */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OWN_RULES, RULES, type Rule } from '../../operator/src/api/rbac.ts';
import { execute } from '../e2e/kubectl.ts';
import { ApiProxy } from './api-proxy.ts';
import { apiSpec, document, project } from './manifests.ts';
import { OperatorProcess } from './operator-process.ts';
import { User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';
const CHART = join(import.meta.dirname, '..', '..', 'charts', 'operator');

/** Of APIs that a cluster need not have: what is written there is seen only where they are installed. */
const OPTIONAL = ['httproutes', 'podmonitors'];
/** What is used by what this test has none of. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['get gw.dev/gatewayprojects', 'sidecars and the data-plane link'],
  ['get pods', 'the data-plane link'],
  ['delete apps/deployments', 'the end of a canary'],
]);
/** Pods that never run: nothing here is about them. */
const NOWHERE = { nodeSelector: { 'gw.dev/nowhere': 'true' } };

/** Everything that a project can own, and a change of it. */
const FULL = project({
  pods: { ...NOWHERE, autoscaling: { minReplicas: 2, maxReplicas: 3 } },
  networkPolicy: { enabled: true },
  exposure: { ingress: { hosts: ['books.example.org'] } },
  monitoring: { dashboard: {} },
  signing: { keySecret: { name: 'signing' } },
});
const BARE = project({ networkPolicy: { enabled: false } });

const granted = (rules: readonly Rule[]) =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group ? `${group}/` : ''}${resource}`)),
    ),
  );
const isOptional = (right: string) => OPTIONAL.some((plural) => right.endsWith(`/${plural}`));
const wait = { timeout: 60_000, interval: 200 };

describe.skipIf(missing !== '')(`the operator with the chart's rights${missing}`, () => {
  let user: User;
  const closing: (() => Promise<unknown>)[] = [];

  /** The chart's roles, and an operator that has them. */
  async function install(set: readonly string[], args: readonly string[]) {
    const name = user.namespace;
    const chart = await execute('helm', [
      'template',
      name,
      CHART,
      '-n',
      name,
      '--kube-version',
      '1.34.0',
      '--show-only',
      'templates/rbac.yaml',
      ...set,
    ]);
    await execute('kubectl', ['apply', '-f', '-'], chart);
    closing.push(() => execute('kubectl', ['delete', '--ignore-not-found', '-f', '-'], chart));
    const account = /kind: ServiceAccount\nmetadata:\n {2}name: (\S+)/.exec(chart)?.[1] ?? '';
    const proxy = await ApiProxy.start({ impersonate: { namespace: name, name: account } });
    const operator = await OperatorProcess.start(proxy.kubeconfig, ['--namespace', name, ...args]);
    closing.push(
      () => proxy.close(),
      () => operator.stop('SIGKILL'),
    );
    await operator.until('watching');
    return { proxy, operator };
  }

  beforeAll(async () => {
    user = await User.start('rbac');
  });
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await user.leave();
    await user.api.close();
  });

  it('uses each of them, and is refused nothing', async () => {
    const { proxy, operator } = await install(
      ['--set', `watchNamespaces={${user.namespace}}`],
      ['--namespaces', user.namespace],
    );
    const condition = (type: string, expected: string) =>
      vi.waitFor(async () => expect(await user.condition('GatewayProject', 'books', type)).toBe(expected), wait);
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
    await user.apply('PluginRef', 'mock', { spec: { source: { builtin: {} } } });
    await user.apply('Deployment', 'books', { spec: { project: 'books', artifact: { latest: true } } });
    await user.apply('GatewayProject', 'books', FULL);
    await condition('Stored', 'True Stored');
    await vi.waitFor(async () => expect(await user.list('Ingress')).toHaveLength(1), wait);
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
    await user.apply('GatewayProject', 'books', BARE);
    await vi.waitFor(async () => {
      for (const kind of ['Ingress', 'HorizontalPodAutoscaler', 'NetworkPolicy', 'PodDisruptionBudget'] as const)
        expect(await user.list(kind)).toEqual([]);
    }, wait);

    const refused = proxy.requests.filter(({ status }) => status === 403 || status === 401);
    expect(refused).toEqual([]);
    // Read while there was nobody to be waited for: Leases are renewed.
    await vi.waitFor(() => expect([...proxy.counts.keys()]).toContain('update coordination.k8s.io/leases'), wait);
    expect(await operator.stop()).toBe(0);
    const unused = granted([...RULES, ...OWN_RULES]).filter(
      (right) => !isUsed(proxy, right) && !isOptional(right) && !ELSEWHERE.has(right),
    );
    expect(unused).toEqual([]);
  }, 420_000);
});

/** An object that does not exist is created by a patch, which needs both rights. */
function isUsed(proxy: ApiProxy, right: string): boolean {
  if (!right.startsWith('create ')) return proxy.counts.has(right);
  const made = ({ verb, group, resource, status }: (typeof proxy.requests)[number]) =>
    status === 201 &&
    (verb === 'patch' || verb === 'create') &&
    right === `create ${group ? `${group}/` : ''}${resource}`;
  return proxy.requests.some(made);
}
