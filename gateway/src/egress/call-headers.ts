/** Headers of a call, as they are sent and as they come back. */
import { type Exchange, type HeaderList, headerOf } from '../exchange.ts';
import { HOPS } from '../headers/hops.ts';
import type { Span } from '../spans/span.ts';
import { traceparentOf } from '../telemetry/trace-context.ts';

interface CallHeaders {
  readonly headers?: HeaderList;
  readonly passing?: HeaderList;
}

/** Headers that the client sets itself. */
const OWN_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'traceparent', HOPS]);

export function withTrace(call: CallHeaders, exchange: Exchange | null, span: Span | null): string[] {
  const sent = [...without(call.headers ?? [], (name) => OWN_HEADERS.has(name))];
  if (!exchange) return [...sent, ...(call.passing ?? [])];
  sent.push(HOPS, String(exchange.hops + 1));
  const traceparent = traceparentOf(exchange, span?.id ?? null);
  if (!traceparent) return sent;
  const state = headerOf(exchange.headers, 'tracestate');
  return [...sent, 'traceparent', traceparent, ...(state === undefined ? [] : ['tracestate', state])];
}

export function without(headers: HeaderList, isDropped: (name: string) => boolean): HeaderList {
  return headers.filter((_, i) => !isDropped(headers[i - (i % 2)] ?? ''));
}

/** As undici parses them. */
export type ParsedHeaders = Record<string, string | string[] | undefined>;

export function headerList(parsed: ParsedHeaders): HeaderList {
  return Object.entries(parsed).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : value === undefined ? [] : [value]).flatMap((each) => [name, each]),
  );
}
