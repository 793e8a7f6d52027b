/** An operator that has the rights of its chart's roles and no others, and which of them it used. */
import { join } from 'node:path';
import type { Rule } from '../../operator/src/install/rbac.ts';
import { execute } from '../e2e/kubectl.ts';
import { ApiProxy } from './api-proxy.ts';

const CHART = join(import.meta.dirname, '..', '..', 'charts', 'operator');

/** What only sidecars and the data-plane link use of the rules for every namespace. */
export const LINKED: ReadonlySet<string> = new Set(['get gw.dev/gatewayprojects', 'get pods']);

export interface ChartRights {
  /** Speaks to the API server as the operator's account. */
  readonly proxy: ApiProxy;
  /** Names of the webhook configurations, where `templates` has them. */
  readonly configuration: string;
  /** Of these rights, such as `get apps/deployments`, those that nobody used. */
  unused(rules: readonly Rule[]): readonly string[];
  close(): Promise<void>;
}

/** `settings` as of `--set`; what the templates make is gone with `close`. */
export async function chartRights(
  namespace: string,
  settings: readonly string[],
  templates: readonly string[] = ['rbac'],
): Promise<ChartRights> {
  const chart = await execute('helm', [
    ...['template', namespace, CHART, '-n', namespace, '--kube-version', '1.34.0'],
    ...templates.flatMap((name) => ['--show-only', `templates/${name}.yaml`]),
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  await execute('kubectl', ['apply', '-f', '-'], chart);
  const name = (kind: string) => new RegExp(`kind: ${kind}\nmetadata:\n {2}name: (\\S+)`).exec(chart)?.[1] ?? '';
  const proxy = await ApiProxy.start({ impersonate: { namespace, name: name('ServiceAccount') } });
  return {
    proxy,
    configuration: name('ValidatingWebhookConfiguration'),
    unused: (rules) => granted(rules).filter((right) => !isUsed(proxy, right)),
    async close() {
      await proxy.close();
      await execute('kubectl', ['delete', '--ignore-not-found', '-f', '-'], chart);
    },
  };
}

function granted(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group ? `${group}/` : ''}${resource}`)),
    ),
  );
}

/** An object that does not exist is created by a patch, which needs both rights. */
function isUsed(proxy: ApiProxy, right: string): boolean {
  if (!right.startsWith('create ')) return proxy.counts.has(right);
  const made = ({ verb, group, resource, status }: (typeof proxy.requests)[number]) =>
    status === 201 &&
    (verb === 'patch' || verb === 'create') &&
    right === `create ${group ? `${group}/` : ''}${resource}`;
  return proxy.requests.some(made);
}
