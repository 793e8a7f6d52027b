/** Telemetry of each request: metrics, one log line, a span. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EVENT_STREAM_TYPE } from '../api/media-types.ts';
import type { Metrics } from './metrics.ts';
import type { RequestSpans } from './request-spans.ts';

/** Milliseconds between log lines about credentials that were refused. */
const REFUSALS_EVERY_MS = 10_000;

/** `spans`: null if tracing is off. */
export function observeRequests(app: FastifyInstance, metrics: Metrics, spans: RequestSpans | null): void {
  const refusals = new Refusals();
  if (spans) app.addHook('onRequest', async (request, reply) => spans.begin(request, reply));
  app.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.config.operationId ?? 'other';
    const { statusCode: status, elapsedTime } = reply;
    metrics.count('gw_control_http_requests_total', { operation, status: classOf(status) });
    if (!isStream(reply)) {
      metrics.observe('gw_control_http_request_duration_seconds', { operation }, elapsedTime / 1000);
    }
    if (status === 401) {
      const reason = request.headers.authorization === undefined ? 'missing' : 'refused';
      metrics.count('gw_control_authentication_failures_total', { reason });
      if (reason === 'refused') refusals.note(request);
    }
    logged(request, status, elapsedTime, operation);
    spans?.end(request, operation, status);
  });
  app.addHook('onRequestAbort', async (request) => spans?.end(request, 'aborted', 499));
}

/** Logs a request without query and headers, which may be private. */
function logged(request: FastifyRequest, status: number, ms: number, operation: string): void {
  request.log.info(
    {
      method: request.method,
      path: pathOf(request),
      operation,
      status,
      duration_ms: Math.round(ms * 10) / 10,
      actor: request.actor?.name,
      remote: request.ip,
    },
    'request',
  );
}

function pathOf({ url }: FastifyRequest): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function isStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type') ?? '').startsWith(EVENT_STREAM_TYPE);
}

function classOf(status: number): '1xx' | '2xx' | '3xx' | '4xx' | '5xx' {
  if (status < 200) return '1xx';
  if (status < 300) return '2xx';
  if (status < 400) return '3xx';
  return status < 500 ? '4xx' : '5xx';
}

/** Limits the log to one line in ten seconds. */
class Refusals {
  #count = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  note(request: FastifyRequest): void {
    this.#count++;
    const now = performance.now();
    if (now - this.#saidAt < REFUSALS_EVERY_MS) return;
    request.log.warn({ refused: this.#count, remote: request.ip }, 'credentials were rejected');
    this.#saidAt = now;
    this.#count = 0;
  }
}
