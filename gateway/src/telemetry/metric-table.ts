/**
 * Every metric that the gateway exposes (docs/reference/gateway.md#metrics), but for those that capabilities bring
 * (features/metrics.ts); docs/metrics.md is generated from both.
 */

/** Seconds, for everything that takes time. */
export const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Bytes, for bodies. */
export const SIZE_BUCKETS = [0, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];
/** Seconds of CPU in a plugin. */
export const EXECUTION_BUCKETS = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 5e-3, 2.5e-2];

/**
 * Reasons for refusing a request before its middlewares or its dispatcher: the closed set of `reason`
 * (docs/decisions.md#labels-closed).
 */
const VALIDATION_REASONS = [
  ...(['path', 'query', 'header', 'cookie', 'body', 'content-type'] as const),
  ...(['body-size', 'header-count', 'header-size', 'uri-length', 'malformed'] as const),
  'pattern-steps',
  'deadline',
  'message',
] as const;
export type ValidationReason = (typeof VALIDATION_REASONS)[number];

/**
 * Outcome of a tool call: a result, a result that is an error, arguments that made no request, a 401 or 403 of a
 * middleware, or no result, since its client left or cancelled it.
 */
const TOOL_OUTCOMES = ['succeeded', 'failed', 'invalid', 'refused', 'cancelled'] as const;
export type ToolOutcome = (typeof TOOL_OUTCOMES)[number];

/**
 * How a validation in a helper process ended; `unprepared`: its schema takes too long to compile; `failed`: the process ran
 * out of memory, or crashed.
 */
const HELPER_OUTCOMES = ['valid', 'invalid', 'deadline', 'unprepared', 'failed', 'overloaded'] as const;
export type HelperOutcome = (typeof HELPER_OUTCOMES)[number];
/**
 * Outcome for a client that wanted a share of a shared limit, or held most of it: the newcomer was `refused`, or a
 * holding was `ended` for others.
 */
const LIMIT_OUTCOMES = ['refused', 'ended'] as const;
export type LimitOutcome = (typeof LIMIT_OUTCOMES)[number];
/** Limits that clients share and that are counted here, by their rows in shared-limits.ts. */
export const COUNTED_LIMITS = ['connections', 'header-memory', 'upstream-calls'] as const;
export type CountedLimit = (typeof COUNTED_LIMITS)[number];

const REQUEST = ['method', 'path', 'status', 'api'] as const;

/** Labels, with the meaning of their values. */
export const LABELS = {
  api: "slug of the spec's title; empty if no operation matched",
  direction: '`received` from clients, or `sent` to them',
  dispatcher: 'name of the plugin',
  function: 'hook of the plugin: `init`, `on_request`, `on_response`, `dispatch`, or one of the chunk hooks',
  limit: `one of ${COUNTED_LIMITS.map((each) => `\`${each}\``).join(', ')}`,
  mcp_upstream: 'name of the MCP upstream',
  method: 'method of the operation; if no operation matched, that of the request, or `OTHER`',
  middleware: 'name of the plugin',
  outcome: `one of ${TOOL_OUTCOMES.map((each) => `\`${each}\``).join(', ')}`,
  path: 'path template of the operation, or `unmatched`',
  phase: '`request` or `response`',
  plugin: 'name of the plugin',
  decision:
    '`answered`, `failed` (it trapped, or used up its CPU time or memory) or `overloaded` (there was no instance of it)',
  reason: `one of ${VALIDATION_REASONS.map((each) => `\`${each}\``).join(', ')}`,
  result: '`applied` or `refused`',
  yielded: '`refused`, the newcomer; or `ended`, what somebody held who held most',
  tool: 'name of the tool',
  standing: '`offered` to clients, or `held` back',
  status: 'status code of the answer; 499 where the client left before it',
  verdict: `one of ${HELPER_OUTCOMES.map((each) => `\`${each}\``).join(', ')}`,
  upstream:
    'origin and path of the configured URL, or the name of an upstream of `gw.yaml`; empty where the dispatcher called none',
} as const;

/** A counter that a capability brings. */
export interface CounterInfo {
  readonly help: string;
  /** Labels by name, in the order of counting, with the meaning of their values, a closed set. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A histogram that a capability brings. */
export interface HistogramInfo extends CounterInfo {
  /** Upper bounds. */
  readonly buckets: readonly number[];
}

/** A metric with values that a capability keeps itself, and returns when scraped. */
export interface SampledInfo extends CounterInfo {
  readonly type: 'counter' | 'gauge';
}

/** A value of it; every label has one. */
export interface LabelledValue {
  readonly labels: Record<string, string>;
  readonly value: number;
}

export interface MetricInfo {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly (keyof typeof LABELS)[];
  /** Upper bounds; of histograms only. */
  readonly buckets?: readonly number[];
  /** How the values of several workers become one. Default: they are added. */
  readonly aggregator?: 'max';
}

const table = {
  gw_requests_total: { type: 'counter', help: 'Requests answered', labels: REQUEST },
  gw_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from head to end',
    labels: REQUEST,
    buckets: DURATION_BUCKETS,
  },
  gw_request_size_bytes: { type: 'histogram', help: 'Bytes of request bodies', labels: REQUEST, buckets: SIZE_BUCKETS },
  gw_response_size_bytes: {
    type: 'histogram',
    help: 'Bytes of response bodies',
    labels: REQUEST,
    buckets: SIZE_BUCKETS,
  },
  gw_active_connections: { type: 'gauge', help: 'Open client connections', labels: [] },
  gw_connections_total: { type: 'counter', help: 'Client connections accepted', labels: [] },
  gw_websocket_connections: { type: 'gauge', help: 'Open WebSockets', labels: [] },
  gw_websocket_messages_total: { type: 'counter', help: 'Messages relayed in WebSockets', labels: ['direction'] },
  gw_websocket_bytes_total: {
    type: 'counter',
    help: 'Bytes relayed in WebSockets, as they travel',
    labels: ['direction'],
  },
  gw_validation_failures_total: {
    type: 'counter',
    help: 'Requests refused by validation',
    labels: ['method', 'path', 'reason'],
  },
  gw_event_loop_delay_seconds: {
    type: 'histogram',
    help: 'How late the event loop was, looked at 50 times a second',
    labels: [],
  },
  gw_validation_helper_total: {
    type: 'counter',
    help: 'Validations in helper processes',
    labels: ['verdict'],
  },
  gw_shared_limit_yields_total: {
    type: 'counter',
    help: 'Requests, connections and entries that were refused or ended because a shared limit was reached',
    labels: ['limit', 'yielded'],
  },
  gw_held_header_bytes: { type: 'gauge', help: 'Bytes of headers of open requests, as decoded', labels: [] },
  gw_middleware_duration_seconds: {
    type: 'histogram',
    help: 'Time in a middleware',
    labels: ['middleware', 'phase'],
    buckets: DURATION_BUCKETS,
  },
  gw_dispatch_duration_seconds: {
    type: 'histogram',
    help: 'Time from dispatch to the response head',
    labels: ['dispatcher', 'upstream'],
    buckets: DURATION_BUCKETS,
  },
  gw_wasm_execution_duration_seconds: {
    type: 'histogram',
    help: 'CPU time in a plugin',
    labels: ['plugin', 'function'],
    buckets: EXECUTION_BUCKETS,
  },
  gw_mcp_tool_calls_total: {
    type: 'counter',
    help: 'Calls of tools over MCP; each is also a request of its operation',
    labels: ['tool', 'outcome'],
  },
  gw_mcp_upstream_calls_total: {
    type: 'counter',
    help: 'Calls of tools that were passed on to MCP upstreams; `tool` is `other` past 1,000 names of one',
    labels: ['mcp_upstream', 'tool', 'outcome'],
  },
  gw_mcp_upstream_lists_total: {
    type: 'counter',
    help: 'Times that the tools of an MCP upstream were listed, or could not be',
    labels: ['mcp_upstream', 'outcome'],
  },
  gw_mcp_upstream_tools: {
    type: 'gauge',
    help: 'Tools of an MCP upstream that its settings allow',
    labels: ['mcp_upstream', 'standing'],
    aggregator: 'max',
  },
  gw_upstream_requests_in_flight: {
    type: 'gauge',
    help: 'Requests under way to a named upstream',
    labels: ['upstream'],
  },
  gw_upstream_ejections_total: {
    type: 'counter',
    help: 'Times that an address of a named upstream was taken out after failures',
    labels: ['upstream'],
  },
  gw_plugin_decisions_total: {
    type: 'counter',
    help: 'Requests that a plugin ended',
    labels: ['plugin', 'decision'],
  },
  gw_plugin_instances: { type: 'gauge', help: 'Plugin instances that exist, idle ones too', labels: [] },
  gw_plugin_instances_busy: { type: 'gauge', help: 'Plugin instances that run a call, or wait in one', labels: [] },
  gw_plugin_queue: { type: 'gauge', help: 'Calls that wait for a plugin instance', labels: [] },
  gw_state_away: {
    type: 'gauge',
    help: '1 while the state server does not answer, else 0; only with --state',
    labels: [],
    aggregator: 'max',
  },
  gw_state_failures_total: {
    type: 'counter',
    help: 'Questions to the state server that had no answer; only with --state',
    labels: [],
  },
  gw_request_headers_dropped_total: { type: 'counter', help: 'Request headers not admitted', labels: [] },
  gw_tls_certificate_expiry_seconds: {
    type: 'gauge',
    help: 'Unix time at which the certificate of the traffic port expires; only with TLS',
    labels: [],
    aggregator: 'max',
  },
  gw_control_plane_connected: {
    type: 'gauge',
    help: '1 while connected to the control plane, else 0; only with --control-plane',
    labels: [],
  },
  gw_artifact_updates_total: {
    type: 'counter',
    help: 'Artifacts that the control plane wanted served; only with --control-plane',
    labels: ['result'],
  },
  gw_artifact_drift: {
    type: 'gauge',
    help: '1 while the control plane says that another artifact should be served; only with --control-plane',
    labels: [],
  },
} as const satisfies Record<string, MetricInfo>;

export type MetricName = keyof typeof table;
export const METRICS: Readonly<Record<MetricName, MetricInfo>> = table;
