/**
 * The metrics of docs/reference/gateway.md#metrics. Counted in typed arrays at places found at load, because counting
 * through prom-client costs a third of the throughput; prom-client renders them when they are scraped.
 */

import type { PluginDecision } from '../exchange.ts';
import { KNOWN_METHODS } from '../spans/request-trace.ts';
import { type DirectionFigures, noFigures } from '../web-socket-figures.ts';
import { operationMembers } from './access-log.ts';
import { Cell, type Labels, type Sample } from './cell.ts';
import type { EventLoopWatch } from './event-loop.ts';
import type { McpUpstreamFigures, PluginFigures, StateFigures } from './figures.ts';
import { LabelledCounter } from './labelled-counter.ts';
import { LabelledHistogram } from './labelled-histogram.ts';
import {
  type CountedLimit,
  type CounterInfo,
  DURATION_BUCKETS,
  EXECUTION_BUCKETS,
  type HelperOutcome,
  type HistogramInfo,
  type LabelledValue,
  type LimitOutcome,
  METRICS,
  type MetricInfo,
  type MetricName,
  type SampledInfo,
  SIZE_BUCKETS,
  type ToolOutcome,
  type ValidationReason,
} from './metric-table.ts';
import type { DescribedMetric, MetricsText, ScrapedMetric } from './scraped-metric.ts';

/** Most tools of one MCP upstream; more are counted together. */
const MOST_UPSTREAM_TOOLS = 1_000;

/** Counter and histograms of one operation and status. */
class RequestCell {
  requests = 0;
  readonly duration = new Cell(DURATION_BUCKETS);
  readonly requestSize = new Cell(SIZE_BUCKETS);
  readonly responseSize = new Cell(SIZE_BUCKETS);
}

/** The cells of one operation, made for each status when it first occurs. */
export class OperationMetrics {
  readonly labels: { readonly method: string; readonly path: string; readonly api: string };
  /** Members of its lines in the access log. */
  readonly logged: string;
  readonly cells = new Map<number, RequestCell>();
  constructor(labels: { method: string; path: string; api: string }) {
    this.labels = labels;
    this.logged = operationMembers(labels);
  }

  count(status: number, seconds: number, requestBytes: number, responseBytes: number): void {
    let cell = this.cells.get(status);
    if (!cell) {
      cell = new RequestCell();
      this.cells.set(status, cell);
    }
    cell.requests++;
    cell.duration.observe(seconds);
    cell.requestSize.observe(requestBytes);
    cell.responseSize.observe(responseBytes);
  }
}

export class Metrics {
  readonly #scraped = new Map<string, ScrapedMetric>();
  readonly #operations = new Map<string, OperationMetrics>();
  readonly #families = new Map<string, Map<string, { labels: Labels; cell: Cell }>>();
  readonly #failures = new Map<string, Sample>();
  /** By plugin. */
  readonly #decisions = new Map<string, Map<PluginDecision, Sample>>();
  readonly #toolCalls = new LabelledCounter(['tool', 'outcome']);
  /** Null if no traffic is served. */
  eventLoop: EventLoopWatch | null = null;
  readonly #helperVerdicts = new LabelledCounter(['verdict']);
  readonly #passedOn = new LabelledCounter(['mcp_upstream', 'tool', 'outcome']);
  readonly #upstreamLists = new LabelledCounter(['mcp_upstream', 'outcome']);
  /** Names of tools that are labels, by upstream. */
  readonly #upstreamTools = new Map<string, Set<string>>();
  /** Null until there are any. */
  mcpUpstreams: { readonly figures: readonly McpUpstreamFigures[] } | null = null;
  /** Null until the port is made. */
  namedUpstreams: { readonly inFlight: ReadonlyMap<string, number> } | null = null;
  readonly #ejections = new LabelledCounter(['upstream']);
  /** Runtimes of the served artifacts, and of those with requests that have not ended. */
  readonly runtimes = new Set<{ readonly figures: PluginFigures }>();
  /** Null if the state is in the process. */
  state: { readonly figures?: StateFigures } | null = null;
  /** Null until the port is made. */
  headerMemory: { readonly used: number } | null = null;
  readonly #yields = new LabelledCounter(['limit', 'yielded']);
  activeConnections = 0;
  connections = 0;
  droppedHeaders = 0;
  readonly webSockets = noFigures();
  /** Unix seconds; null without TLS. */
  certificateExpiry: number | null = null;

  constructor() {
    const requests = (pick: (cell: RequestCell) => Cell) => (name: string) =>
      this.#requestCells().flatMap(({ labels, cell }) => pick(cell).samples(name, labels));
    this.#register('gw_requests_total', () =>
      this.#requestCells().map(({ labels, cell }) => ({ labels, value: cell.requests })),
    );
    this.#register(
      'gw_request_duration_seconds',
      requests((cell) => cell.duration),
    );
    this.#register(
      'gw_request_size_bytes',
      requests((cell) => cell.requestSize),
    );
    this.#register(
      'gw_response_size_bytes',
      requests((cell) => cell.responseSize),
    );
    this.#register('gw_active_connections', () => one(this.activeConnections));
    this.#register('gw_connections_total', () => one(this.connections));
    this.#register('gw_shared_limit_yields_total', () => this.#yields.samples);
    this.#register('gw_held_header_bytes', () => one(this.headerMemory?.used ?? 0));
    this.#register('gw_websocket_connections', () => one(this.webSockets.open));
    this.#register('gw_websocket_messages_total', () => this.#byDirection('messages'));
    this.#register('gw_websocket_bytes_total', () => this.#byDirection('bytes'));
    this.#register('gw_validation_failures_total', () => [...this.#failures.values()]);
    this.#register('gw_event_loop_delay_seconds', (name) => this.eventLoop?.delay.samples(name, {}) ?? []);
    this.#register('gw_validation_helper_total', () => this.#helperVerdicts.samples);
    this.#register('gw_mcp_tool_calls_total', () => this.#toolCalls.samples);
    this.#register('gw_mcp_upstream_calls_total', () => this.#passedOn.samples);
    this.#register('gw_mcp_upstream_lists_total', () => this.#upstreamLists.samples);
    this.#register('gw_mcp_upstream_tools', () =>
      (this.mcpUpstreams?.figures ?? []).flatMap(({ upstream, offered, held }) => [
        { labels: { mcp_upstream: upstream, standing: 'offered' }, value: offered },
        { labels: { mcp_upstream: upstream, standing: 'held' }, value: held },
      ]),
    );
    this.#register('gw_upstream_requests_in_flight', () =>
      [...(this.namedUpstreams?.inFlight ?? [])].map(([upstream, value]) => ({ labels: { upstream }, value })),
    );
    this.#register('gw_upstream_ejections_total', () => this.#ejections.samples);
    this.#register('gw_plugin_decisions_total', () =>
      [...this.#decisions.values()].flatMap((decisions) => [...decisions.values()]),
    );
    const instances = (pick: (figures: PluginFigures) => number) => () =>
      one([...this.runtimes].reduce((sum, { figures }) => sum + pick(figures), 0));
    this.#register(
      'gw_plugin_instances',
      instances(({ instances }) => instances),
    );
    this.#register(
      'gw_plugin_instances_busy',
      instances(({ busy }) => busy),
    );
    this.#register(
      'gw_plugin_queue',
      instances(({ waiting }) => waiting),
    );
    this.#register('gw_state_away', () => (this.state?.figures ? one(Number(this.state.figures.away)) : []));
    this.#register('gw_state_failures_total', () => (this.state?.figures ? one(this.state.figures.failures) : []));
    this.#register('gw_request_headers_dropped_total', () => one(this.droppedHeaders));
    this.#register('gw_tls_certificate_expiry_seconds', () =>
      this.certificateExpiry === null ? [] : one(this.certificateExpiry),
    );
    this.#family('gw_middleware_duration_seconds');
    this.#family('gw_dispatch_duration_seconds');
    this.#family('gw_wasm_execution_duration_seconds');
  }

  /** All metrics in the text format of scrapers. */
  async render(): Promise<MetricsText> {
    const { renderMetrics } = await import('./rendered-metrics.ts');
    return renderMetrics([...this.#scraped.values()]);
  }

  /** All metrics as JSON, for the process that adds those of several up. */
  async asJson(): Promise<object[]> {
    const { metricsAsJson } = await import('./rendered-metrics.ts');
    return metricsAsJson([...this.#scraped.values()]);
  }

  #byDirection(figure: keyof DirectionFigures): Sample[] {
    const { received, sent } = this.webSockets;
    return [
      { labels: { direction: 'received' }, value: received[figure] },
      { labels: { direction: 'sent' }, value: sent[figure] },
    ];
  }

  /** Returns the same metrics for the same labels, also over reloads. */
  operation(method: string, path: string, api: string): OperationMetrics {
    const key = `${method}\0${path}\0${api}`;
    let found = this.#operations.get(key);
    if (!found) {
      found = new OperationMetrics({ method, path, api });
      this.#operations.set(key, found);
    }
    return found;
  }

  /** Requests that matched no operation. */
  unmatched(method: string): OperationMetrics {
    return this.operation(KNOWN_METHODS.has(method) ? method : 'OTHER', 'unmatched', '');
  }

  validationFailed({ method, path }: OperationMetrics['labels'], reason: ValidationReason): void {
    const key = `${method}\0${path}\0${reason}`;
    const sample = this.#failures.get(key) ?? { labels: { method, path, reason }, value: 0 };
    sample.value++;
    this.#failures.set(key, sample);
  }

  decided(plugin: string, decision: PluginDecision): void {
    let decisions = this.#decisions.get(plugin);
    if (decisions === undefined) {
      decisions = new Map();
      this.#decisions.set(plugin, decisions);
    }
    const sample = decisions.get(decision);
    if (sample === undefined) decisions.set(decision, { labels: { plugin, decision }, value: 1 });
    else sample.value++;
  }

  /** A validation in a helper process has ended. */
  validatedInHelper(outcome: HelperOutcome): void {
    this.#helperVerdicts.count(outcome);
  }

  yielded(limit: CountedLimit, outcome: LimitOutcome): void {
    this.#yields.count(limit, outcome);
  }

  toolCalled(tool: string, outcome: ToolOutcome): void {
    this.#toolCalls.count(tool, outcome);
  }

  /** Counts a call. An upstream names its tools itself, others after each reload: so many of each are told apart. */
  passedOn(upstream: string, tool: string, outcome: ToolOutcome): void {
    const known = this.#upstreamTools.get(upstream) ?? new Set();
    this.#upstreamTools.set(upstream, known);
    if (known.size < MOST_UPSTREAM_TOOLS) known.add(tool);
    this.#passedOn.count(upstream, known.has(tool) ? tool : 'other', outcome);
  }

  /** An address of a named upstream was taken out. */
  ejected(upstream: string): void {
    this.#ejections.count(upstream);
  }

  mcpUpstreamListed(upstream: string, succeeded: boolean): void {
    this.#upstreamLists.count(upstream, succeeded ? 'succeeded' : 'failed');
  }

  /** Lists a metric of a capability that is not open, without values. */
  announce({ name, type, help }: DescribedMetric): void {
    this.#registerAs(name, { type, help, labels: [] }, () => []);
  }

  /** Registers a counter that is not in the table here: a capability's. */
  counter(name: string, { help, labels }: CounterInfo): LabelledCounter {
    const counter = new LabelledCounter(Object.keys(labels));
    this.#registerAs(name, { type: 'counter', help, labels: [] }, () => counter.samples);
    return counter;
  }

  /** Registers a metric of a capability that keeps its values. */
  sampled(name: string, { type, help }: SampledInfo, values: () => LabelledValue[]): void {
    this.#registerAs(name, { type, help, labels: [] }, values);
  }

  /** The same for a histogram. */
  histogram(name: string, { help, labels, buckets }: HistogramInfo): LabelledHistogram {
    const histogram = new LabelledHistogram(Object.keys(labels), buckets);
    this.#registerAs(name, { type: 'histogram', help, labels: [] }, () => histogram.samples(name));
    return histogram;
  }

  middleware(middleware: string, phase: 'request' | 'response'): Cell {
    return this.#cell('gw_middleware_duration_seconds', { middleware, phase }, DURATION_BUCKETS);
  }

  /** `upstream`: origin and path of the configured URL, the name of a named upstream, or empty. */
  dispatch(dispatcher: string, upstream: string): Cell {
    return this.#cell('gw_dispatch_duration_seconds', { dispatcher, upstream }, DURATION_BUCKETS);
  }

  execution(plugin: string, fn: string): Cell {
    return this.#cell('gw_wasm_execution_duration_seconds', { plugin, function: fn }, EXECUTION_BUCKETS);
  }

  #cell(family: string, labels: Labels, bounds: readonly number[]): Cell {
    const cells = this.#families.get(family) as Map<string, { labels: Labels; cell: Cell }>;
    const key = Object.values(labels).join('\0');
    let found = cells.get(key);
    if (!found) {
      found = { labels, cell: new Cell(bounds) };
      cells.set(key, found);
    }
    return found.cell;
  }

  #requestCells(): { labels: Labels; cell: RequestCell }[] {
    return [...this.#operations.values()].flatMap(({ labels, cells }) =>
      [...cells].map(([status, cell]) => ({ labels: { ...labels, status: String(status) }, cell })),
    );
  }

  #family(name: MetricName): void {
    const cells = new Map<string, { labels: Labels; cell: Cell }>();
    this.#families.set(name, cells);
    this.#register(name, () => [...cells.values()].flatMap(({ labels, cell }) => cell.samples(name, labels)));
  }

  #register(name: MetricName, values: (name: string) => Sample[]): void {
    this.#registerAs(name, METRICS[name], values);
  }

  #registerAs(name: string, info: MetricInfo, values: (name: string) => Sample[]): void {
    const { type, help, aggregator = 'sum' } = info;
    const described = { name, help, type, aggregator };
    this.#scraped.set(name, { ...described, get: async () => ({ ...described, values: values(name) }) });
  }
}

function one(value: number): Sample[] {
  return [{ labels: {}, value }];
}
