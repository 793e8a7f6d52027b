/** Every metric of the gateway, those of its capabilities among them. */
import {
  METRICS as CORE_METRICS,
  type CounterInfo,
  type MetricInfo,
  type MetricName,
  type SampledInfo,
} from '../telemetry/metric-table.ts';
import { CAPABILITIES } from './capabilities.ts';

const OF_CAPABILITIES: Readonly<Record<string, CounterInfo | SampledInfo>> = Object.assign(
  {},
  ...CAPABILITIES.map(({ metrics }) => metrics),
);

/** By name; one that is counted here is a counter with one label. */
export const CAPABILITY_METRICS: Readonly<Record<string, SampledInfo>> = Object.fromEntries(
  Object.entries(OF_CAPABILITIES).map(([name, info]) => [
    name,
    'labels' in info ? info : { type: 'counter', help: info.help, labels: { [info.label]: info.values } },
  ]),
);

type MetricRow = Omit<MetricInfo, 'labels'> & { readonly labels: readonly string[] };

/** The type names those of the table only. */
export const METRICS: Readonly<Record<MetricName, MetricRow>> = {
  ...CORE_METRICS,
  ...Object.fromEntries(
    Object.entries(CAPABILITY_METRICS).map(([name, { type, help, labels }]): [string, MetricRow] => [
      name,
      { type, help, labels: Object.keys(labels) },
    ]),
  ),
};
