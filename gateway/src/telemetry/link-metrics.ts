/** Metrics of connected mode: those of the process with the link, besides those of the workers. */
import { METRICS, type MetricName } from './metric-table.ts';
import type { ScrapedMetric } from './scraped-metric.ts';

const UPDATE_RESULTS = ['applied', 'refused'] as const;
type UpdateResult = (typeof UPDATE_RESULTS)[number];

export interface LinkFigures {
  readonly connected: boolean;
  readonly drifted: boolean;
  readonly updates: Readonly<Record<UpdateResult, number>>;
}

/** `figures`: returns current figures; null without a control plane: the metrics then have no values. */
export function linkMetrics(figures: () => LinkFigures | null): readonly ScrapedMetric[] {
  const metrics: ScrapedMetric[] = [];
  const register = (
    name: MetricName,
    values: (now: LinkFigures) => { labels: Record<string, string>; value: number }[],
  ) => {
    const { type, help } = METRICS[name];
    const described = { name, help, type, aggregator: 'sum' };
    const get = async () => {
      const now = figures();
      return { ...described, values: now === null ? [] : values(now) };
    };
    metrics.push({ ...described, get });
  };
  const one = (value: boolean) => [{ labels: {}, value: Number(value) }];
  register('gw_control_plane_connected', ({ connected }) => one(connected));
  register('gw_artifact_drift', ({ drifted }) => one(drifted));
  register('gw_artifact_updates_total', ({ updates }) =>
    UPDATE_RESULTS.map((result) => ({ labels: { result }, value: updates[result] })),
  );
  return metrics;
}
