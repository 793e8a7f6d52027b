/** Panels of the Grafana dashboard of a gateway, over the metrics of docs/metrics.md. */
import type { JsonObject } from '@gw/gateway/artifact';

interface Query {
  /** PromQL; `SERIES` stands for the selector of the gateway's series, `RATE` for the window of rates. */
  readonly expr: string;
  /** Legend of a series. */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  /** Unit in Grafana, such as `reqps`. */
  readonly unit: string;
  readonly description?: string;
  readonly type: 'stat' | 'timeseries';
  /** Width out of 24. */
  readonly width: number;
  readonly queries: readonly Query[];
  /** Values from which it is yellow and red. */
  readonly thresholds?: readonly [number, number];
}

const quantile = (q: number, metric: string, by: string) =>
  `histogram_quantile(${q}, sum by (le${by}) (rate(${metric}_bucket{SERIES}[RATE])))`;
const rate = (metric: string, by: string, more = '') => `sum by (${by}) (rate(${metric}{SERIES${more}}[RATE]))`;
const increase = (metric: string, by: string) => `sum by (${by}) (increase(${metric}{SERIES}[1h]))`;
const mean = (metric: string, by: string) =>
  `sum by (${by}) (rate(${metric}_sum{SERIES}[RATE])) / sum by (${by}) (rate(${metric}_count{SERIES}[RATE]))`;

const stat = (title: string, unit: string, expr: string, more: Partial<Panel> = {}): Panel => ({
  title,
  unit,
  type: 'stat',
  width: 4,
  queries: [{ expr, legend: '' }],
  ...more,
});
const series = (title: string, unit: string, queries: readonly Query[], more: Partial<Panel> = {}): Panel => ({
  title,
  unit,
  type: 'timeseries',
  width: 12,
  queries,
  ...more,
});

/** Rows of panels, by title. */
const ROWS: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'Now',
    [
      stat('Requests', 'reqps', 'sum(rate(gw_requests_total{SERIES}[RATE]))'),
      stat(
        'Failed',
        'percentunit',
        'sum(rate(gw_requests_total{SERIES, status=~"5.."}[RATE])) / sum(rate(gw_requests_total{SERIES}[RATE]))',
        { description: 'Share of answers with a status of 500 or above.', thresholds: [0.001, 0.01] },
      ),
      stat('99th percentile', 's', quantile(0.99, 'gw_request_duration_seconds', '')),
      stat('Open connections', 'short', 'sum(gw_active_connections{SERIES})'),
      stat('Pods', 'short', 'count(gw_active_connections{SERIES})'),
      stat('Certificate ends in', 's', 'min(gw_tls_certificate_expiry_seconds{SERIES}) - time()', {
        description: 'Only with TLS. It should be renewed long before.',
      }),
    ],
  ],
  [
    'Requests',
    [
      series('By status', 'reqps', [{ expr: rate('gw_requests_total', 'status'), legend: '{{status}}' }]),
      series('By operation', 'reqps', [
        { expr: `topk(10, ${rate('gw_requests_total', 'method, path')})`, legend: '{{method}} {{path}}' },
      ]),
      series('Failed, by operation', 'reqps', [
        { expr: rate('gw_requests_total', 'method, path', ', status=~"5.."'), legend: '{{method}} {{path}}' },
      ]),
      series('Refused by validation', 'reqps', [
        { expr: rate('gw_validation_failures_total', 'reason'), legend: '{{reason}}' },
      ]),
    ],
  ],
  [
    'Time',
    [
      series(
        'Of all requests',
        's',
        [0.5, 0.95, 0.99].map((q) => ({
          expr: quantile(q, 'gw_request_duration_seconds', ''),
          legend: `${q * 100} %`,
        })),
      ),
      series('99th percentile, by operation', 's', [
        {
          expr: `topk(10, ${quantile(0.99, 'gw_request_duration_seconds', ', method, path')})`,
          legend: '{{method}} {{path}}',
        },
      ]),
      series('95th percentile of upstreams, to the head of the answer', 's', [
        {
          expr: quantile(0.95, 'gw_dispatch_duration_seconds', ', dispatcher, upstream'),
          legend: '{{dispatcher}} {{upstream}}',
        },
      ]),
      series('Mean in middlewares', 's', [
        { expr: mean('gw_middleware_duration_seconds', 'middleware, phase'), legend: '{{middleware}} {{phase}}' },
      ]),
    ],
  ],
  [
    'AI models',
    [
      series(
        'Spend an hour, by consumer',
        'currencyUSD',
        [
          {
            expr: `topk(10, ${increase('gw_plugin_ai_cost_tracker_cost_usd_total', 'consumer')})`,
            legend: '{{consumer}}',
          },
        ],
        { description: 'Dollars in the last hour, by the prices of ai-cost-tracker.' },
      ),
      series(
        'Spend an hour, by model',
        'currencyUSD',
        [
          {
            expr: `topk(10, ${increase('gw_plugin_ai_cost_tracker_cost_usd_total', 'provider, model')})`,
            legend: '{{provider}} {{model}}',
          },
        ],
        { description: 'Models as the price list has them; "other" has no price.' },
      ),
      series('Tokens', 'short', [
        { expr: rate('gw_plugin_ai_proxy_tokens_total', 'provider, type'), legend: '{{provider}} {{type}} a second' },
      ]),
      series('AI endpoints that fail or are limited', 'reqps', [
        {
          expr: 'sum by (endpoint, outcome) (rate(gw_plugin_ai_proxy_endpoint_requests_total{SERIES, outcome!="answered"}[RATE]))',
          legend: '{{endpoint}} {{outcome}}',
        },
      ]),
      series('Refused by policies, and fallbacks', 'reqps', [
        { expr: 'sum(rate(gw_plugin_ai_cost_tracker_refused_total{SERIES}[RATE]))', legend: 'budget' },
        { expr: 'sum(rate(gw_plugin_ai_token_limit_refused_total{SERIES}[RATE]))', legend: 'token limit' },
        { expr: rate('gw_plugin_ai_prompt_guard_blocked_total', 'reason'), legend: 'prompt: {{reason}}' },
        {
          expr: rate('gw_plugin_ai_proxy_fallback_total', 'from_provider, to_provider'),
          legend: 'fallback from {{from_provider}} to {{to_provider}}',
        },
      ]),
    ],
  ],
  [
    'Firewall',
    [
      series(
        'Inspected requests',
        'reqps',
        [{ expr: rate('gw_waf_requests_total', 'outcome'), legend: '{{outcome}}' }],
        {
          description: '"would-deny" would be refused in mode block; "limit" did not come to its end. Only with waf.',
        },
      ),
      series('Refused, or would be, by operation', 'reqps', [
        {
          expr: `topk(10, ${rate('gw_waf_requests_total', 'method, path, outcome', ', outcome=~"denied|would-deny|limit"')})`,
          legend: '{{method}} {{path}} {{outcome}}',
        },
      ]),
      series('Matches of rules, by family', 'short', [
        { expr: rate('gw_waf_rule_matches_total', 'family'), legend: '{{family}} a second' },
      ]),
    ],
  ],
  [
    'Pods and plugins',
    [
      series('Requests, by pod', 'reqps', [{ expr: rate('gw_requests_total', 'pod'), legend: '{{pod}}' }]),
      series('Connections', 'short', [
        { expr: 'sum by (pod) (gw_active_connections{SERIES})', legend: '{{pod}}' },
        { expr: 'sum(rate(gw_connections_total{SERIES}[RATE]))', legend: 'accepted a second' },
      ]),
      series('CPU of plugins', 'percentunit', [
        { expr: rate('gw_wasm_execution_duration_seconds_sum', 'plugin'), legend: '{{plugin}}' },
      ]),
      series('Bodies', 'Bps', [
        { expr: 'sum(rate(gw_request_size_bytes_sum{SERIES}[RATE]))', legend: 'in' },
        { expr: 'sum(rate(gw_response_size_bytes_sum{SERIES}[RATE]))', legend: 'out' },
      ]),
      series('Request headers that are not admitted', 'short', [
        { expr: 'sum(rate(gw_request_headers_dropped_total{SERIES}[RATE]))', legend: 'a second' },
      ]),
      series(
        'New artifacts over the link',
        'short',
        [
          { expr: 'sum by (result) (increase(gw_artifact_updates_total{SERIES}[RATE]))', legend: '{{result}}' },
          { expr: 'sum(gw_artifact_drift{SERIES})', legend: 'pods with another one than wanted' },
          { expr: 'sum(gw_control_plane_connected{SERIES})', legend: 'pods that are connected' },
        ],
        { description: 'Only of pods that hold a link to the operator or to a control plane.' },
      ),
    ],
  ],
];

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const SERIES = 'namespace="$namespace", job="$gateway"';
const WHOLE_WIDTH = 24;

function panel(id: number, at: { readonly x: number; readonly y: number }, of: Panel): JsonObject {
  const { title, unit, description, type, width, queries, thresholds } = of;
  const steps = thresholds?.map((value, n) => ({ color: n === 0 ? 'yellow' : 'red', value })) ?? [];
  return {
    id,
    title,
    type,
    datasource: DATASOURCE,
    gridPos: { ...at, w: width, h: heightOf(of) },
    fieldConfig: {
      defaults: { unit, thresholds: { mode: 'absolute', steps: [{ color: 'green', value: null }, ...steps] } },
      overrides: [],
    },
    targets: queries.map(({ expr, legend }, n) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + n),
      datasource: DATASOURCE,
      expr: expr.replaceAll('SERIES', SERIES).replaceAll('RATE', '$__rate_interval'),
      legendFormat: legend,
    })),
    ...(description ? { description } : {}),
  };
}

function heightOf({ type }: Panel): number {
  return type === 'stat' ? 4 : 8;
}

/** Returns the panels in rows under their titles, from left to right. */
export function dashboardPanels(): readonly JsonObject[] {
  const all: JsonObject[] = [];
  let y = 0;
  for (const [title, panels] of ROWS) {
    all.push({ id: all.length + 1, title, type: 'row', gridPos: { x: 0, y: y++, w: WHOLE_WIDTH, h: 1 }, panels: [] });
    let x = 0;
    for (const each of panels) {
      all.push(panel(all.length + 1, { x, y }, each));
      x += each.width;
      if (x >= WHOLE_WIDTH || each === panels.at(-1)) {
        x = 0;
        y += heightOf(each);
      }
    }
  }
  return all;
}
