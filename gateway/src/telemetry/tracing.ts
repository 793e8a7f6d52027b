/** Traces of requests (docs/reference/gateway.md#traces): chooses those to record, and exports their spans. */
import type { TraceState } from '@opentelemetry/api';
import { type Exchange, joinedHeader } from '../exchange.ts';
import { randomHex } from '../spans/random-hex.ts';
import { RequestTrace } from '../spans/request-trace.ts';
import type { Log } from './log.ts';
import type { Exporter } from './otlp.ts';
import { SAMPLED } from './trace-context.ts';
import type { TracingOptions } from './tracing-options.ts';

export class Tracing {
  readonly #exporter: Exporter;
  readonly #parseTraceState: (text: string) => TraceState;
  /** Traces with last 32 bits below it are recorded. */
  readonly #below: number;

  constructor(exporter: Exporter, sampling: number, parseTraceState: (text: string) => TraceState) {
    this.#exporter = exporter;
    this.#parseTraceState = parseTraceState;
    this.#below = sampling * 2 ** 32;
  }

  /**
   * Begins the trace of a request; returns null if it is not recorded. A caller's decision, in the sampled flag of
   * `traceparent`, holds; without one the share of `--trace-sampling` is recorded.
   */
  begin(exchange: Exchange): RequestTrace | null {
    if (exchange.parentSpanId === null) {
      if (Number.parseInt(exchange.traceId.slice(24), 16) < this.#below) exchange.traceFlags |= SAMPLED;
      // The next hop is told of the decision.
      else exchange.parentSpanId = randomHex(8);
    }
    if ((exchange.traceFlags & SAMPLED) === 0) return null;
    return new RequestTrace(this.#exporter, exchange, this.#traceState(exchange));
  }

  /** Exports remaining spans, for at most that long; then export stops. */
  close(withinMs: number): Promise<void> {
    return this.#exporter.close(withinMs);
  }

  #traceState({ headers }: Exchange): TraceState | undefined {
    const text = joinedHeader(headers, 'tracestate');
    return text === undefined ? undefined : this.#parseTraceState(text);
  }
}

/** Loads the exporter of traces, which takes time and memory: call it only if requests are traced. */
export async function createTracing(options: TracingOptions, log: Log): Promise<Tracing> {
  const [{ createExporter }, { createTraceState }] = await Promise.all([
    import('./otlp.ts'),
    import('@opentelemetry/api'),
  ]);
  return new Tracing(createExporter(options, log), options.sampling, createTraceState);
}
