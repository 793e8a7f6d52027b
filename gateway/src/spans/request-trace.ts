/**
 * The spans of one request: the server's, and below it those of validation, middlewares, dispatcher and upstream call.
 * No attribute holds a header, a query or a body, since credentials travel there, unless a config names the header.
 */
import type { Attributes, SpanContext, SpanKind, TraceState } from '@opentelemetry/api';
import { type Problem, shortType } from '../problems.ts';
import { randomHex } from './random-hex.ts';
import { CLIENT, INTERNAL, SERVER, Span, type SpanSink } from './span.ts';

/**
 * Methods that are labels of unmatched requests; all others are `OTHER`, so that clients cannot make labels
 * (docs/decisions.md#labels-closed).
 */
export const KNOWN_METHODS: ReadonlySet<string> = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'],
]);

/** Longest client-given text in an attribute. */
const MOST_TEXT = 1024;

/** The request, as far as its spans tell of it. */
export interface TracedRequest {
  readonly traceId: string;
  readonly traceFlags: number;
  readonly parentSpanId: string | null;
  /** Milliseconds, on the monotonic clock. */
  readonly startedAt: number;
  readonly requestId: string;
  readonly clientIp: string;
  readonly method: string;
  readonly scheme: string;
  /** Without the query. */
  readonly path: string;
  readonly operation: { readonly path: string } | null;
  /** State of capabilities, which may have attributes for the server's span. */
  readonly parts: readonly ({ spanAttributes?(): Readonly<Record<string, string>> } | null | undefined)[] | null;
}

export class RequestTrace {
  readonly #sink: SpanSink;
  readonly #epoch = epoch();
  readonly #request: TracedRequest;
  readonly #traceState: TraceState | undefined;
  readonly #root: Span;
  /** Parent of spans that begin now. */
  #current: Span;
  #dispatch: Span | null = null;
  /** Type of the problem document that was sent. */
  #problem: string | null = null;

  constructor(sink: SpanSink, request: TracedRequest, traceState: TraceState | undefined) {
    this.#sink = sink;
    this.#request = request;
    this.#traceState = traceState;
    const { traceId, traceFlags, parentSpanId } = request;
    const parent = parentSpanId === null ? null : { traceId, spanId: parentSpanId, traceFlags, isRemote: true };
    this.#root = this.#span({ name: 'HTTP', kind: SERVER, parent, attributes: {}, startedAt: request.startedAt });
    this.#current = this.#root;
  }

  /** The part of the request's life that all spans which begin before its end belong to. */
  step(name: string, attributes: Attributes = {}): Span {
    const parent = this.#root.context;
    this.#current = this.#span({ name, kind: INTERNAL, parent, attributes, startedAt: performance.now() });
    return this.#current;
  }

  /** Ends a step; `outcome` says how it decided, and `problem` with which, if any. */
  ended(step: Span, outcome: string, problem: Problem | null = null): void {
    step.attributes['gw.outcome'] = outcome;
    if (problem !== null && problem.status >= 500) step.failed(bounded(shortType(problem.type)));
    if (this.#current === step) this.#current = this.#root;
    step.end();
  }

  /** The dispatcher takes over, until `dispatched`, or the end of the request if it has handed off. */
  dispatches(dispatcher: string): void {
    this.#dispatch = this.step(`dispatch ${dispatcher}`, { 'gw.plugin': dispatcher });
  }

  /** The dispatcher has answered or failed; ignored if that is noted already. */
  dispatched(outcome: string, problem: Problem | null): void {
    if (this.#dispatch !== null) this.ended(this.#dispatch, outcome, problem);
    this.#dispatch = null;
  }

  /** Span id of the current step. */
  get spanId(): string {
    return this.#current.context.spanId;
  }

  /** A span below the step under way. */
  child(name: string): Span {
    const parent = this.#current.context;
    return this.#span({ name, kind: INTERNAL, parent, attributes: {}, startedAt: performance.now() });
  }

  /**
   * A request to another server, below the step under way. Of the path the query is left out; without one the span tells of
   * the server alone, since the paths that plugins call may hold tokens (those of webhooks do).
   */
  call(method: string, url: URL, path = ''): Span {
    const attributes: Attributes = {
      'http.request.method': method,
      'url.full': bounded(url.origin + withoutQuery(path)),
      'server.address': url.hostname,
      'server.port': Number(url.port) || (/^(https|wss):$/.test(url.protocol) ? 443 : 80),
    };
    const parent = this.#current.context;
    return this.#span({ name: method, kind: CLIENT, parent, attributes, startedAt: performance.now() });
  }

  /** Notes the problem that is about to be sent; null: the answer is not a problem. */
  answered(problem: Problem | null): void {
    this.#problem = problem && bounded(shortType(problem.type));
  }

  /** The request has ended; `status` is null if its client left before it had an answer. */
  finish(status: number | null): void {
    const request = this.#request;
    this.dispatched('handed off', null);
    // Ends the span that was under way when the client left, or the gateway failed.
    if (this.#current !== this.#root) this.#current.end();
    const known = KNOWN_METHODS.has(request.method);
    const route = request.operation?.path;
    const root = this.#root;
    root.name = `${known ? request.method : 'HTTP'}${route === undefined ? '' : ` ${route}`}`;
    const { attributes } = root;
    attributes['http.request.method'] = known ? request.method : '_OTHER';
    if (!known) attributes['http.request.method_original'] = bounded(request.method);
    attributes['url.scheme'] = request.scheme;
    attributes['url.path'] = bounded(request.path);
    if (route !== undefined) attributes['http.route'] = route;
    attributes['client.address'] = request.clientIp;
    attributes['gw.request_id'] = request.requestId;
    if (request.parts !== null) for (const part of request.parts) Object.assign(attributes, part?.spanAttributes?.());
    if (status === null) attributes['error.type'] = 'client-closed';
    else attributes['http.response.status_code'] = status;
    if (this.#problem !== null) attributes['gw.problem'] = this.#problem;
    if (status !== null && status >= 500) root.failed(this.#problem ?? String(status));
    root.end();
  }

  #span(span: {
    readonly name: string;
    readonly kind: SpanKind;
    readonly parent: SpanContext | null;
    readonly attributes: Attributes;
    readonly startedAt: number;
  }): Span {
    const { traceId, traceFlags } = this.#request;
    const context: SpanContext = { traceId, spanId: randomHex(8), traceFlags };
    if (this.#traceState !== undefined) context.traceState = this.#traceState;
    return new Span(this.#sink, { ...span, context, epoch: this.#epoch });
  }
}

function bounded(text: string): string {
  return text.length <= MOST_TEXT ? text : text.slice(0, MOST_TEXT);
}

function withoutQuery(path: string): string {
  const mark = path.indexOf('?');
  return mark < 0 ? path : path.slice(0, mark);
}

/** When the monotonic clock was 0, by the wall clock as it is now; clocks that are set again are followed. */
function epoch(): number {
  const drift = Date.now() - performance.now() - performance.timeOrigin;
  return Math.abs(drift) < 2 ? performance.timeOrigin : performance.timeOrigin + drift;
}
