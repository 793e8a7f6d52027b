/** Traces and their parts, for programs that embed the gateway, or run beside it. */
import type { createExporter, Exporter } from './otlp.ts';

export { randomHex } from '../spans/random-hex.ts';
export { SERVER, Span } from '../spans/span.ts';
export type { Exporter } from './otlp.ts';
export { SAMPLED, type Traced, takeTraceContext } from './trace-context.ts';
export { type TracingOptions, tracingOptions } from './tracing-options.ts';

/** Loads the exporter of spans, which takes time and memory: call it only if requests are traced. */
export async function openExporter(...given: Parameters<typeof createExporter>): Promise<Exporter> {
  const otlp = await import('./otlp.ts');
  return otlp.createExporter(...given);
}
