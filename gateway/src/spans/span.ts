/** One span, in the shape that OpenTelemetry's exporters take, made with as little as that needs. */
import type { Attributes, HrTime, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** Kinds of spans; the numbers are those of `SpanKind`, whose module is loaded only if spans are exported. */
export const INTERNAL: SpanKind = 0;
export const SERVER: SpanKind = 1;
export const CLIENT: SpanKind = 2;

const UNSET: SpanStatus = { code: 0 };
const ERROR: SpanStatus = { code: 2 };
const NONE: never[] = [];

/** State that all spans of an exporter share; receives them when they have ended. */
export interface SpanSink {
  readonly resource: ReadableSpan['resource'];
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
  ended(span: Span): void;
}

export class Span implements ReadableSpan {
  name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parentSpanContext?: SpanContext;
  attributes: Attributes;
  status = UNSET;
  readonly links = NONE;
  readonly events = NONE;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #sink: SpanSink;
  /** Milliseconds since 1970 at which the monotonic clock was 0, as it was for this request. */
  readonly #epoch: number;
  readonly #startedAt: number;
  #endedAt = 0;

  constructor(
    sink: SpanSink,
    span: {
      readonly name: string;
      readonly kind: SpanKind;
      readonly context: SpanContext;
      readonly parent: SpanContext | null;
      readonly attributes: Attributes;
      readonly epoch: number;
      readonly startedAt: number;
    },
  ) {
    this.#sink = sink;
    this.name = span.name;
    this.kind = span.kind;
    this.context = span.context;
    if (span.parent !== null) this.parentSpanContext = span.parent;
    this.attributes = span.attributes;
    this.#epoch = span.epoch;
    this.#startedAt = span.startedAt;
  }

  get id(): string {
    return this.context.spanId;
  }

  /** Marks it as failed; `type` is from a small set (semantic conventions: `error.type`). */
  failed(type: string): void {
    this.status = ERROR;
    this.attributes['error.type'] = type;
  }

  /** Notes the status that another server answered with (semantic conventions: from 400 on it is an error). */
  received(status: number): void {
    this.attributes['http.response.status_code'] = status;
    if (status >= 400) this.failed(String(status));
  }

  /** Ends the span and passes it on; later calls are ignored. */
  end(): void {
    if (this.#endedAt !== 0) return;
    this.#endedAt = performance.now();
    this.#sink.ended(this);
  }

  get ended(): boolean {
    return this.#endedAt !== 0;
  }

  get resource() {
    return this.#sink.resource;
  }

  get instrumentationScope() {
    return this.#sink.instrumentationScope;
  }

  spanContext(): SpanContext {
    return this.context;
  }

  get startTime(): HrTime {
    return hrTime(this.#epoch + this.#startedAt);
  }

  get endTime(): HrTime {
    return hrTime(this.#epoch + this.#endedAt);
  }

  get duration(): HrTime {
    return hrTime(this.#endedAt - this.#startedAt);
  }
}

/** Seconds and nanoseconds of milliseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
}
