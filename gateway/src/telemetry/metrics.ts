/**
 * The metrics of reference 1, section 4.2. Counted in typed arrays whose places are found at load, because counting
 * through prom-client costs a third of the throughput; prom-client renders them when they are scraped.
 */
import { Registry } from 'prom-client';

/** Seconds, for everything that takes time. */
export const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Bytes, for bodies. */
export const SIZE_BUCKETS = [0, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];
/** Seconds of CPU in a plugin. */
export const EXECUTION_BUCKETS = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 5e-3, 2.5e-2];

type Labels = Record<string, string>;
interface Sample {
  labels: Labels & { le?: string };
  value: number;
  metricName?: string;
}

/** Counts of one histogram and label set: a count for each bucket, then the sum. */
export class Cell {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 2);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    const counts = this.#counts;
    counts[i] = (counts[i] as number) + 1;
    counts[bounds.length + 1] = (counts[bounds.length + 1] as number) + value;
  }

  samples(name: string, labels: Labels): Sample[] {
    let total = 0;
    const samples: Sample[] = this.#bounds.map((bound, i) => {
      total += this.#counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: total };
    });
    total += this.#counts[this.#bounds.length] as number;
    samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total });
    samples.push({ metricName: `${name}_sum`, labels, value: this.#counts[this.#bounds.length + 1] as number });
    samples.push({ metricName: `${name}_count`, labels, value: total });
    return samples;
  }
}

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
  readonly cells = new Map<number, RequestCell>();
  constructor(labels: { method: string; path: string; api: string }) {
    this.labels = labels;
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

/** Why a request was refused before its middlewares or its dispatcher: the closed set of `reason` (D21). */
export const VALIDATION_REASONS = [
  ...(['path', 'query', 'header', 'cookie', 'body', 'content-type'] as const),
  ...(['body-size', 'header-count', 'header-size', 'uri-length', 'malformed'] as const),
] as const;
export type ValidationReason = (typeof VALIDATION_REASONS)[number];

/** Methods that are labels; all others are `OTHER`, so that no client makes labels (D21). */
export const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'QUERY',
]);

export class Metrics {
  readonly registry = new Registry();
  readonly #operations = new Map<string, OperationMetrics>();
  readonly #families = new Map<string, Map<string, { labels: Labels; cell: Cell }>>();
  readonly #failures = new Map<string, Sample>();
  activeConnections = 0;
  connections = 0;
  droppedHeaders = 0;

  constructor() {
    const requests = (pick: (cell: RequestCell) => Cell) => (name: string) =>
      this.#requestCells().flatMap(({ labels, cell }) => pick(cell).samples(name, labels));
    this.#register('gw_requests_total', 'counter', 'Requests answered', () =>
      this.#requestCells().map(({ labels, cell }) => ({ labels, value: cell.requests })),
    );
    const histogram = 'histogram';
    this.#register(
      'gw_request_duration_seconds',
      histogram,
      'Time from head to end',
      requests((c) => c.duration),
    );
    this.#register(
      'gw_request_size_bytes',
      histogram,
      'Bytes of request bodies',
      requests((c) => c.requestSize),
    );
    this.#register(
      'gw_response_size_bytes',
      histogram,
      'Bytes of response bodies',
      requests((c) => c.responseSize),
    );
    this.#register('gw_active_connections', 'gauge', 'Open client connections', () => one(this.activeConnections));
    this.#register('gw_connections_total', 'counter', 'Client connections accepted', () => one(this.connections));
    this.#register('gw_validation_failures_total', 'counter', 'Requests refused by validation', () => [
      ...this.#failures.values(),
    ]);
    this.#register('gw_request_headers_dropped_total', 'counter', 'Request headers not admitted', () =>
      one(this.droppedHeaders),
    );
    this.#family('gw_middleware_duration_seconds', 'Time in a middleware');
    this.#family('gw_dispatch_duration_seconds', 'Time from dispatch to the response head');
    this.#family('gw_wasm_execution_duration_seconds', 'CPU time in a plugin');
  }

  /** The same place for the same labels, also over reloads. */
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

  middleware(middleware: string, phase: 'request' | 'response'): Cell {
    return this.#cell('gw_middleware_duration_seconds', { middleware, phase }, DURATION_BUCKETS);
  }

  /** `upstream`: origin and path of the configured URL, or empty. */
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

  #family(name: string, help: string): void {
    const cells = new Map<string, { labels: Labels; cell: Cell }>();
    this.#families.set(name, cells);
    this.#register(name, 'histogram', help, () =>
      [...cells.values()].flatMap(({ labels, cell }) => cell.samples(name, labels)),
    );
  }

  #register(name: string, type: string, help: string, values: (name: string) => Sample[]): void {
    const metric = {
      name,
      help,
      type,
      aggregator: 'sum',
      get: async () => ({ name, help, type, aggregator: 'sum', values: values(name) }),
    };
    this.registry.registerMetric(metric as never);
  }
}

function one(value: number): Sample[] {
  return [{ labels: {}, value }];
}
