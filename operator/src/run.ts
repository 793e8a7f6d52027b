/** `gw-operator run`: the controllers on a cluster, once this replica leads. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { SecureListener } from './certificates/secure-listener.ts';
import { Connections } from './control-plane/connection.ts';
import { ControlPlanes } from './control-plane/control-planes.ts';
import { controllers } from './controllers/controllers.ts';
import { probeProvenance } from './controllers/gateway-project/pods/pod-state.ts';
import { FingerprintCache } from './controllers/gateway-project/rollout/fingerprints.ts';
import { closeKept, KeptConnections } from './controllers/gateway-project/rollout/kept-connections.ts';
import { Measurements } from './controllers/gateway-project/rollout/measurements.ts';
import { probeMetrics } from './controllers/gateway-project/rollout/observe.ts';
import { UpdatePace } from './controllers/gateway-project/rollout/update-pace.ts';
import { Compilations } from './controllers/gateway-project/sources/compilation.ts';
import { catalog } from './controllers/plugin-ref/catalog.ts';
import { ForeignUses } from './controllers/plugin-ref/grants.ts';
import { Runner } from './controllers/runner.ts';
import { ArtifactFiles } from './link/artifact-files.ts';
import { ownAddress } from './link/leader-endpoints.ts';
import { type OpenLink, openLink } from './link/open-link.ts';
import type { PodPolicy } from './objects/pod-policy.ts';
import { RegistryClient } from './registry/client.ts';
import { ApiServer, isPassing } from './runtime/api-server.ts';
import { CachedObjects } from './runtime/cached-objects.ts';
import { ClusterObjects } from './runtime/cluster-objects.ts';
import { Endpoints } from './runtime/endpoints.ts';
import { ClusterEvents } from './runtime/events.ts';
import { LEASE, Lease } from './runtime/lease.ts';
import { OperatorMetrics } from './runtime/metrics.ts';
import type { NamespaceView } from './runtime/namespace-view.ts';
import { namespaceView } from './runtime/namespace-view.ts';
import { SelectedNamespaces } from './runtime/selected-namespaces.ts';
import { SidecarCensus } from './sidecar/census.ts';
import { type EgressSettings, openFetcher } from './sources/open-fetcher.ts';
import { ExchangedParts } from './storage/exchanged-parts.ts';
import { ImageStore } from './storage/image-store.ts';
import { ImageVolumes } from './storage/image-volumes.ts';
import { pullRevision } from './storage/pull-revision.ts';
import type { ListenerOptions } from './webhooks/listener-options.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';

export interface RunOptions {
  /** Namespaces to watch; empty means all. */
  readonly namespaces: readonly string[];
  /** Label selector of the watched namespaces, in the form of kubectl's `-l`; followed as labels change. */
  readonly namespaceSelector?: string;
  /** Image of gateway pods if a project names none. */
  readonly image: string;
  /** Namespace of the operator: its Lease and its NetworkPolicy peers. Default: the kubeconfig's or the pod's. */
  readonly namespace?: string;
  readonly leaderElection: boolean;
  /** Host and port of health and metrics. */
  readonly bind: { readonly host: string; readonly port: number };
  /** Reconciles at once, a controller. */
  readonly workers: number;
  /** HTTPS listener of webhooks and link; absent: there is neither. */
  readonly listener?: ListenerOptions;
  /** Address at which pods reach this replica; default: the first address of this machine, in a pod the pod's. */
  readonly linkAddress?: string;
  /** Projects whose pods are replaced at once because the operator changed; 0: all. */
  readonly updatesAtOnce: number;
  /** How far projects may go with their pods and Secrets. */
  readonly policy: PodPolicy;
  /** Registries and URLs that users name. */
  readonly egress: EgressSettings;
  /** Name of this replica; default: the pod's name, or outside a pod the host's name with a unique suffix. */
  readonly identity?: string;
}

export interface RunningOperator {
  /** Port of health and metrics. */
  readonly port: number;
  /** Port of the HTTPS listener once it answers; undefined without a listener, or if it was closed before. */
  readonly listening: Promise<number | undefined>;
  /** Resolves when it has stopped; rejects when the Lease was lost, after which only a new process may lead. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
}

export async function run(options: RunOptions, log: Logger): Promise<RunningOperator> {
  // Started parts stop in the reverse order, also if a later one fails to start.
  await using started = new AsyncDisposableStack();
  let runner: Runner | undefined;
  const metrics = new OperatorMetrics(
    () => runner?.depths() ?? new Map(),
    () => objects.sizes(),
  );
  const api = started.adopt(
    ApiServer.fromDefault(({ verb, resource }, status) => metrics.requested(verb, resource, status)),
    (each) => each.close(),
  );
  const namespace = options.namespace ?? api.namespace;
  // Two programs of one machine are two: the one must not take the other's Lease for its own.
  const identity = options.identity ?? `${hostname()}_${randomBytes(4).toString('hex')}`;
  let ready = false;
  const warn = (what: string) => (error: unknown) => log.warn({ err: error }, what);
  const cluster = new ClusterObjects(
    api,
    {
      onRestart(resource, error) {
        metrics.watchRestarted(resource);
        log.warn({ resource, err: error }, 'watch broke; resuming it');
      },
    },
    () => lease.mustHold(),
  );
  const objects = new CachedObjects(cluster, { onRead: (resource, from) => metrics.read(resource, from) });
  const events = new ClusterEvents(api, identity, warn('an Event could not be written'));
  started.defer(() => events.flushed());
  const registries = started.adopt(new RegistryClient(options.egress), (each) => each.close());
  const fetcher = openFetcher({
    egress: options.egress,
    objects,
    registries,
    onFetched: (type, ok) => metrics.fetched(type, ok),
  });
  started.defer(() => fetcher.close());
  const images = started.adopt(new ImageStore({ registries, objects, events }), (each) => each.close());
  const volumes = new ImageVolumes(api, (available, why) => log.info({ available }, `image volumes: ${why}`));
  const controlPlanes = started.adopt(new ControlPlanes(new Connections(options.egress.guard)), (each) => each.close());
  const archives = new ArtifactFiles(objects, (project, revision) =>
    pullRevision({ registries, objects }, project, revision),
  );
  const compilations = new Compilations({ onCompiled: (seconds, ok) => metrics.compiled(seconds, ok) });
  const listener = options.listener && secureListener(api, namespace, options.listener, log, () => webhooks?.look());
  const webhooks =
    listener &&
    options.listener &&
    openWebhooks({
      api,
      listener,
      options: options.listener,
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
  const endpoints = new Endpoints({
    ...options.bind,
    registry: metrics.registry,
    // Services of webhooks have only ready pods: one whose listener does not answer would let everything pass.
    ready: () => ready && (listener?.listening ?? true) && (webhooks?.known ?? true),
  });
  const lease = new Lease(api, {
    namespace,
    name: LEASE,
    identity,
    onError: warn('the Lease could not be written'),
  });
  const port = await endpoints.start();
  started.defer(() => endpoints.close());
  const ended = Promise.withResolvers<void>();
  const listening = listener ? listener.start() : Promise.resolve(undefined);
  started.defer(() => listener?.close());
  webhooks?.start();
  started.defer(() => webhooks?.close());
  listening.catch((error: unknown) => ended.reject(error));
  started.defer(() => lease.close());
  // Registered first: nothing may write once another replica leads.
  const led = started.use(new AsyncDisposableStack());

  async function lead(): Promise<void> {
    if (options.leaderElection) {
      ready = true;
      log.info({ namespace, identity }, 'waiting for the Lease');
      if (!(await lease.acquire(() => ended.reject(new Error('the Lease was lost: another replica leads'))))) return;
    }
    // The link's settings in pods must not change from one reconcile to the next.
    if (options.listener?.linkService && (await listening) === undefined) return;
    if (led.disposed) return;
    metrics.leads(true);
    const { namespaces, namespaceSelector, image } = options;
    log.info({ namespaces, namespaceSelector, image }, 'leading');
    const filter = namespaceSelector ? new SelectedNamespaces(objects, namespaceSelector) : undefined;
    const view = namespaceView(objects, namespaces, filter);
    const link = listener && openLinkOf(listener, view);
    led.defer(() => link?.close());
    const census = options.listener?.webhookService === undefined ? undefined : censusOf(view);
    led.defer(() => census?.close());
    await census?.start();
    if (led.disposed) return;
    const updatePace = new UpdatePace({
      atOnce: options.updatesAtOnce,
      objects,
      namespaces,
      onStop: (failed) =>
        log.error(
          { failed },
          'the update of gateway pods has stopped: the pods of these projects did not become ready',
        ),
    });
    metrics.watchUpdates(() => updatePace.counts());
    runner = new Runner({
      objects,
      namespaces,
      ...(filter ? { filter } : {}),
      workers: options.workers,
      controllers: controllers({
        objects,
        catalog,
        events,
        compilations,
        sources: fetcher.sources,
        foreignUses: new ForeignUses(),
        namespaces: view,
        probe: probeProvenance,
        readMetrics: probeMetrics,
        measurements: new Measurements(),
        fingerprints: new FingerprintCache(),
        exchangedParts: new ExchangedParts(objects),
        keptConnections: new KeptConnections(closeKept),
        updatePace,
        ...(link ? { link: link.host } : {}),
        ...(census ? { census } : {}),
        policy: options.policy,
        ...(webhooks ? { webhookDrift: () => webhooks.drift } : {}),
        settings: {
          image: options.image,
          policy: options.policy,
          operatorNamespace: namespace,
          egressAllow: options.egress.egressAllow,
          ...(link ? { linkOf: link.linkOf } : {}),
        },
        registries: { images, volumes },
        controlPlanes,
        readArchive: async (project, revision) => (await archives.get(project, revision)).bytes,
        // Reading a Secret by name is all that the operator may do with Secrets: see api/rbac.ts.
        watchSecrets: false,
      }),
      events: {
        onReconciled: (controller, seconds, ok) => metrics.reconciled(controller, seconds, ok),
        onError: (controller, key, error) =>
          log[isPassing(error) ? 'info' : 'error']({ controller, key, err: error }, 'reconcile failed; retrying'),
      },
    });
    led.adopt(runner, (each) => each.close());
    await runner.start();
    ready = !led.disposed;
    log.info('watching');
  }

  function censusOf(view: NamespaceView): SidecarCensus {
    return new SidecarCensus({
      objects: cluster,
      events,
      namespaces: options.namespaces,
      readsNamespaces: view.labels !== undefined,
      includes: (name) => view.includes(name),
    });
  }

  function openLinkOf(secure: SecureListener, view: NamespaceView): OpenLink | undefined {
    const service = options.listener?.linkService;
    if (service === undefined) return undefined;
    const address = options.linkAddress ?? ownAddress();
    if (address === undefined) throw new Error('this machine has no address that pods can reach: set --link-address');
    return openLink({
      api,
      routes: secure.routes,
      endpoint: { namespace, service, address, port: secure.port },
      ca: () => secure.ca,
      objects,
      namespaces: view,
      files: archives,
      registry: metrics.registry,
      log,
    });
  }

  const leading = lead().catch((error: unknown) => ended.reject(error));
  const running = started.move();
  let closing: Promise<void> | undefined;
  const close = () => {
    ready = false;
    closing ??= running.disposeAsync().then(async () => {
      await leading;
      ended.resolve();
    });
    return closing;
  };
  return { port, listening, stopped: ended.promise, close };
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
