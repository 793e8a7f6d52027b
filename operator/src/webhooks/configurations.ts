/**
 * The chart's webhook configurations, as far as the operator writes them: the authorities that API servers should
 * trust, and the path to call (docs/decisions.md#webhook-paths). An upgrade of the chart removes neither.
 */

import { isRecord } from '../kube/kube-object.ts';
import type { ApiServer } from '../runtime/api-server.ts';
import type { Webhook } from './webhook-paths.ts';

export interface WebhookConfigurations {
  readonly validating: readonly string[];
  readonly mutating: readonly string[];
}

export interface Published {
  /** PEM of the authorities to trust; absent if another program writes them, such as cert-manager. */
  readonly ca?: string;
  /** Path prefix of the webhooks. */
  readonly path: string;
}

interface Configuration {
  /** Path in the API server. */
  readonly at: string;
  readonly webhook: Webhook;
}

function listed({ validating, mutating }: WebhookConfigurations): readonly Configuration[] {
  const at = (plural: string, name: string) =>
    `/apis/admissionregistration.k8s.io/v1/${plural}/${encodeURIComponent(name)}`;
  return [
    ...validating.map((name) => ({ at: at('validatingwebhookconfigurations', name), webhook: 'validate' as const })),
    ...mutating.map((name) => ({ at: at('mutatingwebhookconfigurations', name), webhook: 'pods' as const })),
  ];
}

/** Returns the path prefix that API servers use now; undefined before one is configured, as after an installation. */
export async function configuredPath(api: ApiServer, names: WebhookConfigurations): Promise<string | undefined> {
  for (const { at } of listed(names)) {
    for (const { path } of (await read(api, at)).clients) {
      const slash = path?.lastIndexOf('/') ?? 0;
      if (path !== undefined && slash > 0) return path.slice(0, slash);
    }
  }
  return undefined;
}

/**
 * Writes differences, and resolves with whether a path differed: somebody else had changed it. Rejects if a
 * configuration is missing, or may not be written.
 */
export async function publish(api: ApiServer, names: WebhookConfigurations, wanted: Published): Promise<boolean> {
  const bundle = wanted.ca === undefined ? undefined : Buffer.from(wanted.ca, 'utf8').toString('base64');
  let differed = false;
  for (const { at, webhook } of listed(names)) {
    const { version, clients } = await read(api, at);
    const path = `${wanted.path}/${webhook}`;
    const stale = clients.flatMap((client) => [
      ...(bundle === undefined || client.caBundle === bundle
        ? []
        : [{ op: 'add', path: `${client.at}/caBundle`, value: bundle }]),
      // A webhook that is reached by a URL has its path in the URL, which its administrator maintains.
      ...(!client.isService || client.path === path
        ? []
        : [{ op: 'add', path: `${client.at}/service/path`, value: path }]),
    ]);
    if (stale.length === 0) continue;
    differed ||= clients.some((client) => client.isService && client.path !== path);
    // A JSON patch names webhooks by position: a concurrent change must fail it.
    const test = { op: 'test', path: '/metadata/resourceVersion', value: version };
    const contentType = 'application/json-patch+json';
    await api.json({ method: 'PATCH', path: at, contentType, body: [test, ...stale] });
  }
  return differed;
}

interface Client {
  /** JSON pointer. */
  readonly at: string;
  readonly caBundle: unknown;
  readonly isService: boolean;
  readonly path: string | undefined;
}

async function read(
  api: ApiServer,
  path: string,
): Promise<{ readonly version: unknown; readonly clients: readonly Client[] }> {
  const configuration = await api.json({ method: 'GET', path });
  if (!isRecord(configuration) || !isRecord(configuration['metadata']))
    throw new Error('the API server sent no webhook configuration');
  const webhooks: readonly unknown[] = Array.isArray(configuration['webhooks']) ? configuration['webhooks'] : [];
  const clients = webhooks.flatMap((webhook, index): Client[] => {
    const client = isRecord(webhook) ? webhook['clientConfig'] : undefined;
    if (!isRecord(client)) return [];
    const { service, caBundle } = client;
    const isService = isRecord(service);
    const at = isService ? service['path'] : undefined;
    return [
      {
        at: `/webhooks/${index}/clientConfig`,
        caBundle,
        isService,
        path: typeof at === 'string' ? at : undefined,
      },
    ];
  });
  return { version: configuration['metadata']['resourceVersion'], clients };
}
