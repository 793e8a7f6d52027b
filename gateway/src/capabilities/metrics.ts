/** Every metric of the gateway, those of its capabilities among them. */
import {
  METRICS as CORE_METRICS,
  type CounterInfo,
  type HistogramInfo,
  type MetricInfo,
  type MetricName,
} from '../telemetry/metric-table.ts';
import { CAPABILITIES } from './capabilities.ts';

export const CAPABILITY_METRICS: Readonly<Record<string, CounterInfo | HistogramInfo>> = Object.assign(
  {},
  ...CAPABILITIES.map(({ metrics }) => metrics),
);

type MetricRow = Omit<MetricInfo, 'labels'> & { readonly labels: readonly string[] };

/** The type names those of the table only. */
export const METRICS: Readonly<Record<MetricName, MetricRow>> = {
  ...CORE_METRICS,
  ...Object.fromEntries(
    Object.entries(CAPABILITY_METRICS).map(([name, info]): [string, MetricRow] => {
      const buckets = 'buckets' in info ? info.buckets : undefined;
      const row = { help: info.help, labels: Object.keys(info.labels) };
      return [name, buckets ? { type: 'histogram', ...row, buckets } : { type: 'counter', ...row }];
    }),
  ),
};
