/** Every metric of the gateway, those of its capabilities among them. */
import {
  METRICS as CORE_METRICS,
  type CounterInfo,
  type HistogramInfo,
  type MetricInfo,
  type MetricName,
  type SampledInfo,
} from '../src/telemetry/metric-table.ts';
import { CAPABILITIES } from './capabilities.ts';

export const CAPABILITY_METRICS: Readonly<Record<string, CounterInfo | HistogramInfo | SampledInfo>> = Object.assign(
  {},
  ...CAPABILITIES.map(({ metrics }) => metrics),
);

type MetricRow = Omit<MetricInfo, 'labels'> & { readonly labels: readonly string[] };

/** The type names those of the table only. */
export const METRICS: Readonly<Record<MetricName, MetricRow>> = {
  ...CORE_METRICS,
  ...Object.fromEntries(
    Object.entries(CAPABILITY_METRICS).map(([name, info]): [string, MetricRow] => {
      const row = { help: info.help, labels: Object.keys(info.labels) };
      if ('buckets' in info) return [name, { type: 'histogram', ...row, buckets: info.buckets }];
      return [name, { type: 'type' in info ? info.type : 'counter', ...row }];
    }),
  ),
};
