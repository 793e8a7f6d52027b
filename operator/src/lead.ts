/** The parts that only the leading replica runs: the link, the census of sidecars and the controllers. */
import type { Logger } from 'pino';
import { type ControllerOptions, controllers } from './controllers/controllers.ts';
import { probeProvenance } from './controllers/gateway-project/pods/pod-state.ts';
import { FingerprintCache } from './controllers/gateway-project/rollout/fingerprints.ts';
import { closeKept, KeptConnections } from './controllers/gateway-project/rollout/kept-connections.ts';
import { Measurements } from './controllers/gateway-project/rollout/measurements.ts';
import { probeMetrics } from './controllers/gateway-project/rollout/observe.ts';
import { UpdatePace } from './controllers/gateway-project/rollout/update-pace.ts';
import { catalog } from './controllers/plugin-ref/catalog.ts';
import { ForeignUses } from './controllers/plugin-ref/grants.ts';
import { Runner } from './controllers/runner.ts';
import { ownAddress } from './link/leader-endpoints.ts';
import { type OpenLink, openLink } from './link/open-link.ts';
import type { Services } from './open-services.ts';
import type { RunOptions } from './run-options.ts';
import { isPassing } from './runtime/api-server.ts';
import { type NamespaceView, namespaceView } from './runtime/namespace-view.ts';
import { SelectedNamespaces } from './runtime/selected-namespaces.ts';
import { SidecarCensus } from './sidecar/census.ts';
import { TamperedParts } from './storage/tampered-parts.ts';

/** Parts that only the leader has. */
interface LeaderParts {
  readonly view: NamespaceView;
  readonly updatePace: UpdatePace;
  readonly link: OpenLink | undefined;
  readonly census: SidecarCensus | undefined;
}

/** Resolves when everything has been seen once, or `started`, which closes what is open, is disposed. */
export async function lead(
  options: RunOptions,
  services: Services,
  started: AsyncDisposableStack,
  log: Logger,
): Promise<void> {
  const { namespaces, namespaceSelector, image, workers } = options;
  const { objects, metrics } = services;
  metrics.leads(true);
  log.info({ namespaces, namespaceSelector, image }, 'leading');
  const filter = namespaceSelector ? new SelectedNamespaces(objects, namespaceSelector) : undefined;
  const view = namespaceView(objects, namespaces, filter);
  const link = linkOf(options, services, view, log);
  started.defer(() => link?.close());
  const census = censusOf(options, services, view);
  started.defer(() => census?.close());
  await census?.start();
  if (started.disposed) return;
  const updatePace = new UpdatePace({
    atOnce: options.updatesAtOnce,
    objects,
    namespaces,
    onStop: (failed) =>
      log.error({ failed }, 'the update of gateway pods has stopped: the pods of these projects did not become ready'),
  });
  metrics.watchUpdates(() => updatePace.counts());
  const runner = new Runner({
    objects,
    namespaces,
    ...(filter ? { filter } : {}),
    workers,
    controllers: controllers(controllerOptions(options, services, { view, updatePace, link, census })),
    events: {
      onReconciled: (controller, seconds, ok) => metrics.reconciled(controller, seconds, ok),
      onError: (controller, key, error) =>
        log[isPassing(error) ? 'info' : 'error']({ controller, key, err: error }, 'reconcile failed; retrying'),
    },
  });
  metrics.watchQueues(() => runner.depths());
  started.adopt(runner, (each) => each.close());
  await runner.start();
}

function controllerOptions(
  { image, policy, egress }: RunOptions,
  { objects, events, compilations, sources, controlPlanes, ...services }: Services,
  { view, updatePace, link, census }: LeaderParts,
): ControllerOptions {
  const { namespace, webhooks, images, volumes, archives } = services;
  return {
    objects,
    catalog,
    events,
    compilations,
    sources,
    foreignUses: new ForeignUses(),
    namespaces: view,
    probe: probeProvenance,
    readMetrics: probeMetrics,
    measurements: new Measurements(),
    fingerprints: new FingerprintCache(),
    tamperedParts: new TamperedParts(objects),
    keptConnections: new KeptConnections(closeKept),
    updatePace,
    ...(link ? { link: link.host } : {}),
    ...(census ? { census } : {}),
    policy,
    ...(webhooks ? { webhookDrift: () => webhooks.drift } : {}),
    settings: {
      image,
      policy,
      operatorNamespace: namespace,
      egressAllow: egress.egressAllow,
      ...(link ? { linkOf: link.linkOf } : {}),
    },
    registries: { images, volumes },
    controlPlanes,
    readArchive: async (project, revision) => (await archives.get(project, revision)).bytes,
    // Reading a Secret by name is all that the operator may do with Secrets: see api/rbac.ts.
    watchSecrets: false,
  };
}

/** Returns undefined if webhooks inject no sidecars. */
function censusOf(
  { listener, namespaces }: RunOptions,
  { cluster, events }: Services,
  view: NamespaceView,
): SidecarCensus | undefined {
  if (listener?.webhookService === undefined) return undefined;
  return new SidecarCensus({
    objects: cluster,
    events,
    namespaces,
    readsNamespaces: view.labels !== undefined,
    includes: (name) => view.includes(name),
  });
}

/** Returns undefined if no Service leads to the link. */
function linkOf(
  { listener: listenerOptions, linkAddress }: RunOptions,
  { api, listener, namespace, objects, archives, metrics }: Services,
  view: NamespaceView,
  log: Logger,
): OpenLink | undefined {
  const service = listenerOptions?.linkService;
  if (!listener || service === undefined) return undefined;
  const address = linkAddress ?? ownAddress();
  if (address === undefined) throw new Error('this machine has no address that pods can reach: set --link-address');
  return openLink({
    api,
    routes: listener.routes,
    endpoint: { namespace, service, address, port: listener.port },
    ca: () => listener.ca,
    objects,
    namespaces: view,
    files: archives,
    registry: metrics.registry,
    log,
  });
}
