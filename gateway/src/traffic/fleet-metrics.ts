/** Metrics of all workers as one: counters and histograms never go back, also if a worker has died. */
import type { MetricsText } from '../telemetry/scraped-metric.ts';
import type { MetricsSnapshot } from './messages.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A worker that does not answer within this is shown as it was when last asked. */
const ANSWER_MS = 2_000;

export class FleetMetrics {
  /** Snapshots of ended workers. */
  readonly #departed: MetricsSnapshot[] = [];

  /** Keeps the last known counts of an ended worker, without its gauges. */
  departed({ snapshot }: WorkerProcess): void {
    const counts = snapshot.filter((metric) => 'type' in metric && metric.type !== 'gauge');
    if (counts.length > 0) this.#departed.push(counts);
  }

  async render(workers: readonly WorkerProcess[]): Promise<MetricsText> {
    await this.#compact();
    await Promise.all(workers.map(refresh));
    const { summedMetrics, textOf } = await import('../telemetry/rendered-metrics.ts');
    return textOf(summedMetrics([...this.#departed, ...workers.map((each) => each.snapshot)]));
  }

  /** However many have gone, their sum is kept once. */
  async #compact(): Promise<void> {
    const count = this.#departed.length;
    if (count < 2) return;
    const { summedMetrics } = await import('../telemetry/rendered-metrics.ts');
    const sum = await summedMetrics(this.#departed).getMetricsAsJSON();
    this.#departed.splice(0, count, sum);
  }
}

async function refresh(worker: WorkerProcess): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  const snapshot = await Promise.race([
    worker.channel.call('metrics').catch(() => null),
    new Promise<null>((resolve) => {
      late = setTimeout(resolve, ANSWER_MS, null);
    }),
  ]);
  clearTimeout(late);
  if (snapshot !== null) worker.snapshot = snapshot;
}
