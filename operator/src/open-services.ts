/**
 * The parts of a replica of the operator before it leads: its way to the cluster, to registries, and its HTTPS
 * listener.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { SecureListener } from './certificates/secure-listener.ts';
import { Connections } from './control-plane/connection.ts';
import { ControlPlanes } from './control-plane/control-planes.ts';
import { Compilations } from './controllers/gateway-project/sources/compilation.ts';
import { catalog } from './controllers/plugin-ref/catalog.ts';
import { ArtifactFiles } from './link/artifact-files.ts';
import { RegistryClient } from './registry/client.ts';
import type { RunOptions } from './run-options.ts';
import { ApiServer } from './runtime/api-server.ts';
import { CachedObjects } from './runtime/cached-objects.ts';
import { ClusterObjects } from './runtime/cluster-objects.ts';
import { ClusterEvents } from './runtime/events.ts';
import { LEASE, Lease } from './runtime/lease.ts';
import { OperatorMetrics } from './runtime/metrics.ts';
import { openFetcher } from './sources/open-fetcher.ts';
import { ImageStore } from './storage/image-store.ts';
import { ImageVolumes } from './storage/image-volumes.ts';
import { pullRevision } from './storage/pull-revision.ts';
import type { ListenerOptions } from './webhooks/listener-options.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';

export type Services = ReturnType<typeof openServices>;

/** Nothing here listens, or asks for the Lease, yet. `started` closes what is open. */
export function openServices(options: RunOptions, log: Logger, started: AsyncDisposableStack) {
  const { egress, listener: listenerOptions } = options;
  const warn = (what: string) => (error: unknown) => log.warn({ err: error }, what);
  const metrics = new OperatorMetrics(() => objects.sizes());
  const api = started.adopt(
    ApiServer.fromDefault(({ verb, resource }, status) => metrics.requested(verb, resource, status)),
    (each) => each.close(),
  );
  const namespace = options.namespace ?? api.namespace;
  // Two programs of one machine are two: the one must not take the other's Lease for its own.
  const identity = options.identity ?? `${hostname()}_${randomBytes(4).toString('hex')}`;
  const lease = new Lease(api, { namespace, name: LEASE, identity, onError: warn('the Lease could not be written') });
  const onRestart = (resource: string, error: unknown) => {
    metrics.watchRestarted(resource);
    log.warn({ resource, err: error }, 'watch broke; resuming it');
  };
  const cluster = new ClusterObjects(api, { onRestart }, () => lease.mustHold());
  const objects = new CachedObjects(cluster, { onRead: (resource, from) => metrics.read(resource, from) });
  const events = new ClusterEvents(api, identity, warn('an Event could not be written'));
  started.defer(() => events.flushed());
  const registries = started.adopt(new RegistryClient(egress), (each) => each.close());
  const onFetched = (type: 'url' | 'oci', ok: boolean) => metrics.fetched(type, ok);
  const fetcher = openFetcher({ egress, objects, registries, onFetched });
  started.defer(() => fetcher.close());
  const images = started.adopt(new ImageStore({ registries, objects, events }), (each) => each.close());
  const controlPlanes = started.adopt(new ControlPlanes(new Connections(egress.guard)), (each) => each.close());
  const listener = listenerOptions && secureListener(api, namespace, listenerOptions, log, () => webhooks?.look());
  const webhooks =
    listener &&
    listenerOptions &&
    openWebhooks({
      api,
      listener,
      options: listenerOptions,
      // Reads from the server: a replica that does not lead watches nothing, and must see objects that were just made.
      objects: new CachedObjects(cluster),
      catalog,
      sources: fetcher.sources,
      namespaces: options.namespaces,
      operatorNamespace: namespace,
      image: options.image,
      policy: options.policy,
      metrics,
      log,
    });
  return {
    /** Namespace of the operator. */
    namespace,
    /** Name of this replica, in the Lease and in Events. */
    identity,
    metrics,
    api,
    lease,
    /** Uncached, for watches whose objects nobody reads. */
    cluster,
    objects,
    events,
    sources: fetcher.sources,
    images,
    volumes: new ImageVolumes(api, (available, why) => log.info({ available }, `image volumes: ${why}`)),
    controlPlanes,
    archives: new ArtifactFiles(objects, (project, revision) =>
      pullRevision({ registries, objects }, project, revision),
    ),
    compilations: new Compilations({ onCompiled: (seconds, ok) => metrics.compiled(seconds, ok) }),
    /** Undefined without webhooks and link. */
    listener,
    /** Undefined without webhooks. */
    webhooks,
  };
}

function secureListener(
  api: ApiServer,
  namespace: string,
  { webhookService, linkService, webhooks: _, ...options }: ListenerOptions,
  log: Logger,
  onCertificate: () => void,
): SecureListener {
  const services = [webhookService, linkService].filter((name) => name !== undefined);
  return new SecureListener(api, { ...options, namespace, services, onCertificate }, log);
}
