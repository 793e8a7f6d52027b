/** W3C Trace Context (https://www.w3.org/TR/trace-context/): reads it from requests, and writes it for the next hop. */
import { changeHeader, type Exchange, headerOf, joinedHeader } from '../exchange.ts';
import { randomHex } from '../spans/random-hex.ts';

/** Version, trace id, parent id, flags; versions after 00 may go on after them. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const VERSION_00_LENGTH = 55;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** The trace flag that says that the caller may have recorded the trace. */
export const SAMPLED = 1;
/** Flags that are passed on: sampled, and that the trace id is random. */
const KNOWN_FLAGS = 3;

/** The part of an exchange that says which trace it belongs to. */
export type Traced = Pick<Exchange, 'headers' | 'traceId' | 'parentSpanId' | 'traceFlags'>;

/** Takes the trace from the request, or begins an undecided one. */
export function takeTraceContext(request: Traced): void {
  const text = joinedHeader(request.headers, 'traceparent');
  const found = text === undefined ? null : TRACEPARENT.exec(text);
  if (found !== null && isValid(found)) {
    request.traceId = found[1] as string;
    request.parentSpanId = found[2] as string;
    request.traceFlags = Number.parseInt(found[3] as string, 16) & KNOWN_FLAGS;
    return;
  }
  request.traceId = randomHex(16);
  // It belongs to a traceparent, and a valid one is missing.
  if (headerOf(request.headers, 'tracestate') !== undefined) changeHeader(request.headers, 'remove', 'tracestate', '');
}

function isValid([text, traceId, spanId]: RegExpExecArray): boolean {
  if (text.startsWith('00') && text.length !== VERSION_00_LENGTH) return false;
  return traceId !== NO_TRACE && spanId !== NO_SPAN;
}

/**
 * Returns the `traceparent` for the next hop. `spanId`: of the span that calls it; null if the request is not recorded.
 * Returns null without a trace: an unsampled one made up here would keep the next hop from sampling.
 */
export function traceparentOf(request: Traced, spanId: string | null): string | null {
  const parent = spanId ?? request.parentSpanId;
  return parent === null ? null : `00-${request.traceId}-${parent}-0${request.traceFlags}`;
}
