/**
 * Carries a handed-off request to its upstream and the answer back, both bodies streaming, over HTTP/1.1. Tells the
 * pipeline when the response's head is there, or which problem stands in its place.
 */
import { type Duplex, Readable } from 'node:stream';
import { type Exchange, type HeaderList, headerOf, type ResponseSink } from '../exchange.ts';
import { type HandOff, NotSendable, type UpstreamRequest } from '../hand-off.ts';
import { streamed } from '../memory/collect-chunks.ts';
import { NO_SLOT } from '../memory/slots.ts';
import type { Problem } from '../problems.ts';
import { atEndOfTick } from '../scheduling/end-of-tick.ts';
import type { Span } from '../spans/span.ts';
import { ByteCollector, SMALL_PIECE } from '../streams/byte-collector.ts';
import { errorCode } from '../text/error-code.ts';
import { without } from './call-headers.ts';
import type { RequestController, ResponseHandler, ResponseHead } from './http1/response-handler.ts';
import { isOwnLimit } from './own-limit.ts';
import { errorOf, isOfServer, problemOf } from './proxy-failures.ts';
import { type ProxyRequest, requestHeaders, responseHeaders, trailerFields } from './proxy-headers.ts';
import { StallTimer, UpstreamStalled } from './stall-timer.ts';
import type { HttpUpstream } from './upstream.ts';
import { type UpstreamCall, UpstreamCallsCrowded } from './upstream-calls.ts';

/** Outcome of an informational response: the client gets it; there are too many; or the problem to answer instead. */
export type Informed = 'passed' | 'excess' | Problem;

/** The pipeline's handlers for an upstream's answer. */
export interface ProxyEvents {
  /** An informational response (1xx) has arrived. Returns its outcome. */
  informational(exchange: Exchange, status: number, headers: HeaderList): Informed;
  /** The head has arrived. Returns the sink for the body, at once or when response hooks are done. */
  head(exchange: Exchange, status: number, headers: HeaderList): ResponseSink | Promise<ResponseSink | null>;
  /** The call failed before the client got a response: `answer` is the response. `cause` is for the log. */
  failed(exchange: Exchange, answer: Problem, cause: string): void;
  /** The request is not one that can be sent: this is the answer. */
  refused(exchange: Exchange, answer: Problem): void;
  /** The request's own body broke off on its way to the upstream, before there was an answer. */
  bodyFailed(exchange: Exchange, error: Error): void;
  /** The head was sent, but the body broke off. */
  broken(exchange: Exchange, cause: string): void;
  done(exchange: Exchange, bytes: number): void;
  /** The upstream goes on in the protocol that was asked for. The connection is the pipeline's from now on. */
  upgraded(exchange: Exchange, headers: HeaderList, connection: Duplex): void;
}

export function proxy(request: ProxyRequest, events: ProxyEvents): void {
  const { exchange, upstream } = request;
  const server = upstream.choose(exchange);
  if (server === null) return events.failed(exchange, upstream.unavailable(exchange), 'circuit breaker open');
  const call = new ProxyCall(request, server, events);
  if (!server.calls.begin(call)) return call.giveUp(new UpstreamCallsCrowded());
  atEndOfTick(() => call.begin());
}

class ProxyCall implements ResponseHandler, UpstreamCall {
  /** Runs until the head of the answer is there, then from one piece of its body to the next. */
  readonly #timer: StallTimer;
  readonly #request: ProxyRequest;
  readonly #events: ProxyEvents;
  readonly #exchange: Exchange;
  /** The server that is called now. */
  #upstream: HttpUpstream;
  slot = NO_SLOT;
  #controller: RequestController | null = null;
  #sink: ResponseSink | null = null;
  /** Bytes of the answer's body; -1: only its end tells. */
  #expected = -1;
  #paused = false;
  /** The body came in one chunk, and the sink was ended with it. */
  #whole = false;
  #headSent = false;
  #finished = false;
  #retried = false;
  /** It goes to another address, since the first could not be reached. */
  #moved = false;
  /** The current hand-off, or its fallback. */
  #handOff: HandOff;
  /** The body that is sent now. */
  #body: UpstreamRequest['body'] = null;
  /** The request is being composed, which may wait for the client's body. */
  #composes = false;
  /** The answer that comes is not the response: the fallback follows it. */
  #discards = false;
  #discarded = 0;
  #bytes = 0;
  /** Small pieces of this turn. */
  #small: ByteCollector | null = null;
  #offClose: (() => void) | null = null;
  /** The connection in the protocol that was asked for; it keeps the place of the call. */
  #upgraded: Duplex | null = null;
  /** Span of the call under way; null if the request is not traced. */
  #span: Span | null = null;

  constructor(request: ProxyRequest, server: HttpUpstream, events: ProxyEvents) {
    this.#request = request;
    this.#events = events;
    this.#exchange = request.exchange;
    this.#upstream = server;
    server.health.inFlight++;
    this.#handOff = request.handOff;
    this.#timer = new StallTimer(request.handOff.timeoutMs, this);
  }

  get clientIp(): string {
    return this.#exchange.clientIp;
  }

  giveUp(error: UpstreamCallsCrowded): void {
    const controller = this.#controller;
    // No fallback takes its place.
    this.#discards = false;
    this.error(error);
    controller?.abort(error);
    this.#upgraded?.destroy();
  }

  /** Never throws: failures before there is a connection become answers, too. */
  begin(): void {
    try {
      this.#begin();
    } catch (error) {
      this.error(errorOf(error));
    }
  }

  #begin(): void {
    if (this.#finished) return;
    if (this.#exchange.closed) return this.#clientLeft();
    this.#controller = null;
    const { compose } = this.#handOff;
    const planned = this.#plannedRequest();
    if (compose === undefined) return this.#send(planned);
    this.#composes = true;
    compose(planned).then(
      (request) => this.#afterCompose(() => this.#send(request)),
      (error: unknown) => this.#afterCompose(() => this.error(errorOf(error))),
    );
  }

  /** The request is made, or cannot be; its client may have left meanwhile. */
  #afterCompose(next: () => void): void {
    this.#composes = false;
    if (this.#finished) return;
    if (this.#exchange.closed) return this.#clientLeft();
    this.#timer.progressed();
    try {
      next();
    } catch (error) {
      this.error(errorOf(error));
    }
  }

  #plannedRequest(): UpstreamRequest {
    const path = this.#upstream.basePath + this.#handOff.path;
    if (this.#exchange.trace !== null) {
      this.#span = this.#exchange.trace.call(this.#exchange.method, this.#upstream.url, path);
      if (this.#retried) this.#span.attributes['http.request.resend_count'] = 1;
    }
    const sent = this.#isFallback ? { ...this.#request, body: null, contentLength: undefined } : this.#request;
    this.#body = sent.body;
    const headers = requestHeaders(sent, this.#upstream.authority, this.#span);
    sent.upgrade?.apply(headers);
    return { path, headers, body: sent.body };
  }

  get #isFallback(): boolean {
    return this.#handOff !== this.#request.handOff;
  }

  #send({ path, headers, body, origin }: UpstreamRequest): void {
    this.#body = body;
    const { method } = this.#exchange;
    const upgrade = this.#request.upgrade?.protocol ?? null;
    // Others that are kept may be as stale as the one that failed.
    const newConnection = this.#retried && !this.#moved;
    this.#upstream.dispatch({ method, path, headers, body, origin, upgrade, newConnection }, this);
  }

  start(controller: RequestController): void {
    // The time was up before there was a connection.
    if (this.#finished) return void controller.abort(new Error('given up'));
    this.#controller = controller;
    this.#offClose ??= this.#exchange.onClose(() => this.#clientLeft());
    if (this.#body instanceof Readable && !this.#retried) this.#follow(this.#body);
  }

  /** The upstream's time begins anew with each piece of the request that it gets. */
  #follow(body: Readable): void {
    const sent = () => this.#timer.progressed();
    body.on('data', sent).on('end', sent);
  }

  /** The upstream's time is up; the timer restarts after a wait for the client. */
  stalled(timeoutMs: number): void {
    // The client has yet to send, or to read; `--body-timeout` and `--send-timeout` are for that.
    if (this.#paused || this.#composes || (this.#sendsBody && this.#exchange.bodyStream?.waitsForClient)) return;
    const error = new UpstreamStalled(`nothing came for ${timeoutMs} ms`);
    const controller = this.#controller;
    this.error(error);
    controller?.abort(error);
  }

  /** The request's body streams, and has not all gone out. */
  get #sendsBody(): boolean {
    return this.#body instanceof Readable && !this.#body.readableEnded;
  }

  upgrade(received: HeaderList, connection: Duplex): void {
    connection.on('error', () => {});
    const headers = responseHeaders(received);
    const protocol = headerOf(received, 'upgrade') ?? '';
    const fault = this.#request.upgrade?.faultOf(SWITCHES, headers, protocol) ?? null;
    if (fault !== null || this.#finished) {
      connection.destroy();
      return this.error(new Error(`its answer is not valid: ${fault}`));
    }
    this.#upstream.health.breaker.succeeded();
    this.#span?.received(SWITCHES);
    this.#upgraded = connection;
    this.#finish();
    connection.once('close', () => this.#upstream.calls.end(this));
    this.#events.upgraded(this.#exchange, headers, connection);
  }

  informational(status: number, received: HeaderList): void {
    if (this.#finished) return;
    const outcome = this.#events.informational(this.#exchange, status, headersOf(status, received));
    if (outcome === 'passed') return;
    const error = new Error('it sends informational responses without end');
    if (outcome !== 'excess') this.#refuse(new NotSendable(outcome));
    this.#controller?.abort(error);
  }

  head({ status, headers, length, endsByClosing }: ResponseHead): void {
    this.#timer.progressed();
    this.#upstream.health.breaker.succeeded();
    this.#span?.received(status);
    if (status === 404 && this.#handOff.fallback !== undefined) {
      this.#discards = true;
      return;
    }
    this.#expected = length;
    this.#exchange.response.endsByClosing = endsByClosing;
    const sink = this.#events.head(this.#exchange, status, headersOf(status, headers));
    if (!('then' in sink)) return this.#ready(sink);
    // Response hooks run, and the sink for the body is not known yet.
    this.#pause();
    const controller = this.#controller;
    sink.then(
      (ready) => this.#ready(ready),
      (error: unknown) => controller?.abort(errorOf(error)),
    );
  }

  #ready(sink: ResponseSink | null): void {
    if (sink === null) {
      // A response hook answered instead: the upstream's body is dropped.
      this.#finish();
      if (this.#expected === 0) this.#controller?.resume();
      else this.#controller?.abort(new Error('replaced by a response hook'));
      return;
    }
    this.#headSent = true;
    this.#sink = sink;
    sink.on('drain', () => this.#resume());
    if (this.#paused) this.#resume();
  }

  data(chunk: Uint8Array): void {
    if (this.#discards) return this.#discard(chunk);
    this.#bytes += chunk.length;
    streamed(chunk.length);
    const sink = this.#sink;
    if (sink === null) return;
    if (this.#bytes !== this.#expected) this.#timer.progressed();
    if (chunk.length === this.#expected && sink.endWith) {
      this.#whole = true;
      sink.endWith(chunk);
    } else if (chunk.length < SMALL_PIECE) this.#join(chunk);
    else {
      this.#flush();
      if (!sink.write(chunk)) this.#pause();
    }
  }

  /** Keeps a small piece until the turn ends: thousands of them may have arrived together. */
  #join(chunk: Uint8Array): void {
    this.#small ??= new ByteCollector();
    if (this.#small.length === 0) atEndOfTick(() => this.#flush());
    this.#small.add(chunk);
  }

  #flush(): void {
    if (this.#small === null || this.#small.length === 0 || this.#sink === null) return;
    const joined = this.#small.takeWhole();
    if (!this.#sink.destroyed && !this.#sink.write(joined)) this.#pause();
  }

  /** A short one is read, so that its connection is kept. */
  #discard(chunk: Uint8Array): void {
    this.#discarded += chunk.length;
    if (this.#discarded > MOST_DISCARDED) this.#controller?.abort(new Error('the answer is not wanted'));
  }

  /** The answer that is not the response has ended, one way or another. */
  #fallBack(): void {
    this.#discards = false;
    this.#retried = false;
    this.#span?.end();
    this.#handOff = this.#handOff.fallback ?? this.#handOff;
    this.#timer.progressed();
    this.begin();
  }

  /** Pauses the upstream until the reader of the body wants more. */
  #pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  #resume(): void {
    this.#paused = false;
    if (!this.#finished) this.#timer.progressed();
    this.#controller?.resume();
  }

  end(trailers: HeaderList): void {
    if (this.#finished) return;
    if (this.#discards) return this.#fallBack();
    this.#finish();
    this.#flush();
    if (!this.#whole && trailers.length > 0) this.#exchange.responder.trailers?.(trailerFields(trailers));
    if (!this.#whole) this.#sink?.end();
    this.#events.done(this.#exchange, this.#bytes);
  }

  error(error: Error): void {
    if (this.#finished) return;
    if (this.#discards && !this.#exchange.closed && !(error instanceof UpstreamStalled)) return this.#fallBack();
    if (error instanceof NotSendable) return this.#refuse(error);
    this.#span?.failed(this.#exchange.closed ? 'client-closed' : (errorCode(error) ?? error.name));
    if (this.#mayRetry(error)) {
      this.#retried = true;
      this.#span?.end();
      return this.begin();
    }
    if (this.#moveOn(error)) return;
    this.#finish();
    if (this.#exchange.closed) return this.#upstream.health.breaker.abandoned(this.#exchange.clientIp);
    this.#flush();
    if (this.#headSent) return this.#events.broken(this.#exchange, error.message);
    const bodyError = this.#exchange.bodyStream?.errored;
    if (bodyError) {
      this.#upstream.health.breaker.abandoned(this.#exchange.clientIp);
      return this.#events.bodyFailed(this.#exchange, bodyError);
    }
    if (isOwnLimit(error)) this.#upstream.health.breaker.abandoned(this.#exchange.clientIp);
    else if (this.#isUnreachable(error)) this.#upstream.health.unreachable(this.#exchange.clientIp);
    else this.#upstream.health.breaker.failed(this.#exchange.clientIp);
    this.#events.failed(this.#exchange, problemOf(error), `${this.#upstream.name}: ${error.message}`);
  }

  /** Goes to another address once, if there was no connection: nothing of the request was sent. */
  #moveOn(error: Error): boolean {
    if (this.#moved || this.#exchange.closed || !this.#isUnreachable(error)) return false;
    const next = this.#request.upstream.choose(this.#exchange, this.#upstream);
    if (next === null) return false;
    const { health } = this.#upstream;
    health.unreachable(this.#exchange.clientIp);
    health.inFlight--;
    next.health.inFlight++;
    this.#upstream = next;
    this.#moved = true;
    this.#span?.end();
    this.begin();
    return true;
  }

  /** Reports whether there was no connection, for a reason that lies in the server or the way to it. */
  #isUnreachable(error: Error): boolean {
    return this.#controller === null && !this.#composes && isOfServer(error);
  }

  #refuse({ problem }: NotSendable): void {
    this.#finish();
    this.#upstream.health.breaker.abandoned(this.#exchange.clientIp);
    this.#events.refused(this.#exchange, problem);
  }

  /**
   * Retries once, if the upstream had closed a kept-alive connection and no part of a body was sent (RFC 9110, 9.2.2).
   */
  #mayRetry(error: Error): boolean {
    const { method } = this.#exchange;
    if (this.#retried || this.#headSent || this.#exchange.closed) return false;
    if (this.#body !== null || !IDEMPOTENT.has(method)) return false;
    const code = errorCode(error);
    return code === 'GW_UPSTREAM_CLOSED' || code === 'ECONNRESET' || code === 'EPIPE';
  }

  #clientLeft(): void {
    if (this.#finished) return;
    this.#span?.failed('client-closed');
    this.#finish();
    this.#upstream.health.breaker.abandoned(this.#exchange.clientIp);
    this.#controller?.abort(new Error('the client went away'));
    this.#events.done(this.#exchange, this.#bytes);
  }

  #finish(): void {
    this.#finished = true;
    this.#upstream.health.inFlight--;
    if (this.#upgraded === null) this.#upstream.calls.end(this);
    this.#timer.stop();
    this.#offClose?.();
    this.#span?.end();
  }
}

/** Bytes of an answer that is not wanted; past it its connection is closed. */
const MOST_DISCARDED = 65_536;
const SWITCHES = 101;
const NO_CONTENT = 204;
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

function headersOf(status: number, received: HeaderList): HeaderList {
  const headers = responseHeaders(received);
  if (status >= 200 && status !== NO_CONTENT) return headers;
  // These statuses have no body, and clients wait for one that a length announces (RFC 9110, section 8.6).
  return without(headers, (name) => name === 'content-length');
}
