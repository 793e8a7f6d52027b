/** One span for each request, by W3C Trace Context, to a collector by OTLP, as in the gateway. */
import {
  type Exporter,
  openExporter,
  randomHex,
  SAMPLED,
  SERVER,
  Span,
  type Traced,
  type TracingOptions,
  takeTraceContext,
} from '@gw/gateway/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

export async function requestSpans(options: TracingOptions, log: Logger): Promise<RequestSpans> {
  return new RequestSpans(await openExporter(options, { logger: log }), options.sampling);
}

export class RequestSpans {
  readonly #exporter: Exporter;
  /** Share of the traces begun here that is recorded. */
  readonly #sampling: number;
  readonly #spans = new WeakMap<FastifyRequest, Span>();

  constructor(exporter: Exporter, sampling: number) {
    this.#exporter = exporter;
    this.#sampling = sampling;
  }

  /** Follows a caller's decision to record the trace. Names the trace in `traceresponse`. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    const traced: Traced = {
      headers: request.raw.rawHeaders.map(lowerNames),
      traceId: '',
      parentSpanId: null,
      traceFlags: 0,
    };
    takeTraceContext(traced);
    const { traceId, parentSpanId } = traced;
    if (parentSpanId === null && Math.random() < this.#sampling) traced.traceFlags |= SAMPLED;
    if ((traced.traceFlags & SAMPLED) === 0) return;
    const spanId = randomHex(8);
    const { traceFlags } = traced;
    const span = new Span(this.#exporter, {
      name: request.method,
      kind: SERVER,
      context: { traceId, spanId, traceFlags },
      parent: parentSpanId === null ? null : { traceId, spanId: parentSpanId, traceFlags, isRemote: true },
      attributes: {
        'http.request.method': request.method,
        'url.path': request.url.split('?', 1)[0] ?? '/',
        'client.address': request.ip,
      },
      epoch: performance.timeOrigin,
      startedAt: performance.now(),
    });
    this.#spans.set(request, span);
    reply.header('traceresponse', `00-${traceId}-${spanId}-0${traceFlags}`);
  }

  end(request: FastifyRequest, operation: string, status: number): void {
    const span = this.#spans.get(request);
    if (!span || span.ended) return;
    span.name = operation;
    const { url: route } = request.routeOptions;
    if (route !== undefined) span.attributes['http.route'] = route;
    span.attributes['http.response.status_code'] = status;
    span.attributes['gw.request_id'] = request.id;
    if (status >= 500) span.failed(String(status));
    span.end();
  }

  /** Exports remaining spans, for at most that long. */
  close(withinMs: number): Promise<void> {
    return this.#exporter.close(withinMs);
  }
}

/** Names as exchanges have them; values as they are. */
function lowerNames(text: string, index: number): string {
  return index % 2 === 0 ? text.toLowerCase() : text;
}
