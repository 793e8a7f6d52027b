/**
 * What charts do to an API server that knows nothing of us: install with defaults, upgrade from the first release,
 * uninstall, and whether each object of each chart is one that it takes. No pod need run. Needs helm, kubectl, and a
 * kubeconfig of such a cluster, on which nothing else works, as GW_E2E_EMPTY_KUBECONFIG.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kinds } from '../../operator/src/api/resources.ts';
import { eventually } from '../eventually.ts';
import { at, charts, fromValues, ofKind, parseManifests, renderText, root, valuesFiles } from '../helm/helm.ts';
import { foreignKinds, hasGo } from './foreign-kinds/crds.ts';
import { kindsGone } from './kinds-gone.ts';

const run = promisify(execFile);
const kubeconfig = process.env['GW_E2E_EMPTY_KUBECONFIG'] ?? '';
const skipped = kubeconfig ? '' : ' (skipped: GW_E2E_EMPTY_KUBECONFIG not set)';
const first = join(root, 'test', 'helm', 'releases', 'gw-operator-0.8.0.tgz');
const now = join(charts, 'operator');
const crds = kinds.map(({ plural }) => `customresourcedefinition.apiextensions.k8s.io/${plural}.gw.dev`).toSorted();
/** Kinds of others, which are not in a plain cluster. */
const FOREIGN = /^apiVersion: (monitoring\.coreos\.com|gateway\.networking\.k8s\.io|cert-manager\.io)\//m;

async function ask(program: string, args: readonly string[], stdin?: string) {
  const running = run(program, [...args], { maxBuffer: 64 << 20, env: { ...process.env, KUBECONFIG: kubeconfig } });
  running.child.stdin?.end(stdin ?? '');
  return running;
}
const kubectl = async (...args: readonly string[]) => (await ask('kubectl', args)).stdout;
const helm = async (...args: readonly string[]) => (await ask('helm', args)).stdout;
const operator = (command: string, chart: string, ...options: readonly string[]) =>
  helm(command, 'gw-operator', chart, '-n', 'gw-system', ...options);

/** Every object of the cluster but Events, by the API server's own list of what there may be. */
async function everything(): Promise<readonly string[]> {
  const listable = (await kubectl('api-resources', '--verbs=list', '-o', 'name')).split('\n').filter(Boolean);
  const wanted = listable.filter((name) => !name.startsWith('events') && !name.endsWith('.gw.dev'));
  const names = await kubectl('get', wanted.join(), '-A', '-o', 'name', '--ignore-not-found');
  // What comes and goes by itself: leases and slices of the control plane, the namespace and what comes with it.
  return names.split('\n').filter((name) => name !== '' && !/^(lease|endpointslice|namespace|apiservice)/.test(name));
}

const project = `
apiVersion: gw.dev/v1alpha1
kind: GatewayProject
metadata: {name: shop, namespace: default}
spec: {specs: {names: [shop]}}
`;

describe.skipIf(!kubeconfig)(`an empty cluster${skipped}`, () => {
  let before: readonly string[] = [];

  beforeAll(async () => {
    expect(await kubectl('get', 'crd', '-o', 'name'), 'the cluster has kinds of others').toBe('');
    await kubectl('create', 'namespace', 'gw-system');
    await kubectl('label', 'namespace', 'gw-system', 'default', 'pod-security.kubernetes.io/enforce=restricted');
    await eventually(async () => {
      before = await everything();
      // Of five namespaces, each.
      expect(before.filter((name) => name === 'configmap/kube-root-ca.crt')).toHaveLength(5);
      expect(before.filter((name) => name === 'serviceaccount/default')).toHaveLength(5);
    });
  });

  afterAll(async () => {
    await kubectl('delete', 'namespace', 'gw-system', '--wait=true', '--timeout=60s');
    await kubectl('label', 'namespace', 'default', 'pod-security.kubernetes.io/enforce-');
  });

  const uninstall = () => helm('uninstall', 'gw-operator', '-n', 'gw-system', '--wait');
  const removeKinds = async (names = crds) => {
    await kubectl('delete', ...names, '--wait=false');
    await kindsGone(kubectl, names);
  };
  const leaves = (...left: readonly string[]) =>
    eventually(async () => expect((await everything()).toSorted()).toEqual([...before, ...left].toSorted()));

  it('takes the defaults, and keeps nothing but the kinds when they go', async () => {
    await operator('install', now);
    await kubectl('wait', ...crds, '--for=condition=Established', '--timeout=30s');
    expect(await kubectl('-n', 'gw-system', 'get', 'deployment,service', '-o', 'name')).toContain(
      'gw-operator-webhooks',
    );
    // With no replica to ask, what is declared is taken: webhooks fail open.
    await ask('kubectl', ['apply', '-f', '-'], project);
    await uninstall();
    await leaves(...crds);
    expect(await kubectl('get', 'gatewayproject', 'shop', '-o', 'name')).toContain('shop');
    // And takes them up again: a release may come back to what an earlier one kept.
    await operator('install', now);
    await operator('upgrade', now, '--set', 'crds.keep=false');
    await Promise.all([uninstall(), kindsGone(kubectl, crds)]);
    await leaves();
  });

  it('upgrades the kinds with the release, and keeps what was declared', async () => {
    await operator('install', first);
    await kubectl('wait', ...crds, '--for=condition=Established', '--timeout=30s');
    await ask('kubectl', ['apply', '-f', '-'], project);
    const uid = await kubectl('get', 'gatewayproject', 'shop', '-o', 'jsonpath={.metadata.uid}');
    const canary = [
      'patch',
      'gatewayproject',
      'shop',
      '--type=merge',
      '-p',
      '{"spec":{"rollout":{"strategy":"Canary"}}}',
    ];
    const strategy = () => kubectl('get', 'gatewayproject', 'shop', '-o', 'jsonpath={.spec.rollout.strategy}');
    await kubectl(...canary);
    expect(await strategy()).toBe('');
    await operator('upgrade', now);
    await eventually(async () => {
      await kubectl(...canary);
      expect(await strategy()).toBe('Canary');
    });
    expect(await kubectl('get', 'gatewayproject', 'shop', '-o', 'jsonpath={.metadata.uid}')).toBe(uid);
    await uninstall();
    await leaves(...crds);
    await removeKinds();
  });

  const names = readdirSync(charts, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const cases = names.flatMap((chart) => valuesFiles(chart).map((file) => [chart, file] as const));

  /** The manifests of a chart, one string each; helm puts `---` before each. */
  async function documents(chart: string, file: string): Promise<readonly string[]> {
    const text = await renderText(chart, ...fromValues(chart, file));
    return text.split(/^---\n/m).filter((document) => /^kind:/m.test(document));
  }

  /** Has the API server look at them; what is no error, but a warning (Pod Security, deprecated fields), fails, too. */
  async function dryRun(wanted: readonly string[]): Promise<void> {
    const { stdout, stderr } = await ask(
      'kubectl',
      ['apply', '--dry-run=server', '--validate=strict', '-f', '-'],
      wanted.join('\n---\n'),
    );
    expect(stdout.split('\n').filter(Boolean)).toHaveLength(wanted.length);
    expect(stderr).toBe('');
  }

  it.each(cases)('takes every object of the chart %s with %s, and no field of them is unknown', async (chart, file) => {
    const own = (await documents(chart, file)).filter((document) => !FOREIGN.test(document));
    const objects = parseManifests(own.join('\n---\n'));
    const namespaces = new Set(objects.map((object) => at(object, 'metadata.namespace')));
    const missing = [...namespaces].filter((name) => typeof name === 'string').filter((name) => name !== 'gw-system');
    for (const name of missing) await kubectl('create', 'namespace', name);
    // Pods are only taken where what they run as is there.
    const accounts = ofKind(objects, 'ServiceAccount').map((object) => JSON.stringify(object));
    if (accounts.length > 0) await ask('kubectl', ['apply', '-f', '-'], accounts.join('\n---\n'));
    try {
      await dryRun(own);
    } finally {
      if (accounts.length > 0) await ask('kubectl', ['delete', '-f', '-'], accounts.join('\n---\n'));
      for (const name of missing) await kubectl('delete', 'namespace', name, '--wait=false');
    }
  });

  it.skipIf(!hasGo)(
    `takes objects of kinds of others, where they are installed${hasGo ? '' : ' (skipped: go is not installed)'}`,
    async () => {
      const foreign = await foreignKinds();
      await ask('kubectl', ['apply', '--server-side', '-f', '-'], foreign.manifests);
      try {
        await kubectl('wait', ...foreign.names, '--for=condition=Established', '--timeout=30s');
        const all = await Promise.all(cases.map(([chart, file]) => documents(chart, file)));
        const wanted = all.flat().filter((document) => FOREIGN.test(document));
        expect(new Set(parseManifests(wanted.join('\n---\n')).map((object) => object['kind']))).toEqual(
          new Set(['Certificate', 'Issuer', 'PodMonitor', 'HTTPRoute']),
        );
        await dryRun(wanted);
      } finally {
        await removeKinds([...foreign.names]);
      }
    },
  );
});
