/** Writes the authorities that API servers shall trust into webhook configurations that the chart has made. */
import type { ApiServer } from '../runtime/api-server.ts';
import { isRecord } from '../runtime/kube-object.ts';

export interface WebhookConfigurations {
  readonly validating: readonly string[];
  readonly mutating: readonly string[];
}

/** Resolves when every one named has the bundle. Rejects when one is not there, or may not be written. */
export async function publishCaBundle(api: ApiServer, names: WebhookConfigurations, ca: string): Promise<void> {
  const bundle = Buffer.from(ca, 'utf8').toString('base64');
  const plurals = [
    ['validatingwebhookconfigurations', names.validating],
    ['mutatingwebhookconfigurations', names.mutating],
  ] as const;
  for (const [plural, listed] of plurals)
    for (const name of listed)
      await publish(api, `/apis/admissionregistration.k8s.io/v1/${plural}/${encodeURIComponent(name)}`, bundle);
}

async function publish(api: ApiServer, path: string, bundle: string): Promise<void> {
  const configuration = await api.json({ method: 'GET', path });
  if (!isRecord(configuration) || !isRecord(configuration['metadata']))
    throw new Error('the API server sent no webhook configuration');
  const webhooks = Array.isArray(configuration['webhooks']) ? configuration['webhooks'] : [];
  const stale = webhooks.flatMap((webhook: unknown, index) =>
    isRecord(webhook) && isRecord(webhook['clientConfig']) && webhook['clientConfig']['caBundle'] !== bundle
      ? [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: bundle }]
      : [],
  );
  if (stale.length === 0) return;
  // Webhooks have no key in a JSON patch but their place: somebody else's change in between must fail it.
  const version = {
    op: 'test',
    path: '/metadata/resourceVersion',
    value: configuration['metadata']['resourceVersion'],
  };
  await api.json({
    method: 'PATCH',
    path,
    contentType: 'application/json-patch+json',
    body: [version, ...stale],
  });
}
