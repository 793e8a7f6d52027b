/**
 * The spans of one request: the server's, and below it those of validation, middlewares, dispatcher and upstream call.
 * No attribute holds a header, a query or a body: credentials travel there.
 */
import type { Attributes, SpanContext, SpanKind, TraceState } from '@opentelemetry/api';
import { type Answer, CLIENT_CLOSED, type Exchange } from '../exchange.ts';
import { PROBLEM_PREFIX } from '../problems.ts';
import { KNOWN_METHODS } from './metric-table.ts';
import { CLIENT, INTERNAL, SERVER, Span, type SpanSink } from './span.ts';
import { randomHex } from './trace-context.ts';

/** Longest client-given text in an attribute. */
const MOST_TEXT = 1024;

export class RequestTrace {
  readonly #sink: SpanSink;
  readonly #epoch = epoch();
  readonly #x: Exchange;
  readonly #traceState: TraceState | undefined;
  readonly #root: Span;
  /** What spans that begin now are children of. */
  #current: Span;
  #dispatch: Span | null = null;
  /** Type of the problem document that was sent. */
  #problem: string | null = null;

  constructor(sink: SpanSink, x: Exchange, traceState: TraceState | undefined) {
    this.#sink = sink;
    this.#x = x;
    this.#traceState = traceState;
    const { traceId, traceFlags, parentSpanId } = x;
    const parent = parentSpanId === null ? null : { traceId, spanId: parentSpanId, traceFlags, isRemote: true };
    this.#root = this.#span({ name: 'HTTP', kind: SERVER, parent, attributes: {}, startedAt: x.startedAt });
    this.#current = this.#root;
  }

  /** The part of the request's life that all spans which begin before its end belong to. */
  step(name: string, attributes: Attributes = {}): Span {
    const parent = this.#root.context;
    this.#current = this.#span({ name, kind: INTERNAL, parent, attributes, startedAt: performance.now() });
    return this.#current;
  }

  /** Ends a step; `outcome` says how it decided, and `answer` with what. */
  ended(step: Span, outcome: string, answer: Answer | null = null): void {
    step.attributes['gw.outcome'] = outcome;
    if (answer !== null && 'problem' in answer && answer.problem.status >= 500) step.failed(shortType(answer));
    if (this.#current === step) this.#current = this.#root;
    step.end();
  }

  /** The dispatcher takes over, until `dispatched`, or the end of the request where it has handed off. */
  dispatches(dispatcher: string): void {
    this.#dispatch = this.step(`dispatch ${dispatcher}`, { 'gw.plugin': dispatcher });
  }

  /** The dispatcher has answered or failed; nothing where that was said already. */
  dispatched(outcome: string, answer: Answer | null): void {
    if (this.#dispatch !== null) this.ended(this.#dispatch, outcome, answer);
    this.#dispatch = null;
  }

  /** A span below the step under way. */
  child(name: string): Span {
    const parent = this.#current.context;
    return this.#span({ name, kind: INTERNAL, parent, attributes: {}, startedAt: performance.now() });
  }

  /** A request to another server, below the step under way; of the path the query is left out. */
  call(method: string, url: URL, path: string): Span {
    const attributes: Attributes = {
      'http.request.method': method,
      'url.full': bounded(url.origin + withoutQuery(path)),
      'server.address': url.hostname,
      'server.port': Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    };
    const parent = this.#current.context;
    return this.#span({ name: method, kind: CLIENT, parent, attributes, startedAt: performance.now() });
  }

  /** What is about to be sent. */
  answered(answer: Answer): void {
    this.#problem = 'problem' in answer ? shortType(answer) : null;
  }

  /** The request has ended; `status` is 499 where its client left before. */
  finish(status: number): void {
    const x = this.#x;
    this.dispatched('handed off', null);
    // What was under way when the client left, or the gateway failed.
    if (this.#current !== this.#root) this.#current.end();
    const known = KNOWN_METHODS.has(x.method);
    const route = x.operation?.path;
    const root = this.#root;
    root.name = `${known ? x.method : 'HTTP'}${route === undefined ? '' : ` ${route}`}`;
    const { attributes } = root;
    attributes['http.request.method'] = known ? x.method : '_OTHER';
    if (!known) attributes['http.request.method_original'] = bounded(x.method);
    attributes['url.scheme'] = x.scheme;
    attributes['url.path'] = bounded(x.path);
    if (route !== undefined) attributes['http.route'] = route;
    attributes['client.address'] = x.clientIp;
    attributes['gw.request_id'] = x.requestId;
    if (status === CLIENT_CLOSED) attributes['error.type'] = 'client-closed';
    else attributes['http.response.status_code'] = status;
    if (this.#problem !== null) attributes['gw.problem'] = this.#problem;
    if (status >= 500) root.failed(this.#problem ?? String(status));
    root.end();
  }

  #span(span: {
    readonly name: string;
    readonly kind: SpanKind;
    readonly parent: SpanContext | null;
    readonly attributes: Attributes;
    readonly startedAt: number;
  }): Span {
    const { traceId, traceFlags } = this.#x;
    const context: SpanContext = { traceId, spanId: randomHex(8), traceFlags };
    if (this.#traceState !== undefined) context.traceState = this.#traceState;
    return new Span(this.#sink, { ...span, context, epoch: this.#epoch });
  }
}

/** The problem's name, or the whole type where it is a plugin's own. */
function shortType({ problem: { type } }: Extract<Answer, { problem: unknown }>): string {
  return bounded(type.startsWith(PROBLEM_PREFIX) ? type.slice(PROBLEM_PREFIX.length) : type);
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
