/** What the collector of tests received, span by span. */

/** OTLP over HTTP and over gRPC; undefined where there is no collector (a test without them is skipped). */
export const OTLP = process.env['OTLP_ENDPOINT'];
export const OTLP_GRPC = process.env['OTLP_GRPC_ENDPOINT'];

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of a trace. */
  readonly parentSpanId: string;
  readonly traceState: string | undefined;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly resource: Readonly<Record<string, string | number>>;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

interface FlatSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly Attribute[];
  readonly resource: { readonly attributes?: readonly Attribute[] };
}

const record = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.intValue === undefined ? (value.stringValue ?? '') : Number(value.intValue),
    ]),
  );

/** Those of one trace. */
export async function spansOf(traceId: string): Promise<ReceivedSpan[]> {
  const all: unknown = await (await fetch(`${OTLP}/spans`)).json();
  return (all as readonly FlatSpan[])
    .filter((each) => each.traceId === traceId)
    .map((each) => ({
      traceId: each.traceId,
      spanId: each.spanId,
      parentSpanId: each.parentSpanId ?? '',
      traceState: each.traceState,
      name: each.name,
      kind: each.kind,
      start: BigInt(each.startTimeUnixNano),
      end: BigInt(each.endTimeUnixNano),
      status: each.status?.code ?? 0,
      attributes: record(each.attributes),
      resource: record(each.resource.attributes),
    }));
}

/** The spans of a trace once its server span is among them: it ends last. */
export async function traceOf(traceId: string): Promise<ReceivedSpan[]> {
  for (;;) {
    const spans = await spansOf(traceId);
    if (spans.some(({ kind }) => kind === 2)) return spans;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Names as a tree, children by their start: `name > [children]`. */
export function tree(spans: readonly ReceivedSpan[], parent: ReceivedSpan | null = null): unknown[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const isChild = (span: ReceivedSpan) =>
    parent === null ? !ids.has(span.parentSpanId) : span.parentSpanId === parent.spanId;
  return spans
    .filter(isChild)
    .sort((a, b) => Number(a.start - b.start))
    .map((span) => {
      const children = tree(spans, span);
      return children.length === 0 ? span.name : [span.name, children];
    });
}
