/** Metrics of the operator, for a scraper. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export class OperatorMetrics {
  readonly registry = new Registry();
  readonly #reconciles: Counter<'controller' | 'result'>;
  readonly #seconds: Histogram<'controller'>;
  readonly #compiles: Histogram<'result'>;
  readonly #reviews: Histogram<'webhook' | 'result'>;
  readonly #fetches: Counter<'type' | 'result'>;
  readonly #restarts: Counter<'resource'>;
  readonly #requests: Counter<'verb' | 'resource' | 'status'>;
  readonly #reads: Counter<'resource' | 'from'>;
  readonly #leader: Gauge;
  #depths: () => ReadonlyMap<string, number> = () => new Map();

  /** `cached`: called at the scrape, returns the number of kept objects by kind. */
  constructor(cached: () => ReadonlyMap<string, number>) {
    const registers = [this.registry];
    const depths = () => this.#depths();
    collectDefaultMetrics({ register: this.registry });
    this.#reconciles = new Counter({
      name: 'gw_operator_reconciles_total',
      help: 'Reconciles, by controller and result (ok or error)',
      labelNames: ['controller', 'result'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'gw_operator_reconcile_duration_seconds',
      help: 'Time that a reconcile took',
      labelNames: ['controller'],
      registers,
    });
    this.#reviews = new Histogram({
      name: 'gw_operator_review_duration_seconds',
      help: 'Time that an admission review took, by webhook (validate or pods) and result (allowed or refused)',
      labelNames: ['webhook', 'result'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.#compiles = new Histogram({
      name: 'gw_operator_compile_duration_seconds',
      help: 'Time that a compilation took, by result (ok or failed)',
      labelNames: ['result'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.#fetches = new Counter({
      name: 'gw_operator_source_fetches_total',
      help: 'Looks at registries and URLs of ApiSpecs and PluginRefs, by type (oci or url) and result (ok or error)',
      labelNames: ['type', 'result'],
      registers,
    });
    this.#restarts = new Counter({
      name: 'gw_operator_watch_restarts_total',
      help: 'Watches that broke and were resumed, by resource',
      labelNames: ['resource'],
      registers,
    });
    this.#requests = new Counter({
      name: 'gw_operator_api_requests_total',
      help: 'Requests to the API server, by verb, resource and status (0: no answer)',
      labelNames: ['verb', 'resource', 'status'],
      registers,
    });
    this.#reads = new Counter({
      name: 'gw_operator_reads_total',
      help: 'Reads of objects, by resource and whether the cache had them or the API server was asked (cache or server)',
      labelNames: ['resource', 'from'],
      registers,
    });
    new Gauge({
      name: 'gw_operator_cached_objects',
      help: 'Objects that are kept as the watches saw them, by kind',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, size] of cached()) this.set({ kind }, size);
      },
    });
    this.#leader = new Gauge({ name: 'gw_operator_leader', help: '1 while this replica reconciles', registers });
    new Gauge({
      name: 'gw_operator_queue_depth',
      help: 'Objects that wait to be reconciled, by controller',
      labelNames: ['controller'],
      registers,
      collect() {
        for (const [controller, depth] of depths()) this.set({ controller }, depth);
      },
    });
  }

  reconciled(controller: string, seconds: number, ok: boolean): void {
    this.#reconciles.inc({ controller, result: ok ? 'ok' : 'error' });
    this.#seconds.observe({ controller }, seconds);
  }

  reviewed(webhook: 'validate' | 'pods', allowed: boolean, seconds: number): void {
    this.#reviews.observe({ webhook, result: allowed ? 'allowed' : 'refused' }, seconds);
  }

  compiled(seconds: number, ok: boolean): void {
    this.#compiles.observe({ result: ok ? 'ok' : 'failed' }, seconds);
  }

  fetched(type: 'url' | 'oci', ok: boolean): void {
    this.#fetches.inc({ type, result: ok ? 'ok' : 'error' });
  }

  /** Reports, at the time of the scrape, whether API servers use other paths than those of the webhooks. */
  watchDrift(drifts: () => boolean): void {
    new Gauge({
      name: 'gw_operator_webhook_drift',
      help: '1 while webhook configurations have another path than the operator gives them, so that objects and pods may pass unseen',
      registers: [this.registry],
      collect() {
        this.set(drifts() ? 1 : 0);
      },
    });
  }

  /** Counts at the scrape, on the leader alone. */
  watchUpdates(counts: () => Promise<Readonly<Record<'waiting' | 'updating' | 'failed', number>>>): void {
    new Gauge({
      name: 'gw_operator_updates',
      help: 'GatewayProjects whose pods wait to be replaced because the operator changed, are being replaced, or could not be, by state (waiting, updating or failed)',
      labelNames: ['state'],
      registers: [this.registry],
      async collect() {
        for (const [state, count] of Object.entries(await counts())) this.set({ state }, count);
      },
    });
  }

  /** `depths`: called at the scrape, on the leader alone, returns the number of waiting keys by controller. */
  watchQueues(depths: () => ReadonlyMap<string, number>): void {
    this.#depths = depths;
  }

  watchRestarted(resource: string): void {
    this.#restarts.inc({ resource });
  }

  requested(verb: string, resource: string, status: number): void {
    this.#requests.inc({ verb, resource, status: String(status) });
  }

  read(resource: string, from: 'cache' | 'server'): void {
    this.#reads.inc({ resource, from });
  }

  leads(leads: boolean): void {
    this.#leader.set(leads ? 1 : 0);
  }
}
