/** The end of every request: metrics and, where it is wanted, a line in the access log. */
import type { Exchange } from '../exchange.ts';
import { accessLine } from './access-log.ts';
import type { Log } from './log.ts';
import type { Metrics, OperationMetrics, ValidationReason } from './metrics.ts';

export class Recorder {
  readonly metrics: Metrics;
  readonly #log: Log;
  readonly #dev: boolean;
  #accessLog: boolean;

  /** `dev`: dropped headers are logged at warn instead of debug (reference 1, section 2.6). */
  constructor(metrics: Metrics, log: Log, dev: boolean) {
    this.metrics = metrics;
    this.#log = log;
    this.#dev = dev;
    this.#accessLog = log.logger.isLevelEnabled('info');
  }

  finished(x: Exchange, place: OperationMetrics, status: number, responseBytes: number): void {
    const seconds = (performance.now() - x.startedAt) / 1000;
    const requestBytes = x.bodyStream === null ? 0 : x.bodyStream.received;
    place.count(status, seconds, requestBytes, responseBytes);
    if (!this.#accessLog) return;
    const { path: route, api } = place.labels;
    this.#log.line(accessLine({ x, route, api, status, seconds, requestBytes, responseBytes }));
  }

  validationFailed(place: OperationMetrics, reason: ValidationReason): void {
    this.metrics.validationFailed(place.labels, reason);
  }

  /** `names` is asked only where they are logged. */
  headersDropped(x: Exchange, count: number, names: () => string[]): void {
    this.metrics.droppedHeaders += count;
    const level = this.#dev ? 'warn' : 'debug';
    if (!this.#log.logger.isLevelEnabled(level)) return;
    this.#log.logger[level]({ request_id: x.requestId, headers: names() }, 'request headers dropped');
  }

  upstreamFailed(x: Exchange, cause: string): void {
    this.#log.logger.warn({ request_id: x.requestId, trace_id: x.traceId, path: x.path, cause }, 'upstream failed');
  }

  crashed(x: Exchange, error: unknown): void {
    this.#log.logger.error({ request_id: x.requestId, path: x.path, err: error }, 'request failed in the gateway');
  }
}
