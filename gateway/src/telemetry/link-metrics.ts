/** Metrics of connected mode: of the process that holds the link, beside those of the workers. */
import { Registry } from 'prom-client';
import { METRICS, type MetricName } from './metric-table.ts';

export const UPDATE_RESULTS = ['applied', 'refused'] as const;
export type UpdateResult = (typeof UPDATE_RESULTS)[number];

export interface LinkFigures {
  readonly connected: boolean;
  readonly drifted: boolean;
  readonly updates: Readonly<Record<UpdateResult, number>>;
}

/** `figures`: as they are now; null without a control plane, where the metrics have no values. */
export function linkRegistry(figures: () => LinkFigures | null): Registry {
  const registry = new Registry();
  const register = (
    name: MetricName,
    values: (now: LinkFigures) => { labels: Record<string, string>; value: number }[],
  ) => {
    const { type, help } = METRICS[name];
    const get = async () => {
      const now = figures();
      return { name, help, type, aggregator: 'sum', values: now === null ? [] : values(now) };
    };
    registry.registerMetric({ name, help, type, get } as never);
  };
  const one = (value: boolean) => [{ labels: {}, value: Number(value) }];
  register('gw_control_plane_connected', ({ connected }) => one(connected));
  register('gw_artifact_drift', ({ drifted }) => one(drifted));
  register('gw_artifact_updates_total', ({ updates }) =>
    UPDATE_RESULTS.map((result) => ({ labels: { result }, value: updates[result] })),
  );
  return registry;
}
