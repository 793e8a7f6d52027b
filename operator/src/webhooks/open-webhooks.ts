/** Serves the webhooks of one replica, and publishes their address to API servers. */
import type { Logger } from 'pino';
import type { SecureListener } from '../certificates/secure-listener.ts';
import type { PluginCatalog } from '../controllers/plugin-ref/plugin-package.ts';
import { operatorLink } from '../link/operator-link.ts';
import type { PodPolicy } from '../objects/pod-policy.ts';
import type { ApiServer } from '../runtime/api-server.ts';
import type { OperatorMetrics } from '../runtime/metrics.ts';
import { namespaceView } from '../runtime/namespace-view.ts';
import type { Objects } from '../runtime/objects.ts';
import { clusterVersion } from '../sidecar/named-ports.ts';
import type { SourceFetcher } from '../sources/fetcher.ts';
import { configuredPath } from './configurations.ts';
import type { ListenerOptions } from './listener-options.ts';
import { pathSecret } from './path-secret.ts';
import { WebhookRegistration } from './registration.ts';
import { serveWebhooks } from './serve-webhooks.ts';

export interface OpenWebhooksWith {
  readonly api: ApiServer;
  readonly listener: SecureListener;
  readonly options: ListenerOptions;
  readonly objects: Objects;
  readonly catalog: PluginCatalog;
  readonly sources: SourceFetcher;
  /** Watched namespaces; empty: all. */
  readonly namespaces: readonly string[];
  readonly operatorNamespace: string;
  readonly image: string;
  readonly policy: PodPolicy;
  readonly metrics: OperatorMetrics;
  readonly log: Logger;
}

/** Returns undefined if there are no webhooks. */
export function openWebhooks(deps: OpenWebhooksWith): WebhookRegistration | undefined {
  const { api, listener, options, operatorNamespace: namespace, metrics, log } = deps;
  const { webhookService, linkService, webhooks: names, folder, clientCa } = options;
  if (webhookService === undefined) return undefined;
  const registration = new WebhookRegistration({
    api,
    names,
    paths: pathSecret(api, { namespace, configured: () => configuredPath(api, names) }),
    // With mounted certificates, another program also publishes the authorities.
    ca: () => (folder === undefined ? listener.ca : undefined),
    onError: (error) => log.error({ err: error }, 'could not update the webhook configurations; retrying'),
  });
  metrics.watchDrift(() => registration.drift !== undefined);
  const { objects, catalog, sources, image, policy } = deps;
  serveWebhooks(listener.routes, {
    objects,
    catalog,
    sources,
    image,
    policy,
    namespaces: namespaceView(objects, deps.namespaces, undefined),
    operatorNamespace: namespace,
    version: clusterVersion(api),
    ...(linkService
      ? { linkOf: (project) => operatorLink(project, { service: linkService, namespace, ca: listener.ca }) }
      : {}),
    webhookAt: (pathname) => registration.webhookAt(pathname),
    clientCertificates: clientCa !== undefined,
    onError: (error) => log.error({ err: error }, 'an admission review failed'),
    onReviewed: (webhook, allowed, seconds) => metrics.reviewed(webhook, allowed, seconds),
  });
  return registration;
}
