/** docs/metrics.md, from the table of metrics. */
import { LABELS } from '../src/telemetry/metric-table.ts';
import { CAPABILITY_METRICS, METRICS } from './metrics.ts';

export function renderMetrics(): string {
  const code = (texts: readonly string[]) => texts.map((each) => `\`${each}\``).join(', ') || 'none';
  const metrics = Object.entries(METRICS).map(
    ([name, { type, labels, help }]) => `| \`${name}\` | ${type} | ${code(labels)} | ${help} |`,
  );
  const ofCapabilities = Object.values(CAPABILITY_METRICS).flatMap(({ labels }) => Object.entries(labels));
  const labels = [...new Map([...ofCapabilities, ...Object.entries(LABELS)])]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, values]) => `| \`${name}\` | ${values} |`);
  const buckets = Object.entries(METRICS).flatMap(([name, { buckets }]) =>
    buckets ? [`| \`${name}\` | ${buckets.join(', ')} |`] : [],
  );
  return `# Metrics

Generated from the table in the gateway. \`GET /metrics\` on the admin port serves them in the text format of Prometheus. They count over all workers, and go on over reloads. How to scrape them: [observability](observability.md).

| metric | type | labels | what |
|---|---|---|---|
${metrics.join('\n')}

## Labels

No label takes a value from a client.

| label | values |
|---|---|
${labels.join('\n')}

## Buckets

Upper bounds, in the unit that the name ends in; \`+Inf\` is there besides.

| histogram | buckets |
|---|---|
${buckets.join('\n')}
`;
}
