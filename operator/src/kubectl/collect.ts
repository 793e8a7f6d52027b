/** Contents of a support bundle: objects from the API server, events, logs, and the pods' admin pages. */
import { messageOf } from '@gw/gateway/message-of';
import type { GatewayProject, Pod } from '../api/resources.ts';
import { API_VERSION } from '../api/schema.ts';
import { isRecord } from '../kube/kube-object.ts';
import { LABEL_PROJECT } from '../objects/names.ts';
import type { Cluster } from './cluster.ts';
import { logLines } from './log-stream.ts';
import { adminRequest, isReady, podsOf } from './pods.ts';

export type Collected =
  | { readonly path: string; readonly content: unknown }
  | { readonly path: string; readonly error: string };

export interface CollectOptions {
  /** Log lines of each container. */
  readonly tail: number;
  readonly operatorNamespace: string;
}

/** Collections of the project's namespace that belong to it, by path, and those of ours whole. */
const OWNED = [
  'apis/apps/v1/deployments',
  'apis/apps/v1/replicasets',
  'api/v1/pods',
  'api/v1/services',
  'api/v1/serviceaccounts',
  'apis/discovery.k8s.io/v1/endpointslices',
  'apis/networking.k8s.io/v1/networkpolicies',
  'apis/networking.k8s.io/v1/ingresses',
  'apis/policy/v1/poddisruptionbudgets',
  'apis/autoscaling/v2/horizontalpodautoscalers',
] as const;
const OURS = ['gatewayprojects', 'apispecs', 'pluginrefs', 'deployments'] as const;
const ADMIN_PAGES = ['/ready', '/health', '/provenance', '/metrics', '/log-level'] as const;

export async function* collect(
  cluster: Cluster,
  project: GatewayProject,
  options: CollectOptions,
): AsyncGenerator<Collected> {
  const { api } = cluster;
  const namespace = project.metadata.namespace ?? '';
  const get = (path: string, query: { readonly [name: string]: string } = {}) =>
    api.json({ method: 'GET', path, query });
  const inNamespace = (collection: string) => {
    const at = collection.lastIndexOf('/');
    return `/${collection.slice(0, at)}/namespaces/${encodeURIComponent(namespace)}${collection.slice(at)}`;
  };

  yield attempt('cluster/version.yaml', () => get('/version'));
  for (const plural of OURS) {
    yield attempt(`objects/${plural}.yaml`, () => get(inNamespace(`apis/${API_VERSION}/${plural}`)));
  }
  const labelSelector = `${LABEL_PROJECT}=${project.metadata.name}`;
  for (const collection of OWNED) {
    const name = collection.slice(collection.lastIndexOf('/') + 1);
    // Deployments are of two kinds: ours, and those of pods.
    const file = OURS.some((plural) => plural === name) ? `${name}.apps` : name;
    yield attempt(`objects/${file}.yaml`, () => get(inNamespace(collection), { labelSelector }));
  }
  yield attempt('objects/configmaps.yaml', () => get(inNamespace('api/v1/configmaps'), { labelSelector }));
  yield attempt('events.yaml', async () => newestFirst(await get(inNamespace('apis/events.k8s.io/v1/events'))));
  for (const pod of await podsOf(cluster, project)) yield* ofPod(cluster, pod, options.tail);
  yield* ofOperator(cluster, options);
}

async function* ofPod(cluster: Cluster, pod: Pod, tail: number): AsyncGenerator<Collected> {
  const folder = `pods/${pod.metadata.name}`;
  const names = (pod.spec?.containers ?? []).flatMap(({ name }) => (name === undefined ? [] : [name]));
  for (const name of names) {
    yield attempt(`${folder}/${name}.log`, () => log(cluster, pod, { container: name, tail }));
    const restarted = pod.status?.containerStatuses?.some(({ restartCount = 0 }) => restartCount > 0);
    if (restarted) {
      yield attempt(`${folder}/${name}.previous.log`, () =>
        log(cluster, pod, { container: name, tail, previous: true }),
      );
    }
  }
  if (!isReady(pod)) return;
  for (const page of ADMIN_PAGES) {
    yield attempt(`${folder}${page}.txt`, () => text(cluster, adminRequest(pod, page)));
  }
}

async function* ofOperator(cluster: Cluster, { operatorNamespace, tail }: CollectOptions): AsyncGenerator<Collected> {
  const path = `/api/v1/namespaces/${encodeURIComponent(operatorNamespace)}/pods`;
  const query = { labelSelector: 'app.kubernetes.io/name=gw-operator' };
  const found = await attempt('operator/pods.yaml', () => cluster.api.json({ method: 'GET', path, query }));
  yield found;
  if ('error' in found || !isRecord(found.content) || !Array.isArray(found.content['items'])) return;
  for (const item of found.content['items']) {
    const name = isRecord(item) && isRecord(item['metadata']) ? String(item['metadata']['name']) : '';
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: operatorNamespace } };
    yield attempt(`operator/${name}.log`, () => log(cluster, pod, { container: 'operator', tail }));
  }
}

async function log(
  { api }: Cluster,
  pod: Parameters<typeof logLines>[1],
  options: Parameters<typeof logLines>[2],
): Promise<string> {
  return joined(logLines(api, pod, options));
}

function text({ api }: Cluster, request: ReturnType<typeof adminRequest>): Promise<string> {
  return joined(api.lines({ method: 'GET', ...request, accept: '*/*' }));
}

async function joined(lines: AsyncIterable<string>): Promise<string> {
  const found: string[] = [];
  for await (const line of lines) found.push(line);
  return `${found.join('\n')}\n`;
}

async function attempt(path: string, read: () => Promise<unknown>): Promise<Collected> {
  try {
    return { path, content: await read() };
  } catch (error) {
    return { path, error: messageOf(error) };
  }
}

function newestFirst(list: unknown): unknown {
  if (!isRecord(list) || !Array.isArray(list['items'])) return list;
  const time = (item: unknown) => {
    if (!isRecord(item)) return '';
    const series = isRecord(item['series']) ? item['series']['lastObservedTime'] : undefined;
    return String(series ?? item['eventTime'] ?? item['deprecatedLastTimestamp'] ?? '');
  };
  return { ...list, items: list['items'].toSorted((a, b) => time(b).localeCompare(time(a))) };
}
