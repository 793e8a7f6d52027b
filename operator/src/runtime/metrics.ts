/** What the operator counts, for a scraper. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export class OperatorMetrics {
  readonly registry = new Registry();
  readonly #reconciles: Counter<'controller' | 'result'>;
  readonly #seconds: Histogram<'controller'>;
  readonly #compiles: Histogram<'result'>;
  readonly #restarts: Counter<'resource'>;
  readonly #leader: Gauge;

  /** `depths` gives the keys that wait, by controller, at the time of the scrape. */
  constructor(depths: () => ReadonlyMap<string, number>) {
    const registers = [this.registry];
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
    this.#compiles = new Histogram({
      name: 'gw_operator_compile_duration_seconds',
      help: 'Time that a compilation took, by result (ok or failed)',
      labelNames: ['result'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.#restarts = new Counter({
      name: 'gw_operator_watch_restarts_total',
      help: 'Watches that broke and were resumed, by resource',
      labelNames: ['resource'],
      registers,
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

  compiled(seconds: number, ok: boolean): void {
    this.#compiles.observe({ result: ok ? 'ok' : 'failed' }, seconds);
  }

  watchRestarted(resource: string): void {
    this.#restarts.inc({ resource });
  }

  leads(leads: boolean): void {
    this.#leader.set(leads ? 1 : 0);
  }
}
