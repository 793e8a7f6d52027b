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
  /** The namespace that it looks at, for restricted pods only. */
  readonly namespace: string;
  readonly k: Kubectl;
  readonly release: string;
  logs(): Promise<string>;
  uninstall(): Promise<void>;
}

/** Two replicas, unless `values` (of `--set`) say otherwise; the CRDs are those of the checkout. */
export async function installOperator(name: string, values: readonly string[] = []): Promise<InstalledOperator> {
  const run = randomBytes(3).toString('hex');
  const [system, namespace, release] = [`gw-system-${name}-${run}`, `gw-${name}-${run}`, `gw-operator-${name}-${run}`];
  // Shared by every suite that runs at the same time, so no release owns them.
  await execute('kubectl', ['apply', '--server-side', '--force-conflicts', '-f', join(root, 'crds')]);
  for (const each of [system, namespace]) {
    await execute('kubectl', ['create', 'namespace', each]);
    await execute('kubectl', ['label', 'namespace', each, 'pod-security.kubernetes.io/enforce=restricted']);
  }
  const colon = image.lastIndexOf(':');
  const settings = [
    'crds.install=false',
    `image.repository=${image.slice(0, colon)}`,
    'replicas=2',
    `watchNamespaces={${namespace}}`,
    ...values,
  ];
  await execute('helm', [
    ...['install', release, join(root, 'charts', 'operator'), '-n', system, '--wait', '--timeout', '180s'],
    ...['--set-string', `image.tag=${image.slice(colon + 1)}`],
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  const labels = ['-l', 'app.kubernetes.io/name=gw-operator'];
  return {
    system,
    namespace,
    release,
    k: kubectl(namespace),
    logs: () => execute('kubectl', ['-n', system, 'logs', ...labels, '--tail=-1', '--prefix']),
    async uninstall() {
      await execute('kubectl', ['delete', 'namespace', namespace, '--wait=true', '--timeout=120s']);
      await execute('helm', ['uninstall', release, '-n', system, '--wait']);
      await execute('kubectl', ['delete', 'namespace', system, '--wait=false']);
    },
  };
}
