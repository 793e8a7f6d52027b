/** What the operator has made of the objects of a namespace, without what differs from one time to the next. */
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import type { Found, Kind, User } from './user.ts';

const CHILDREN: readonly Kind[] = ['Service', 'ServiceAccount', 'Workload', 'NetworkPolicy', 'PodDisruptionBudget'];
const OURS: readonly Kind[] = ['GatewayProject', 'ApiSpec', 'PluginRef', 'Deployment'];
/** Times, versions and what the cluster fills in. */
const PASSING = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'lastTransitionTime',
  'completedAt',
  'createdAt',
  'observedGeneration',
  'clusterIP',
  'clusterIPs',
  'ipFamilies',
  'ipFamilyPolicy',
  'fetchedAt',
  'steppedAt',
  'startedAt',
  // It names a generation.
  'gw.dev/asked',
]);

/** By kind and name. */
export async function stateOf(user: User): Promise<ReadonlyMap<string, unknown>> {
  const state = new Map<string, unknown>();
  for (const kind of CHILDREN) {
    for (const found of await user.list(kind)) {
      if (found.metadata.labels?.['gw.dev/project'] === undefined) continue;
      const { status: _, ...rest } = found;
      state.set(`${kind} ${found.metadata.name}`, plain(rest, user.namespace));
    }
  }
  for (const kind of OURS) {
    for (const found of await user.list(kind)) {
      const status = isRecord(found['status']) ? found['status'] : {};
      // Revisions are numbered as they came, and rollouts tell of what was before.
      const { revisions: _, revision: _r, latestRevision: _l, rollout: _o, sources, ...rest } = status;
      state.set(`${kind} ${found.metadata.name}`, plain({ ...rest, ...unversioned(sources) }, user.namespace));
    }
  }
  return state;
}

/** The objects that a project reads: their versions tell how often they were written. */
function unversioned(sources: unknown): object {
  if (!Array.isArray(sources)) return {};
  return { sources: sources.filter(isRecord).map(({ version: _, ...source }) => source) };
}

/** What must never be, whatever came before. */
export async function faultsOf(user: User): Promise<readonly string[]> {
  const faults: string[] = [];
  const projects = new Map((await user.list('GatewayProject')).map((found) => [found.metadata.uid, found]));
  const numbers = new Map<string, string>();
  for (const kind of [...CHILDREN, 'ConfigMap'] as const) {
    for (const { metadata } of await user.list(kind)) {
      const project = metadata.labels?.['gw.dev/project'];
      if (project === undefined) continue;
      const owner = metadata.ownerReferences?.[0]?.uid ?? '';
      if (!projects.has(owner)) faults.push(`${kind} ${metadata.name} is orphaned`);
      const { 'gw.dev/revision': revision, 'gw.dev/archive': archive = '' } = metadata.annotations ?? {};
      if (kind !== 'ConfigMap' || revision === undefined) continue;
      const known = numbers.get(`${owner} ${revision}`);
      if (known !== undefined && known !== archive) faults.push(`revision ${revision} of ${project} was given twice`);
      numbers.set(`${owner} ${revision}`, archive);
    }
  }
  for (const kind of OURS) {
    for (const found of await user.list(kind))
      if (!isObserved(found)) faults.push(`the status of ${kind} ${found.metadata.name} is old`);
  }
  return faults;
}

/** Whether the status is about the spec as it is. */
export function isObserved(found: Found): boolean {
  const { status, metadata } = found;
  const { generation } = { generation: undefined, ...metadata };
  return isRecord(status) && status['observedGeneration'] === generation;
}

/** Which of the two holds is a matter of how long it has; that pods have been updated is told of those that were. */
function isLasting(item: unknown): boolean {
  if (!isRecord(item)) return true;
  const { type, status } = { type: undefined, status: undefined, ...item };
  return type !== 'Reconciling' && type !== 'Stalled' && !(type === 'Updated' && status === 'True');
}

function plain(value: unknown, namespace: string): unknown {
  if (Array.isArray(value)) return value.filter(isLasting).map((item: unknown) => plain(item, namespace));
  if (typeof value === 'string') {
    // Archives carry the time of their compilation.
    const text = value.replaceAll(namespace, 'NAMESPACE').replaceAll(/\brevision \d+/g, 'revision N');
    return text.replaceAll(/(?<!sha256:)\b[0-9a-f]{64}\b/g, 'ARCHIVE');
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => !PASSING.has(name) && !/revision|archive/i.test(name));
  return Object.fromEntries(entries.map(([name, item]) => [name, plain(item, namespace)]));
}
