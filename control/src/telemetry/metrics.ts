/**
 * Counts what the control plane does, for scrapers (docs/control-metrics.md). No label takes a value from a client
 * (docs/decisions.md#labels-closed).
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type LabelsOf, METRICS, type NameOf } from './metric-table.ts';

export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #beforeScrape: (() => Promise<void> | void)[] = [];

  constructor() {
    for (const [name, { type, help, labels, buckets }] of Object.entries(METRICS)) {
      const configuration = { name, help, labelNames: Object.keys(labels), registers: [this.#registry] };
      if (type === 'counter') this.#counters.set(name, new Counter(configuration));
      else if (type === 'gauge') this.#gauges.set(name, new Gauge(configuration));
      else this.#histograms.set(name, new Histogram({ ...configuration, buckets: [...(buckets ?? [])] }));
    }
  }

  count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by = 1): void {
    this.#counters.get(name)?.inc(textOf(labels), by);
  }

  /** Observes a value, in seconds if the name ends so. */
  observe<N extends NameOf<'histogram'>>(name: N, labels: LabelsOf<N>, value: number): void {
    this.#histograms.get(name)?.observe(textOf(labels), value);
  }

  set<N extends NameOf<'gauge'>>(name: N, labels: LabelsOf<N>, value: number): void {
    this.#gauges.get(name)?.set(textOf(labels), value);
  }

  /** Runs before each scrape, to `set` gauges; if it throws, they keep their values. */
  onScrape(prepare: () => Promise<void> | void): void {
    this.#beforeScrape.push(prepare);
  }

  /** Adds the process's own metrics: memory, CPU, event loop. Once in a process. */
  addProcessMetrics(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Returns the metrics in the text format of Prometheus. */
  async render(): Promise<{ readonly type: string; readonly text: string }> {
    await Promise.allSettled(this.#beforeScrape.map(async (prepare) => prepare()));
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

function textOf(labels: object): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}
