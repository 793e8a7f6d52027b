/** A namespace with what users declared in another one, which an operator sees for the first time. */
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { stateOf } from './cluster-state.ts';
import { type Kind, User } from './user.ts';

const DECLARED: readonly Kind[] = ['Secret', 'ConfigMap', 'PluginRef', 'ApiSpec', 'GatewayProject', 'Deployment'];

export async function twinOf(user: User, labels: Readonly<Record<string, string>>): Promise<User> {
  const twin = await User.start('random-twin', user.api, labels);
  for (const kind of DECLARED) {
    for (const { metadata, kind: _, apiVersion: _a, status: _s, ...body } of await user.list(kind)) {
      if (metadata.ownerReferences || metadata.name === 'kube-root-ca.crt') continue;
      await twin.apply(kind, metadata.name, { ...body, metadata: { labels: metadata.labels ?? {} } });
    }
  }
  return twin;
}

/** Projects that do not compile now. */
export async function notCompiling(user: User): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { metadata, status } of await user.list('GatewayProject')) {
    const conditions = isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
    if (!conditions.filter(isRecord).some(({ type, reason }) => type === 'Compiled' && reason === 'Compiled'))
      found.add(metadata.name);
  }
  return found;
}

/** What is said of the artifact that is served, which is an older one where the newest does not compile. */
const OF_LAST_GOOD: ReadonlySet<unknown> = new Set(['Stored', 'Programmed', 'Ready']);

/**
 * Where the two are not the same. What a project served before it did not compile any more goes on, so that the twin
 * lacks it: of such a project the workload, and what is said of it and of the Deployment that asked for it, are left out.
 */
export async function compare(user: User, twin: User): Promise<readonly string[]> {
  const [were, are, lastGood] = [await stateOf(twin), await stateOf(user), await notCompiling(twin)];
  const differences: string[] = [];
  for (const name of new Set([...were.keys(), ...are.keys()])) {
    const [kind = '', project = ''] = /^(\S+) (p\d+)/.exec(name)?.slice(1) ?? [];
    const servesOther = lastGood.has(project);
    if (servesOther && (kind === 'Workload' || kind === 'Deployment')) continue;
    const [expected, actual] = [were.get(name), are.get(name)].map((value) =>
      servesOther && kind === 'GatewayProject' ? withoutServed(value) : value,
    );
    const parts = [...differing(actual, expected, '')];
    if (parts.length > 0) differences.push([`${user.namespace} ${name}`, ...parts].join('\n  '));
  }
  return differences;
}

/** `path: is …, fresh …` for each part in which the two differ. */
function* differing(is: unknown, fresh: unknown, path: string): Generator<string> {
  if (JSON.stringify(is) === JSON.stringify(fresh)) return;
  const [left, right] = [is, fresh].map((value) => (Array.isArray(value) ? { ...value } : value));
  if (!isRecord(left) || !isRecord(right)) {
    yield `${path}: is ${JSON.stringify(is)}, fresh ${JSON.stringify(fresh)}`;
    return;
  }
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  let found = false;
  for (const name of names) {
    for (const part of differing(left[name], right[name], path ? `${path}.${name}` : name)) {
      found = true;
      yield part;
    }
  }
  if (!found) yield `${path}: the members are in another order`;
}

function withoutServed(status: unknown): unknown {
  if (!isRecord(status)) return status;
  const { artifactHash: _, shortHash: _s, pods: _p, conditions, ...rest } = status;
  const kept = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  return { ...rest, conditions: kept.filter(({ type }) => !OF_LAST_GOOD.has(type)) };
}
