/** `gw-operator run`: the controllers on a cluster, once this replica leads. */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { catalog } from './catalog.ts';
import { controllers } from './controllers/controllers.ts';
import { Compilations } from './controllers/gateway-project/compilation.ts';
import { probeProvenance } from './controllers/gateway-project/pod-state.ts';
import { ApiServer } from './runtime/api-server.ts';
import { ClusterObjects } from './runtime/cluster-objects.ts';
import { Endpoints } from './runtime/endpoints.ts';
import { ClusterEvents } from './runtime/events.ts';
import { Lease } from './runtime/lease.ts';
import { OperatorMetrics } from './runtime/metrics.ts';
import { Runner } from './runtime/runner.ts';

export interface RunOptions {
  /** Namespaces to look at; none means all. */
  readonly namespaces: readonly string[];
  /** Image of gateway pods where a project names none. */
  readonly image: string;
  /** Namespace of the operator: its Lease and its NetworkPolicy peers. Default: the kubeconfig's or the pod's. */
  readonly namespace?: string;
  readonly leaderElection: boolean;
  /** Host and port of health and metrics. */
  readonly bind: { readonly host: string; readonly port: number };
  /** Reconciles at once, a controller. */
  readonly workers: number;
  /** Name of this replica; default the host's, which in a pod is the pod's. */
  readonly identity?: string;
}

export interface RunningOperator {
  /** Port of health and metrics. */
  readonly port: number;
  /** Resolves when it has stopped; rejects when the Lease was lost, after which only a new process may lead. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
}

export async function run(options: RunOptions, log: Logger): Promise<RunningOperator> {
  const api = ApiServer.fromDefault();
  const namespace = options.namespace ?? api.namespace;
  const identity = options.identity ?? hostname();
  let runner: Runner | undefined;
  let ready = false;
  const metrics = new OperatorMetrics(() => runner?.depths() ?? new Map());
  const warn = (what: string) => (error: unknown) => log.warn({ err: error }, what);
  const objects = new ClusterObjects(api, {
    onRestart(resource, error) {
      metrics.watchRestarted(resource);
      log.warn({ resource, err: error }, 'watch broke; resuming it');
    },
  });
  const events = new ClusterEvents(api, identity, warn('an Event could not be written'));
  const compilations = new Compilations({ onCompiled: (seconds, ok) => metrics.compiled(seconds, ok) });
  const endpoints = new Endpoints({ ...options.bind, registry: metrics.registry, ready: () => ready });
  const lease = new Lease(api, {
    namespace,
    name: 'gw-operator',
    identity,
    onError: warn('the Lease could not be written'),
  });
  const port = await endpoints.start();
  const ended = Promise.withResolvers<void>();

  async function lead(): Promise<void> {
    if (options.leaderElection) {
      ready = true;
      log.info({ namespace, identity }, 'waiting for the Lease');
      if (!(await lease.acquire(() => ended.reject(new Error('the Lease was lost: another replica leads'))))) return;
    }
    metrics.leads(true);
    log.info({ namespaces: options.namespaces, image: options.image }, 'leading');
    runner = new Runner({
      objects,
      namespaces: options.namespaces,
      workers: options.workers,
      controllers: controllers({
        objects,
        catalog,
        events,
        compilations,
        probe: probeProvenance,
        settings: { image: options.image, operatorNamespace: namespace },
        // Reading a Secret by name is all that the operator may do with Secrets: see api/rbac.ts.
        watchSecrets: false,
      }),
      events: {
        onReconciled: (controller, seconds, ok) => metrics.reconciled(controller, seconds, ok),
        onError: (controller, key, error) =>
          log.error({ controller, key, err: error }, 'reconcile failed; trying again'),
      },
    });
    await runner.start();
    ready = true;
    log.info('watching');
  }

  const leading = lead().catch((error: unknown) => ended.reject(error));
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      ready = false;
      // The runner first: nothing of ours may write once another replica leads.
      await runner?.close();
      await events.flushed();
      await lease.close();
      await leading;
      await endpoints.close();
      await api.close();
      ended.resolve();
    })();
    return closing;
  };
  return { port, stopped: ended.promise, close };
}
