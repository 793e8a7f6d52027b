/** The end of every request: metrics and, if enabled, a line in the access log. */
import type { Exchange } from '../exchange.ts';
import type { ProblemError } from '../problems.ts';
import { accessLine } from './access-log.ts';
import type { Log } from './log.ts';
import type { ValidationReason } from './metric-table.ts';
import type { Metrics, OperationMetrics } from './metrics.ts';

const HEALTH = '/__gw/health';

/** An answer that the transport has sent by itself, as the access log and the metrics take it. */
export interface Refused {
  readonly exchange: Exchange;
  readonly status: number;
  /** Reason that it is counted under; null unless it is a failed validation. */
  readonly reason: ValidationReason | null;
  /** Bytes of the body. */
  readonly bytes: number;
}

export class Recorder {
  readonly metrics: Metrics;
  readonly #log: Log;
  readonly #dev: boolean;

  /** `dev`: dropped headers are logged at warn instead of debug (docs/reference/gateway.md#header-admission). */
  constructor(metrics: Metrics, log: Log, dev: boolean) {
    this.metrics = metrics;
    this.#log = log;
    this.#dev = dev;
  }

  finished(exchange: Exchange, place: OperationMetrics, status: number, responseBytes: number): void {
    const seconds = (performance.now() - exchange.startedAt) / 1000;
    const requestBytes = exchange.bodyStream === null ? exchange.receivedUpgraded : exchange.bodyStream.received;
    place.count(status, seconds, requestBytes, responseBytes);
    if (exchange.outcome.decidedBy !== null)
      this.metrics.decided(exchange.outcome.decidedBy, exchange.outcome.decision);
    if (exchange.parts === null && !this.#log.informs) return;
    const { method, path: route, api } = place.labels;
    const ended = { exchange, method, route, api, status, seconds, requestBytes, responseBytes };
    if (exchange.parts !== null) for (const part of exchange.parts) part?.finished(ended);
    if (!this.#log.informs || exchange.parts?.some((part) => part?.unlogged?.(ended)) === true) return;
    // Probes ask all the time, and success is not worth a line.
    if (exchange.path === HEALTH && status === 200 && !this.#log.logger.isLevelEnabled('debug')) return;
    this.#log.line(accessLine(ended, place.logged));
  }

  /** Records an answer of the transport itself; such requests may lack a method. */
  refusedUnserved({ exchange, status, reason, bytes }: Refused): void {
    const place = this.metrics.unmatched(exchange.method);
    if (reason !== null) this.validationFailed(place, reason);
    this.finished(exchange, place, status, bytes);
  }

  validationFailed(place: OperationMetrics, reason: ValidationReason): void {
    this.metrics.validationFailed(place.labels, reason);
  }

  /** `names` is called only if they are logged. */
  headersDropped(exchange: Exchange, count: number, names: () => string[]): void {
    this.metrics.droppedHeaders += count;
    const level = this.#dev ? 'warn' : 'debug';
    if (!this.#log.logger.isLevelEnabled(level)) return;
    this.#log.logger[level]({ request_id: exchange.requestId, headers: names() }, 'request headers dropped');
  }

  upstreamFailed(exchange: Exchange, cause: string): void {
    this.#log.logger.warn(
      { request_id: exchange.requestId, trace_id: exchange.traceId, path: exchange.path, cause },
      'upstream failed',
    );
  }

  mcpUpstreamFailed(exchange: Exchange, details: { readonly mcp_upstream: string; tool: string; cause: string }): void {
    this.#log.logger.warn(
      { request_id: exchange.requestId, trace_id: exchange.traceId, ...details },
      'MCP upstream failed',
    );
  }

  /** `errors` have place and reason; they name no value of the response. */
  responseInvalid(
    exchange: Exchange,
    found: { readonly status: number; readonly errors: readonly ProblemError[]; readonly withheld: boolean },
  ): void {
    const { requestId: request_id, traceId: trace_id, method, operation } = exchange;
    const line = { request_id, trace_id, method, route: operation?.path, ...found };
    this.#log.logger.warn(line, 'the response does not match the API description');
  }

  responseNotValidated(exchange: Exchange, why: string): void {
    if (!this.#log.logger.isLevelEnabled('debug')) return;
    this.#log.logger.debug(
      { request_id: exchange.requestId, route: exchange.operation?.path, why },
      'response not validated',
    );
  }

  crashed(exchange: Exchange, error: unknown): void {
    const { requestId: request_id, traceId: trace_id, path } = exchange;
    this.#log.logger.error({ request_id, trace_id, path, err: error }, 'request failed in the gateway');
  }
}
