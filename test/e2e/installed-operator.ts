/** The operator as its chart installs it, for tests that need one on a cluster with pods. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { execute, type Kubectl, kubectl } from './kubectl.ts';

const root = join(import.meta.dirname, '..', '..');

/** The image that is tested, in the cluster already. */
export const image = process.env['GW_E2E_IMAGE'] ?? '';
/** What is not there; where something is, tests are skipped by that name. */
export const missing = ['KUBECONFIG', 'GW_E2E_IMAGE'].filter((name) => !process.env[name]);
/** Behind a suite's name where it is skipped. */
export const skipped = missing.length > 0 ? ` (skipped: ${missing.join(' and ')} not set)` : '';

export interface InstalledOperator {
  /** Where it runs. */
  readonly system: string;
  /** A namespace that it looks at, for restricted pods only. */
  readonly namespace: string;
  readonly k: Kubectl;
  readonly release: string;
  logs(): Promise<string>;
  uninstall(): Promise<void>;
}

/** Made for a suite, for restricted pods only. */
export async function newNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<string> {
  const namespace = `gw-${name}-${randomBytes(3).toString('hex')}`;
  const all = { 'pod-security.kubernetes.io/enforce': 'restricted', ...labels };
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: all } };
  await execute('kubectl', ['create', '-f', '-'], JSON.stringify(object));
  return namespace;
}

/** What pods of tests ask for: suites share a node of two CPUs, and a pod that waits for room fails its test. */
export const LITTLE = { requests: { cpu: '20m', memory: '96Mi' } };

/** Two replicas, unless `values` (of `--set`) say otherwise; the CRDs are those of the checkout. */
export async function installOperator(name: string, values: readonly string[] = []): Promise<InstalledOperator> {
  // Shared by every suite that runs at the same time, so no release owns them.
  await execute('kubectl', ['apply', '--server-side', '--force-conflicts', '-f', join(root, 'crds')]);
  const [system, namespace] = await Promise.all([newNamespace(`system-${name}`), newNamespace(name)]);
  const release = system.replace('gw-system', 'gw-operator');
  const colon = image.lastIndexOf(':');
  const settings = [
    'crds.install=false',
    `image.repository=${image.slice(0, colon)}`,
    'replicas=2',
    `resources.requests.cpu=${LITTLE.requests.cpu}`,
    `watchNamespaces={${namespace}}`,
    ...values,
  ];
  await execute('helm', [
    ...['install', release, join(root, 'charts', 'operator'), '-n', system, '--wait', '--timeout', '180s'],
    ...['--set-string', `image.tag=${image.slice(colon + 1)}`],
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  return {
    ...operatorIn({ system, release, namespace }),
    async uninstall() {
      // What is in them goes by itself: nothing of ours waits for the operator to let it go.
      await execute('kubectl', ['delete', 'namespace', namespace, '--wait=false']);
      await execute('helm', ['uninstall', release, '-n', system]);
      await execute('kubectl', ['delete', 'namespace', system, '--wait=false']);
    },
  };
}

/** One that runs: `uninstall` leaves it, and deletes the namespace that it looked at. */
export function operatorIn(at: Pick<InstalledOperator, 'system' | 'release' | 'namespace'>): InstalledOperator {
  const labels = ['-l', 'app.kubernetes.io/name=gw-operator'];
  return {
    ...at,
    k: kubectl(at.namespace),
    logs: () => execute('kubectl', ['-n', at.system, 'logs', ...labels, '--tail=-1', '--prefix']),
    async uninstall() {
      await execute('kubectl', ['delete', 'namespace', at.namespace, '--wait=false']);
    },
  };
}
