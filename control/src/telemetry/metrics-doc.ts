/** docs/control-metrics.md, from the table of metrics. */
import { METRICS } from './metric-table.ts';

export function renderControlMetrics(): string {
  const metrics = Object.entries(METRICS);
  const rows = metrics.map(([name, { type, labels, help }]) => {
    const names = Object.keys(labels).map((label) => `\`${label}\``);
    return `| \`${name}\` | ${type} | ${names.join(', ') || 'none'} | ${help} |`;
  });
  const labels = metrics.flatMap(([name, info]) =>
    Object.entries(info.labels).map(([label, values]) => {
      const said = typeof values === 'string' ? values : values.map((value) => `\`${value}\``).join(', ');
      return `| \`${name}\` | \`${label}\` | ${said} |`;
    }),
  );
  const buckets = metrics.flatMap(([name, info]) =>
    info.buckets ? [`| \`${name}\` | ${info.buckets.join(', ')} |`] : [],
  );
  return `# Metrics of the control plane

Generated from the table in the control plane. \`GET /metrics\` on the admin listener of \`gw-control serve\` (\`--admin-bind\`) serves them in the text format of Prometheus, with those of the process (\`process_*\`, \`nodejs_*\`). Those of gateways: [metrics](metrics.md).

| metric | type | labels | what |
|---|---|---|---|
${rows.join('\n')}

## Labels

No label takes a value from a client.

| metric | label | values |
|---|---|---|
${labels.join('\n')}

## Buckets

Upper bounds, in seconds; \`+Inf\` is there besides.

| histogram | buckets |
|---|---|
${buckets.join('\n')}
`;
}
