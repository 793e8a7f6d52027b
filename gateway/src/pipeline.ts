/**
 * A request's life, from the moment that the transport has its head until the access log has its line
 * (docs/decisions.md#request-order): limits, route, admission, identifiers, reserved paths, preflight, parameters,
 * middlewares, body, dispatcher, response hooks, standard headers, metrics.
 */
import type { Writable } from 'node:stream';
import type { BufferBudget } from './buffer-budget.ts';
import { type ProxyEvents, proxy } from './egress/proxy.ts';
import {
  type Answer,
  CLIENT_CLOSED,
  changeHeader,
  type Exchange,
  type HeaderList,
  headerOf,
  Interrupted,
  joinedHeader,
  problemOf,
  type ResponseSink,
} from './exchange.ts';
import { type Generation, isHttpUpstream, type LoadedOperation } from './generation.ts';
import type { ClientAddress } from './headers/client-ip.ts';
import { hopsOf, MAX_HOPS } from './headers/hops.ts';
import { addStandardHeaders, identify } from './headers/standard.ts';
import { HeldResponseBytes, holdResponse, noRoom } from './held-response.ts';
import { corsOnRefusal, runRequestHook, runResponseHook } from './hooks.ts';
import { checkLimits, type RequestLimits, repeatedHeader } from './limits.ts';
import { type Problem, problem } from './problems.ts';
import { RESERVED_PREFIX, type ReservedOptions, reserved } from './reserved/reserved.ts';
import { applyStaged, setResponse } from './response.ts';
import { ResponseCheck } from './response-check.ts';
import { readsAsAnother } from './router/other-readings.ts';
import { decodePath } from './router/template.ts';
import { responseBody, streamStored, transformedBody } from './streams.ts';
import type { ValidationReason } from './telemetry/metric-table.ts';
import type { OperationMetrics } from './telemetry/metrics.ts';
import type { Recorder } from './telemetry/recorder.ts';
import type { Tracing } from './telemetry/tracing.ts';
import { BodyTooLarge } from './transport/body.ts';
import { notAcceptable } from './validation/accept.ts';
import type { ArrivingBodies } from './validation/arriving-bodies.ts';
import {
  type BodyReading,
  bodyReader,
  mustBeRead,
  needsReading,
  pastLimit,
  readToLimit,
  tooLarge,
} from './validation/read-body.ts';
import { otherPath, parameterRefusal } from './validation/refusals.ts';
import { ANSWERED, HANDED_OFF } from './wasm/plugin.ts';

export interface PipelineOptions {
  readonly limits: RequestLimits;
  readonly reserved: ReservedOptions;
  readonly client: ClientAddress;
  /** Of bodies of requests, and of responses, that are in memory. */
  readonly budget: BufferBudget;
  readonly responseBudget: BufferBudget;
  readonly arriving: ArrivingBodies;
  readonly recorder: Recorder;
  /** Null: no request is traced. */
  readonly tracing: Pick<Tracing, 'begin'> | null;
  /** Verbose problem documents. */
  readonly dev: boolean;
  /** Bytes of an upstream's body that a plugin wants whole (`GW_MAX_UPSTREAM_RESPONSE_BYTES`). */
  readonly maxBufferedResponse: number;
}

const GOES_ROUND = 'The request has come through too many gateways: a plugin or an upstream leads back to its own.';

/** Serves one request with one generation; never throws. */
export function serve(x: Exchange, gw: Generation, options: PipelineOptions): void {
  const course = new Course(x, gw, options);
  course.run().catch((error: unknown) => course.crashed(error));
}

class Course implements ProxyEvents, BodyReading {
  readonly #x: Exchange;
  readonly #gw: Generation;
  readonly #options: PipelineOptions;
  #op: LoadedOperation | null = null;
  #place: OperationMetrics | null = null;
  /** Middlewares whose request hook has run: their response hooks run in reverse. */
  #ran = 0;
  #dispatchedAt = 0;
  #recorded = false;
  #buffering = false;
  #check: ResponseCheck | null = null;

  constructor(x: Exchange, gw: Generation, options: PipelineOptions) {
    this.#x = x;
    this.#gw = gw;
    this.#options = options;
    gw.inFlight++;
  }

  async run(): Promise<void> {
    const x = this.#x;
    const refusal = checkLimits(x, this.#options.limits);
    const match = refusal ? null : this.#gw.router.find(x.method, x.path);
    const repeated = this.#admit(match?.value ?? null);
    if (this.#options.tracing !== null) x.trace = this.#options.tracing.begin(x);
    if (refusal) return this.#refuse(refusal.reason, refusal.problem);
    if (repeated !== null) return this.#refuse('malformed', repeatedHeader(repeated));
    if (x.hops > MAX_HOPS) return this.#answer({ problem: problem('loop-detected', GOES_ROUND) });
    if (x.path.startsWith(RESERVED_PREFIX)) return this.#answer(await reserved(x, this.#gw, this.#options.reserved));
    if (!match || match.value === null) return this.#unrouted(match ? match.allow : []);
    const op = match.value;
    this.#op = op;
    this.#place = op.metrics;
    x.operation = op.matched;
    if (match.params.length > 0) {
      x.sentParams = op.parameters === null ? match.params : op.parameters.split(match.params);
      x.params = x.sentParams.map(decodePath);
      if (readsAsAnother(this.#gw.router, x.method, x.path, op)) return this.#refuse('path', otherPath());
    }

    const { maxBodySize } = this.#options.limits;
    if (x.bodyStream !== null) {
      const length = Number(headerOf(x.headers, 'content-length') ?? 0);
      if (length > maxBodySize) return this.#refuse('body-size', tooLarge(length, maxBodySize));
    }
    if (op.parameters !== null) {
      const span = x.trace?.child('validate parameters');
      const refused = parameterRefusal(op.parameters, x, x.sentParams, this.#options.dev);
      if (span) x.trace?.ended(span, refused ? 'refused' : 'valid');
      if (refused) return this.#refuse(refused.reason, refused.problem);
    }
    if (op.accept !== null && !op.accept.admits(joinedHeader(x.headers, 'accept'))) {
      return this.#refuse('header', notAcceptable(op.accept.produces));
    }
    if (x.bodyStream !== null || op.body?.required) x.readBody = bodyReader(x, this);

    for (const step of op.middlewares) {
      this.#ran++;
      if (!step.plugin.hasRequestHook) continue;
      const decided = runRequestHook(step, x);
      const outcome = typeof decided === 'number' ? decided : await decided;
      if (outcome === ANSWERED) return this.#answer(x.answer);
      if (x.closed) return this.#record(CLIENT_CLOSED, 0);
    }
    return this.#dispatch(op);
  }

  /** Admits headers and takes what they say of the request: a header that has one value and came in several lines, or null. */
  #admit(op: LoadedOperation | null): string | null {
    const x = this.#x;
    const admission = op?.admission ?? this.#gw.baseline;
    const { headers, dropped, repeated } = admission.admit(x.rawHeaders);
    x.headers = headers;
    x.clientIp = this.#options.client.of(x.peer, headers);
    x.hops = hopsOf(headers);
    identify(x);
    if (dropped > 0) this.#options.recorder.headersDropped(x, dropped, () => admission.dropped(x.rawHeaders));
    return repeated;
  }

  /** No operation has this path, or none with this method: preflight, 404 or 405. */
  async #unrouted(allow: readonly string[]): Promise<void> {
    const x = this.#x;
    if (allow.length === 0) return this.#answer({ problem: problem('route-not-found', 'No operation has this path.') });
    const wanted = x.method === 'OPTIONS' ? headerOf(x.headers, 'access-control-request-method') : undefined;
    if (wanted !== undefined && headerOf(x.headers, 'origin') !== undefined) {
      const op = this.#gw.router.find(wanted, x.path).value;
      if (op?.preflight) {
        this.#place = this.#options.recorder.metrics.operation('OPTIONS', op.operation.path, op.operation.api);
        x.operation = op.matched;
        if ((await runRequestHook(op.preflight, x)) === ANSWERED) return this.#answer(x.answer);
      }
    }
    const detail = `The path has no ${x.method} operation.`;
    const headers = ['allow', allow.join(', ')];
    return this.#answer({ problem: problem('method-not-allowed', detail, { headers }) });
  }

  async #dispatch(op: LoadedOperation): Promise<void> {
    const x = this.#x;
    if (op.body !== null && x.body === null) {
      const reads = needsReading(x, this);
      if (reads === undefined) return this.#answer(x.answer);
      if (reads) {
        try {
          await x.readBody();
        } catch (error) {
          if (!(error instanceof Interrupted)) throw error;
          return this.#answer(x.answer);
        }
      }
    }
    if (op.response !== null)
      this.#check = new ResponseCheck(op.response, this.#options.recorder, x, this.#options.responseBudget);
    this.#dispatchedAt = performance.now();
    x.trace?.dispatches(op.dispatcher.name);
    const decided = op.dispatcher.dispatch(x);
    const outcome = typeof decided === 'number' ? decided : await decided;
    const { handOff } = x;
    if (outcome !== HANDED_OFF || handOff === null) {
      op.dispatchTime(null).observe((performance.now() - this.#dispatchedAt) / 1000);
      x.trace?.dispatched('answered', problemOf(x.answer));
      const unread = x.bodyStream !== null && mustBeRead(x, x.bodyStream) ? await readToLimit(x, x.bodyStream) : null;
      const refused = unread ?? this.#check?.answer(x, x.answer) ?? null;
      if (refused) x.decided(null);
      return this.#answer(refused ? { problem: refused } : x.answer);
    }
    const { upstream } = handOff;
    if (!isHttpUpstream(upstream)) throw new Error(`plugin ${op.dispatcher.name} handed off to an unknown upstream`);
    const hooked = op.requestChunks && x.bodyStream !== null;
    const body = hooked ? transformedBody(x, op.middlewares) : (x.body ?? x.bodyStream);
    const known = body !== null && body === x.bodyStream ? headerOf(x.headers, 'content-length') : undefined;
    proxy({ x, handOff, upstream, trustedPeer: this.#options.client.trusts(x.peer), body, contentLength: known }, this);
  }

  /** Where this request is counted: at its operation's, or with all that matched none. */
  get #metrics(): OperationMetrics {
    this.#place ??= this.#options.recorder.metrics.unmatched(this.#x.method);
    return this.#place;
  }

  // --- BodyReading

  get validator() {
    return this.#op?.body ?? null;
  }

  get budget() {
    return this.#options.budget;
  }

  get arriving() {
    return this.#options.arriving;
  }

  get maxBodySize() {
    return this.#options.limits.maxBodySize;
  }

  refuse(x: Exchange, reason: ValidationReason, answer: Problem): void {
    this.#options.recorder.validationFailed(this.#metrics, reason);
    x.answer = { problem: answer };
  }

  // --- ProxyEvents

  head(x: Exchange, status: number, headers: HeaderList): ResponseSink | Promise<ResponseSink | null> {
    const op = this.#op as LoadedOperation;
    op.dispatchTime(x.handOff?.upstream ?? null).observe((performance.now() - this.#dispatchedAt) / 1000);
    const held = this.#check?.hold(x, status, headers, {
      open: () => this.#opened(op, status, headers),
      holds: (holding) => {
        this.#buffering = holding;
      },
      sent: (bytes) => this.done(x, bytes),
      withheld: (answer) => this.#answer({ problem: answer }),
      failed: (error) => this.crashed(error),
    });
    return held ?? this.#opened(op, status, headers);
  }

  #opened(op: LoadedOperation, status: number, headers: HeaderList): ResponseSink | Promise<ResponseSink | null> {
    const x = this.#x;
    x.responseStatus = status;
    x.responseHeaders = headers;
    applyStaged(x);
    if (op.buffersResponse) return this.#collect(op);
    if (this.#ran > 0 && op.responseHooks) return this.#hookedHead(op);
    return this.#sink(op);
  }

  failed(x: Exchange, answer: Problem, cause: string): void {
    if (x.closed) return this.#record(CLIENT_CLOSED, 0);
    this.#options.recorder.upstreamFailed(x, cause);
    x.trace?.dispatched('failed', answer);
    this.#answer({ problem: answer }).catch((error: unknown) => this.crashed(error));
  }

  bodyFailed(_x: Exchange, error: Error): void {
    if (!(error instanceof BodyTooLarge)) return this.#record(CLIENT_CLOSED, 0);
    const { received, limit } = error;
    const refusing =
      limit === null
        ? this.#refuse('body-size', tooLarge(received, this.maxBodySize))
        : this.#answer({ problem: pastLimit(received, limit) });
    refusing.catch((cause: unknown) => this.crashed(cause));
  }

  broken(x: Exchange, cause: string): void {
    // What was held was not sent: there is still an answer to give.
    const brokeOff = problem('upstream-failed', 'The upstream broke off its answer.');
    if (!x.responder.headSent) return this.failed(x, brokeOff, cause);
    this.#options.recorder.upstreamFailed(x, cause);
    x.responder.abort();
    this.#record(x.responseStatus, 0);
  }

  done(x: Exchange, bytes: number): void {
    if (!this.#buffering) this.#record(x.responseStatus === 0 ? CLIENT_CLOSED : x.responseStatus, bytes);
    else if (x.closed) this.#record(CLIENT_CLOSED, 0);
  }

  /** Sends the head of a streaming response; its body follows through the chunk hooks, if there are any. */
  #sink(op: LoadedOperation): ResponseSink {
    const x = this.#x;
    const { responseStatus: status, responseHeaders: headers } = x;
    headers.push(...op.headers);
    addStandardHeaders(x, headers);
    if (op.responseChunks && this.#ran > 0) changeHeader(headers, 'remove', 'content-length', '');
    return responseBody(x, op.middlewares.slice(0, this.#ran), x.responder.stream(x, status, headers));
  }

  async #hookedHead(op: LoadedOperation): Promise<ResponseSink | null> {
    this.#x.responseStreams = true;
    if (!(await this.#responseHooks(op))) return this.#sink(op);
    this.#buffering = true;
    this.#send();
    return null;
  }

  /** Holds the whole body for a plugin that declared `response_body = "buffer"`, then goes on as for any answer. */
  #collect(op: LoadedOperation): Writable {
    const x = this.#x;
    this.#buffering = true;
    const bytes = new HeldResponseBytes(x, this.#options.responseBudget);
    return holdResponse({
      limit: this.#options.maxBufferedResponse,
      bytes,
      whole: (body) => {
        x.responseBody = body;
        changeHeader(x.responseHeaders, 'remove', 'content-length', '');
        return this.#responseHooks(op).then(() => {
          this.#send();
          bytes.sent();
        });
      },
      overflow: () => {
        this.failed(x, problem('upstream-failed', 'The upstream sent more than the gateway holds.'), 'too large');
        return Promise.resolve(null);
      },
      refused: () => this.#answer({ problem: noRoom() }),
      failed: (error) => this.crashed(error),
    });
  }

  // --- answers

  #refuse(reason: ValidationReason, answer: Problem): Promise<void> {
    this.#options.recorder.validationFailed(this.#metrics, reason);
    return this.#answer({ problem: answer });
  }

  /** An answer that stands in memory: a plugin's or ours. Null where the client has gone. */
  async #answer(answer: Answer | null): Promise<void> {
    const x = this.#x;
    if (x.closed) return this.#record(CLIENT_CLOSED, 0);
    if (answer === null) throw new Error('a plugin ended the request without an answer');
    this.#setResponse(answer);
    const op = this.#op;
    if (op !== null) {
      await corsOnRefusal(op, x, this.#ran);
      applyStaged(x);
      if (this.#ran > 0 && op.responseHooks) await this.#responseHooks(op);
    } else applyStaged(x);
    if (x.closed) return this.#record(CLIENT_CLOSED, 0);
    this.#send();
  }

  #setResponse(answer: Answer): void {
    setResponse(this.#x, answer, this.#options.dev);
  }

  /** True where a hook put another answer in the response's place. */
  async #responseHooks(op: LoadedOperation): Promise<boolean> {
    const x = this.#x;
    let replaced = false;
    for (let i = this.#ran - 1; i >= 0; i--) {
      const step = op.middlewares[i];
      if (!step?.plugin.hasResponseHook) continue;
      x.answer = null;
      const outcome = await runResponseHook(step, x);
      if (outcome !== ANSWERED || x.answer === null) continue;
      replaced = true;
      this.#setResponse(x.answer);
    }
    return replaced;
  }

  #send(): void {
    const x = this.#x;
    const { responseStatus: status, responseHeaders: headers, responseBody: body } = x;
    const op = this.#op;
    if (op !== null) headers.push(...op.headers);
    addStandardHeaders(x, headers);
    const streams = op?.responseChunks && !op.buffersResponse && streamStored(x, op.middlewares.slice(0, this.#ran));
    if (!streams) x.responder.send(x, status, headers, body);
    this.#record(status, body === null ? 0 : body.length);
  }

  /** A defect of ours: its request gets 500, and no other notices. */
  crashed(error: unknown): void {
    const x = this.#x;
    this.#options.recorder.crashed(x, error);
    if (this.#recorded || x.closed) return this.#record(CLIENT_CLOSED, 0);
    try {
      if (x.responder.headSent) throw error;
      this.#setResponse({ problem: problem('internal-error', 'The gateway failed. Its log has the request id.') });
      this.#send();
    } catch {
      x.responder.abort();
      this.#record(500, 0);
    }
  }

  #record(status: number, responseBytes: number): void {
    if (this.#recorded) return;
    this.#recorded = true;
    this.#gw.release();
    const counted = this.#x.closedWith || status;
    this.#x.trace?.finish(counted === CLIENT_CLOSED ? null : counted);
    this.#options.recorder.finished(this.#x, this.#metrics, counted, responseBytes);
  }
}
