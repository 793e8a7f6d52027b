/**
 * What GitOps does to our kinds on a real cluster, in any order: apply, diff, prune, delete, and a namespace that goes
 * in the midst of a rollout. Needs KUBECONFIG and the image in the cluster as GW_E2E_IMAGE, kubectl and helm.
 */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argoHealth } from '../argo-health.ts';
import { eventually } from '../eventually.ts';
import { apiSpec, document } from '../operator/manifests.ts';
import { type InstalledOperator, missing, skipped } from './installed-operator.ts';
import { execute, type Kubectl, kubectl } from './kubectl.ts';
import { lookedAt, sharedOperator } from './shared-operator.ts';

const MADE =
  'configmaps,services,serviceaccounts,deployments.apps,replicasets,pods,networkpolicies,poddisruptionbudgets';

const gw = (kind: string, name: string, spec: object) => ({
  apiVersion: 'gw.dev/v1alpha1',
  kind,
  metadata: { name, labels: { app: 'books' } },
  spec,
});
const spec = (name: string, title = name) => ({
  ...gw('ApiSpec', name, {}),
  ...apiSpec(title, `/${name}`),
  metadata: { name, labels: { app: 'books' } },
});
const project = gw('GatewayProject', 'books', {
  specs: { selector: { matchLabels: { app: 'books' } } },
  plugins: [{ name: 'mock', pluginRef: 'mock' }],
  pods: { replicas: 1 },
});
const objects = [
  spec('one'),
  spec('two'),
  gw('PluginRef', 'mock', { plugin: 'mock', source: { builtin: {} } }),
  project,
  gw('Deployment', 'books', { project: 'books', artifact: { latest: true } }),
];
const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const named = ({ kind, metadata }: (typeof objects)[number]) => `${kind.toLowerCase()}.gw.dev/${metadata.name}`;

describe.skipIf(missing.length > 0)(`GitOps on a cluster${skipped}`, () => {
  let operator: InstalledOperator;
  let k: Kubectl;
  const doomed = `gw-doomed-${randomBytes(3).toString('hex')}`;

  const run = (items: readonly object[], ...args: readonly string[]) =>
    execute('kubectl', ['-n', operator.namespace, ...args, '-f', '-'], list(items));
  const ready = async (...names: readonly string[]) => {
    for (const name of names) await k.condition(name, 'Ready');
  };
  const made = () => k('get', MADE, '-l', 'gw.dev/project=books', '-o', 'name');
  const nothingLeft = () => eventually(async () => expect(await made()).toBe(''));

  beforeAll(async () => {
    operator = await sharedOperator('gitops');
    k = operator.k;
  });
  afterAll(async () => {
    await execute('kubectl', ['delete', 'namespace', doomed, '--ignore-not-found', '--wait=false']);
    await operator.uninstall();
  });

  it('a diff after an apply is empty, however it was applied', async () => {
    await run(objects, 'apply');
    await ready(...objects.map(named));
    for (const name of objects.map(named)) {
      const health = await argoHealth(JSON.parse(await k('get', name, '-o', 'json')));
      expect(health, name).toMatchObject({ status: 'Healthy' });
    }
    // It ends with status 1 where there is a difference.
    expect(await run(objects, 'diff')).toBe('');
    await expect(run([spec('one', 'changed')], 'diff')).rejects.toThrow();
    const serverSide = ['--server-side', '--field-manager=argocd-controller', '--force-conflicts'];
    await run(objects, 'apply', ...serverSide);
    expect(await run(objects, 'diff', ...serverSide)).toBe('');
    await run(objects, 'apply');
    expect(await run(objects, 'diff')).toBe('');
  });

  it('an apply with --prune takes away what is no longer declared, and nothing of ours', async () => {
    const before = await made();
    const kinds = ['ApiSpec', 'GatewayProject', 'PluginRef', 'Deployment'].map((kind) => `gw.dev/v1alpha1/${kind}`);
    const others = ['core/v1/Service', 'core/v1/ConfigMap', 'core/v1/ServiceAccount', 'apps/v1/Deployment'];
    const prune = ['--prune', '-l', 'app=books', ...[...kinds, ...others].map((kind) => `--prune-allowlist=${kind}`)];
    const less = objects.filter(({ metadata }) => metadata.name !== 'two');
    const hash = await k.field('gatewayproject/books', '{.status.artifactHash}');
    expect((await run(less, 'apply', ...prune)).match(/^.* pruned$/gm)).toEqual(['apispec.gw.dev/two pruned']);
    await eventually(async () =>
      expect(await k.field('gatewayproject/books', '{.status.artifactHash}')).not.toBe(hash),
    );
    await ready('gatewayproject/books');
    expect((await made()).split('\n')).toEqual(
      expect.arrayContaining(before.match(/^(service|deployment).*$/gm) ?? []),
    );
    await run([spec('one')], 'apply', ...prune);
    await nothingLeft();
    await k('delete', 'apispec', 'one');
  });

  it.each([
    ['in the order of the manifests', [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]],
    ['the other way round', [4, 3, 2, 1, 0], [4, 3, 2, 1, 0]],
    ['mixed', [3, 0, 4, 2, 1], [2, 4, 1, 3, 0]],
  ])('applied and deleted one by one, %s', async (_, applied, deleted) => {
    const at = (order: readonly number[]) => order.flatMap((n) => objects[n] ?? []);
    // A project whose documents were deleted before it, in the case before, has said so.
    await k('delete', 'events', '--all');
    for (const object of at(applied)) await run([object], 'apply');
    await ready(...objects.map(named));
    // What was on its way was no fault.
    const { items }: { items: { reason: string; reportingComponent?: string }[] } = JSON.parse(
      await k('get', 'events', '--field-selector', 'type=Warning', '-o', 'json'),
    );
    expect(items.filter(({ reportingComponent }) => reportingComponent === 'gw.dev/operator')).toEqual([]);
    for (const object of at(deleted)) await k('delete', named(object), '--timeout=30s');
    await nothingLeft();
  });

  it('Kustomize renames what is declared, and generates what it is made from', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'gw-kustomize-'));
    try {
      const inMap = { ...spec('one'), spec: { source: { configMap: { name: 'files' } } } };
      const resources = [inMap, ...objects.filter(({ kind }) => kind !== 'ApiSpec')];
      await writeFile(join(dir, 'objects.json'), list(resources));
      await writeFile(join(dir, 'one.yaml'), document('one', '/one'));
      await cp(join(import.meta.dirname, '..', '..', 'kustomize'), join(dir, 'gw'), { recursive: true });
      const kustomization = {
        resources: ['objects.json'],
        components: ['./gw'],
        namePrefix: 'dev-',
        configMapGenerator: [{ name: 'files', files: ['one.yaml'] }],
      };
      await writeFile(join(dir, 'kustomization.yaml'), JSON.stringify(kustomization));
      await k('apply', '-k', dir);
      await ready('apispec/dev-one', 'pluginref/dev-mock', 'gatewayproject/dev-books', 'gwdeploy/dev-books');
      await k('delete', '-k', dir, '--timeout=60s');
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it('a namespace that is deleted in the midst of a rollout goes, and the operator goes on', async () => {
    await execute('kubectl', ['create', 'namespace', doomed]);
    await lookedAt(doomed);
    const there = kubectl(doomed);
    await execute('kubectl', ['-n', doomed, 'apply', '-f', '-'], list(objects));
    await there.condition('gatewayproject/books', 'Ready');
    const first = await there.field('gatewayproject/books', '{.status.artifactHash}');
    await there.apply(list([spec('one', 'next')]));
    await eventually(async () =>
      expect(await there.field('gatewayproject/books', '{.status.artifactHash}')).not.toBe(first),
    );
    expect(await there.field('gatewayproject/books', '{.status.conditions[?(@.type=="Ready")].status}')).toBe('False');
    await execute('kubectl', ['delete', 'namespace', doomed, '--timeout=120s']);
    // A namespace of that name that comes back is served as any other.
    await execute('kubectl', ['create', 'namespace', doomed]);
    await lookedAt(doomed);
    expect(await there('get', MADE, '-l', 'gw.dev/project', '-o', 'name')).toBe('');
    await there.apply(list(objects));
    await there.condition('gatewayproject/books', 'Ready');
    const pods = JSON.parse(await execute('kubectl', ['-n', operator.system, 'get', 'pods', '-o', 'json']));
    expect(pods.items).toHaveLength(2);
    for (const { status } of pods.items) expect(status.containerStatuses[0].restartCount).toBe(0);
    expect(
      (await operator.logs()).split('\n').filter((line) => /forbidden/i.test(line) && !/terminated/.test(line)),
    ).toEqual([]);
  });
});
