/** Sends spans to a collector by OTLP. Loaded only if traces are exported. */
import { randomUUID } from 'node:crypto';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as HttpExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { Span, SpanSink } from '../spans/span.ts';
import { messageOf } from '../text/message-of.ts';
import { VERSION } from '../version.ts';
import type { Log } from './log.ts';
import type { OtlpProtocol, TracingOptions } from './tracing-options.ts';

/** Spans that may wait for a collector that is slow or away; past it they are dropped and counted. */
const QUEUE = 16_384;
/** Spans in one export. */
const BATCH = 512;
/** Milliseconds until fewer than a batch are exported. */
const EVERY_MS = 1000;
/** Milliseconds between log lines about spans that were dropped while the collector was there. */
const REPORT_EVERY_MS = 60_000;

export interface Exporter extends SpanSink {
  /** Exports waiting spans, for at most that long. */
  close(withinMs: number): Promise<void>;
}

export function createExporter(options: TracingOptions, log: Pick<Log, 'logger'>): Exporter {
  return new OtlpExporter(options, log);
}

type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0];

class OtlpExporter implements Exporter {
  readonly resource: ReadableSpan['resource'];
  readonly instrumentationScope = { name: 'gw', version: VERSION };
  readonly #processor: BatchSpanProcessor;
  readonly #logger: Log['logger'];
  /** For the log: without path and query, which may hold a key. */
  readonly #target: { readonly endpoint: string; readonly protocol: OtlpProtocol };
  #waiting = 0;
  #dropped = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #away = false;

  constructor({ url, protocol, resource }: TracingOptions, { logger }: Pick<Log, 'logger'>) {
    this.#logger = logger;
    this.#target = { endpoint: new URL(url).origin, protocol };
    this.resource = resourceFromAttributes({
      'service.version': VERSION,
      'service.instance.id': randomUUID(),
      ...resource,
    });
    const exporter = protocol === 'grpc' ? new GrpcExporter({ url }) : new HttpExporter({ url });
    this.#processor = new BatchSpanProcessor({
      exporter: this.#watched(exporter),
      maxQueueSize: QUEUE,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: EVERY_MS,
    });
  }

  ended(span: Span): void {
    if (this.#waiting >= QUEUE) {
      this.#dropped++;
      return;
    }
    this.#waiting++;
    this.#processor.onEnd(span);
  }

  async close(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    // It rejects with an error that `#noted` has logged.
    await Promise.race([this.#processor.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
    this.#dropped += this.#waiting;
    if (this.#dropped > 0) this.#logger.warn({ spans: this.#dropped }, 'spans were not exported');
  }

  /** The exporter, with its outcomes noted. */
  #watched(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        exporter.export(spans, (result) => {
          this.#waiting -= spans.length;
          this.#noted(result, spans.length);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    };
  }

  /** Logs a line when exporting begins to fail, and another when it works again. */
  #noted({ code, error }: Result, spans: number): void {
    if (code !== 0) {
      this.#dropped += spans;
      if (this.#away) return;
      this.#away = true;
      // If a name has several addresses, the combined error has only a code.
      const reason = messageOf(error) || (error && 'code' in error ? String(error.code) : 'no reason given');
      this.#logger.warn({ ...this.#target, reason }, 'cannot export traces: requests are served without them');
      return;
    }
    const now = performance.now();
    if (this.#away) this.#logger.info({ ...this.#target, spans_lost: this.#dropped }, 'traces are exported again');
    else if (this.#dropped > 0 && now - this.#reportedAt > REPORT_EVERY_MS) {
      this.#reportedAt = now;
      this.#logger.warn({ spans: this.#dropped }, 'spans were dropped: the collector is too slow');
    } else return;
    this.#away = false;
    this.#dropped = 0;
  }
}
