/** Traces and what belongs to them, for whoever embeds the gateway, or stands beside it. */
import type { createExporter, Exporter } from './otlp.ts';

export { randomHex } from '../spans/random-hex.ts';
export { SERVER, Span } from '../spans/span.ts';
export type { Exporter } from './otlp.ts';
export { SAMPLED, type Traced, takeTraceContext } from './trace-context.ts';
export { type TracingOptions, TracingOptionsError, tracingOptions } from './tracing-options.ts';

/** Loads what exports spans. It takes time and memory: not asked for where nothing is traced. */
export async function openExporter(...given: Parameters<typeof createExporter>): Promise<Exporter> {
  const otlp = await import('./otlp.ts');
  return otlp.createExporter(...given);
}
