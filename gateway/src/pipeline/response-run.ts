/**
 * The second half of a request's life, from an answer to the line in the access log (docs/decisions.md#request-order).
 * An answer in memory (`answer`): staged headers, response hooks, standard headers, sent whole. An upstream's (`head`):
 * validated, staged headers, response hooks, standard headers, streamed; its body is held first if it is validated, or
 * if a plugin wants it whole.
 */
import type { Duplex, Writable } from 'node:stream';
import type { BufferBudget } from '../buffer-budget.ts';
import type { Informed, ProxyEvents } from '../egress/proxy.ts';
import {
  type AcceptedWebSocket,
  type Answer,
  CLIENT_CLOSED,
  changeHeader,
  type EngineResponse,
  type Exchange,
  type HeaderList,
  type OpenWebSocket,
  problemOf,
  type ResponseSink,
} from '../exchange.ts';
import type { HandOff } from '../hand-off.ts';
import { addStandardHeaders } from '../headers/standard.ts';
import { noRoomForResponse, type Problem, problem } from '../problems.ts';
import type { EventLoopWatch } from '../telemetry/event-loop.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';
import type { OperationMetrics } from '../telemetry/metrics.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import { BodyTooLarge } from '../transport/body.ts';
import { pastLimit, tooLarge } from '../validation/read-body.ts';
import { ANSWERED } from '../wasm/call/plugin.ts';
import { acceptClient, refusalOf } from '../websocket/handshake.ts';
import type { Generation, LoadedOperation } from './generation.ts';
import { HeldResponseBytes, holdResponse } from './held-response.ts';
import { corsOnRefusal, runResponseHook } from './hooks.ts';
import { InformationalResponses } from './informational.ts';
import { applyStaged, setResponse } from './response.ts';
import { ResponseCheck } from './response-check.ts';
import { responseBody, streamStored } from './streams.ts';
import { NO_WEB_SOCKET, relayWebSocket, wouldOpen } from './websocket.ts';

const SWITCHING_PROTOCOLS = 101;

export interface ResponseOptions {
  readonly recorder: Recorder;
  readonly loop: EventLoopWatch;
  /** Budget of response bodies in memory. */
  readonly responseBudget: BufferBudget;
  /** Verbose problem documents. */
  readonly dev: boolean;
  /** Bytes of an upstream's body that a plugin wants whole (`GW_MAX_UPSTREAM_RESPONSE_BYTES`). */
  readonly maxBufferedResponse: number;
  readonly limits: { readonly maxBodySize: number };
}

export class ResponseRun implements ProxyEvents, EngineResponse {
  /** Null if no operation matched. */
  op: LoadedOperation | null = null;
  /** Metrics that count the request; null: not known yet. */
  place: OperationMetrics | null = null;
  /** Number of middlewares whose request hook has run: their response hooks run in reverse. */
  ran = 0;
  readonly #exchange: Exchange;
  /** Null once the request needs no more of it. */
  #gw: Generation | null;
  readonly #options: ResponseOptions;
  #check: ResponseCheck | null = null;
  #informational: InformationalResponses | null = null;
  #dispatchedAt = 0;
  /** The body is held, so that the upstream's end is not yet the response's. */
  #holds = false;
  #recorded = false;
  /** Plugins see the body as it passes. */
  #passesChunks = false;

  constructor(exchange: Exchange, gw: Generation, options: ResponseOptions) {
    this.#exchange = exchange;
    this.#gw = gw;
    this.#options = options;
    gw.inFlight++;
  }

  /** The request's generation, until its response is under way. */
  get generation(): Generation {
    if (this.#gw === null) throw new Error('the response is under way, and its generation has been released');
    return this.#gw;
  }

  /** Its operation's metrics, or those of unmatched requests. */
  get metrics(): OperationMetrics {
    this.place ??= this.#options.recorder.metrics.unmatched(this.#exchange.method);
    return this.place;
  }

  // --- an answer in memory

  refuse(reason: ValidationReason, answer: Problem): Promise<void> {
    this.#options.recorder.validationFailed(this.metrics, reason);
    return this.answer({ problem: answer });
  }

  /** Sends an answer of a plugin or of the gateway. Ignored if the client has gone. */
  async answer(answer: Answer | null): Promise<void> {
    const exchange = this.#exchange;
    if (exchange.closed) return this.record(CLIENT_CLOSED, 0);
    if (answer === null) throw new Error('a plugin ended the request without an answer');
    setResponse(exchange, this.#inForm(answer), this.#options.dev);
    if (this.op !== null) await corsOnRefusal(this.op, exchange, this.ran);
    applyStaged(exchange);
    if (this.ran > 0 && this.op?.responseHooks) await this.#responseHooks(this.op);
    if (exchange.closed) return this.record(CLIENT_CLOSED, 0);
    this.#send();
  }

  /** Clients of some dispatchers read problems in a form of their own, also those of middlewares and of the gateway. */
  #inForm(answer: Answer): Answer {
    const form = this.op?.dispatcher.problemForm ?? null;
    return form === null || !('problem' in answer) ? answer : { problem: form(this.#exchange, answer.problem) };
  }

  // --- an upstream's answer, in the order in which it comes

  /** The dispatcher is about to run. */
  dispatches(op: LoadedOperation): void {
    const { recorder, responseBudget, loop } = this.#options;
    if (op.response !== null)
      this.#check = new ResponseCheck(op.response, { recorder, loop }, this.#exchange, responseBudget);
    loop.enters(this.#exchange, 'dispatch');
    this.#dispatchedAt = performance.now();
    this.#exchange.trace?.dispatches(op.dispatcher.name);
  }

  /** The dispatcher answered itself; `refused`: the problem to send in its place, if there is one already. */
  async dispatcherAnswered(refused: Problem | null): Promise<void> {
    const exchange = this.#exchange;
    const judged = refused ?? this.#check?.answer(exchange, exchange.answer) ?? null;
    const instead = judged instanceof Promise ? await judged : judged;
    if (instead) exchange.decided(null);
    return this.answer(instead ? { problem: instead } : exchange.answer);
  }

  /** An engine of the host has answered for the dispatcher. */
  whole(answer: Answer): Promise<void> {
    const exchange = this.#exchange;
    const op = this.op as LoadedOperation;
    this.observeDispatch(op, null);
    exchange.answer = answer;
    exchange.decided(op.dispatcher.name);
    exchange.trace?.dispatched('answered', problemOf(answer));
    return this.dispatcherAnswered(null);
  }

  /** How long the dispatcher took, or the upstream that it handed the request to. */
  observeDispatch(op: LoadedOperation, upstream: HandOff['upstream'] | null): void {
    const took = performance.now() - this.#dispatchedAt;
    this.#exchange.dispatchMs = took;
    op.dispatchTime(upstream).observe(took / 1000);
  }

  informational(exchange: Exchange, status: number, headers: HeaderList): Informed {
    this.#informational ??= new InformationalResponses(exchange, this.#options.responseBudget);
    return this.#informational.pass(status, headers);
  }

  head(exchange: Exchange, status: number, headers: HeaderList): ResponseSink | Promise<ResponseSink | null> {
    const op = this.op as LoadedOperation;
    this.observeDispatch(op, exchange.handOff?.upstream ?? null);
    if (wouldOpen(exchange, status)) {
      return this.answer({ problem: problem('upstream-failed', NO_WEB_SOCKET) }).then(() => null);
    }
    const open = () => this.#open(op, status, headers);
    const held = this.#check?.hold(exchange, status, headers, {
      open,
      holds: (holds) => {
        this.#holds = holds;
      },
      sent: (bytes) => this.done(exchange, bytes),
      withheld: (answer) => this.answer({ problem: answer }),
      failed: (error) => this.crashed(error),
    });
    return held ?? open();
  }

  /** Returns the sink for the body of a valid response. */
  #open(op: LoadedOperation, status: number, headers: HeaderList): ResponseSink | Promise<ResponseSink | null> {
    const exchange = this.#exchange;
    exchange.responseStatus = status;
    exchange.responseHeaders = headers;
    applyStaged(exchange);
    if (op.buffersResponse) return this.#hold(op);
    if (this.ran > 0 && op.responseHooks) return this.#hookThenStream(op);
    return this.#stream(op);
  }

  /** Holds the whole body for a plugin that declared `response_body = "buffer"`, then goes on as for any answer. */
  #hold(op: LoadedOperation): Writable {
    const exchange = this.#exchange;
    this.#holds = true;
    const bytes = new HeldResponseBytes(exchange, this.#options.responseBudget);
    return holdResponse({
      limit: this.#options.maxBufferedResponse,
      bytes,
      whole: async (body) => {
        exchange.responseBody = body;
        changeHeader(exchange.responseHeaders, 'remove', 'content-length', '');
        await this.#responseHooks(op);
        // From here on the transport counts what waits for the client.
        bytes.release();
        this.#send();
      },
      overflow: () => {
        this.failed(
          exchange,
          problem('upstream-failed', 'The upstream sent more than the gateway can hold in memory.'),
          'too large',
        );
        return Promise.resolve(null);
      },
      refused: () => this.answer({ problem: noRoomForResponse() }),
      failed: (error) => this.crashed(error),
    });
  }

  async #hookThenStream(op: LoadedOperation): Promise<ResponseSink | null> {
    this.#exchange.responseStreams = true;
    if (!(await this.#responseHooks(op))) return this.#stream(op);
    this.#holds = true;
    this.#send();
    return null;
  }

  /** Sends the head of a streaming response; its body follows through the chunk hooks, if there are any. */
  #stream(op: LoadedOperation): ResponseSink {
    const exchange = this.#exchange;
    const { responseStatus: status, responseHeaders: headers } = exchange;
    op.lifecycle?.addTo(headers);
    addStandardHeaders(exchange, headers);
    this.#passesChunks = op.responseChunks && this.ran > 0;
    if (this.#passesChunks) changeHeader(headers, 'remove', 'content-length', '');
    const sink = responseBody(
      exchange,
      op.middlewares.slice(0, this.ran),
      exchange.responder.stream(exchange, status, headers),
    );
    this.#releaseGeneration();
    return sink;
  }

  done(exchange: Exchange, bytes: number): void {
    if (!this.#holds) this.record(exchange.responseStatus === 0 ? CLIENT_CLOSED : exchange.responseStatus, bytes);
    else if (exchange.closed) this.record(CLIENT_CLOSED, 0);
  }

  // --- an engine's answer without an end

  /** The response ends with the client, or when the gateway stops. */
  async endless(exchange: Exchange, headers: HeaderList, begins: (sink: ResponseSink) => void): Promise<boolean> {
    const op = this.op as LoadedOperation;
    if (op.buffersResponse) {
      this.observeDispatch(op, null);
      await this.answer({ problem: problem('not-implemented', WANTS_WHOLE) });
      return false;
    }
    const sink = await this.head(exchange, 200, headers);
    if (sink === null) return false;
    if (exchange.closed) this.record(CLIENT_CLOSED, 0);
    else {
      this.goesOn(exchange.responseStatus);
      begins(sink);
    }
    return !exchange.closed;
  }

  async webSocket(exchange: Exchange, stopping: () => void, begins: (opened: OpenWebSocket) => void): Promise<boolean> {
    const op = this.op as LoadedOperation;
    this.observeDispatch(op, null);
    const refusal = refusalOf(exchange);
    if (refusal !== null) await this.answer({ problem: refusal });
    if (refusal !== null || !(await this.#switches(op, []))) return false;
    acceptClient(exchange, exchange.responseHeaders);
    const connection = exchange.responder.upgrade?.(exchange, exchange.responseHeaders, stopping) ?? null;
    if (connection === null) this.record(CLIENT_CLOSED, 0);
    else {
      this.goesOn(SWITCHING_PROTOCOLS);
      begins({ connection, figures: this.#options.recorder.metrics.webSockets });
    }
    return connection !== null;
  }

  // --- an upstream that does not answer

  failed(exchange: Exchange, answer: Problem, cause: string): void {
    if (exchange.closed) return this.record(CLIENT_CLOSED, 0);
    this.#options.recorder.upstreamFailed(exchange, cause);
    exchange.trace?.dispatched('failed', answer);
    this.answer({ problem: answer }).catch((error: unknown) => this.crashed(error));
  }

  refused(_exchange: Exchange, answer: Problem): void {
    this.answer({ problem: answer }).catch((error: unknown) => this.crashed(error));
  }

  bodyFailed(_exchange: Exchange, error: Error): void {
    if (!(error instanceof BodyTooLarge)) return this.record(CLIENT_CLOSED, 0);
    const { received, limit } = error;
    const refusing =
      limit === null
        ? this.refuse('body-size', tooLarge(received, this.#options.limits.maxBodySize))
        : this.answer({ problem: pastLimit(received, limit) });
    refusing.catch((cause: unknown) => this.crashed(cause));
  }

  broken(exchange: Exchange, cause: string): void {
    // A held body was not sent, so the client can still get an answer.
    const brokeOff = problem('upstream-failed', 'The upstream ended its response prematurely.');
    if (!exchange.responder.headSent) return this.failed(exchange, brokeOff, cause);
    this.#options.recorder.upstreamFailed(exchange, cause);
    exchange.responder.abort();
    this.record(exchange.responseStatus, 0);
    this.#release();
  }

  // --- an upstream that goes on in another protocol

  upgraded(exchange: Exchange, headers: HeaderList, connection: Duplex): void {
    const limits = exchange.handOff?.webSocket;
    if (limits === undefined) throw new Error('an upstream has switched to what nobody asked for');
    this.relay(exchange, { headers, connection, limits }).catch((error: unknown) => {
      connection.destroy();
      this.crashed(error);
    });
  }

  /** One of the response hooks that puts another answer in its place ends the upgrade. */
  async relay(exchange: Exchange, accepted: AcceptedWebSocket): Promise<boolean> {
    const op = this.op as LoadedOperation;
    this.observeDispatch(op, exchange.handOff?.upstream ?? null);
    if (!(await this.#switches(op, accepted.headers))) {
      accepted.connection.destroy();
      return false;
    }
    const { recorder, loop, responseBudget: budget } = this.#options;
    const ended = (sent: number) => this.record(SWITCHING_PROTOCOLS, sent);
    const relayed = relayWebSocket(exchange, accepted, { op, recorder, loop, budget }, ended);
    if (relayed) this.goesOn(SWITCHING_PROTOCOLS);
    else this.record(CLIENT_CLOSED, 0);
    return relayed;
  }

  /**
   * Response hooks see the answer as one without a body; resolves with false if the client has gone, or got another
   * answer.
   */
  async #switches(op: LoadedOperation, headers: HeaderList): Promise<boolean> {
    const exchange = this.#exchange;
    exchange.responseStatus = SWITCHING_PROTOCOLS;
    exchange.responseHeaders = headers;
    applyStaged(exchange);
    if (this.ran > 0 && op.responseHooks) await this.#responseHooks(op);
    if (exchange.closed) this.record(CLIENT_CLOSED, 0);
    else if (exchange.responseStatus !== SWITCHING_PROTOCOLS) this.#send();
    else {
      op.lifecycle?.addTo(exchange.responseHeaders);
      addStandardHeaders(exchange, exchange.responseHeaders);
      return true;
    }
    return false;
  }

  /** A long-lived response is traced up to its beginning, and outlives its generation. */
  goesOn(status: number): void {
    this.#exchange.trace?.finish(status);
    this.#exchange.trace = null;
    this.#releaseGeneration();
  }

  // --- the end of all of them

  /** Returns true if a hook put another answer in the response's place. */
  async #responseHooks(op: LoadedOperation): Promise<boolean> {
    const exchange = this.#exchange;
    let replaced = false;
    for (let i = this.ran - 1; i >= 0; i--) {
      const step = op.middlewares[i];
      if (!step?.plugin.hasResponseHook) continue;
      exchange.answer = null;
      this.#options.loop.enters(exchange, 'plugin');
      const outcome = await runResponseHook(step, exchange);
      if (outcome !== ANSWERED || exchange.answer === null) continue;
      replaced = true;
      setResponse(exchange, exchange.answer, this.#options.dev);
    }
    return replaced;
  }

  #send(): void {
    const exchange = this.#exchange;
    if (wouldOpen(exchange, exchange.responseStatus)) setResponse(exchange, OPENS_NONE, this.#options.dev);
    const { responseStatus: status, responseHeaders: headers, responseBody: body } = exchange;
    const { op } = this;
    op?.lifecycle?.addTo(headers);
    addStandardHeaders(exchange, headers);
    if (op?.responseChunks && !op.buffersResponse) {
      this.#passesChunks = streamStored(exchange, op.middlewares.slice(0, this.ran));
    }
    if (!this.#passesChunks) exchange.responder.send(exchange, status, headers, body);
    this.record(status, body === null ? 0 : body.length);
    // The client may read it late.
    exchange.forgetAnswer();
  }

  /** A defect of the gateway: its request gets 500, and others are not affected. */
  crashed(error: unknown): void {
    const exchange = this.#exchange;
    this.#options.recorder.crashed(exchange, error);
    if (this.#recorded || exchange.closed) return this.record(CLIENT_CLOSED, 0);
    try {
      if (exchange.responder.headSent) throw error;
      setResponse(exchange, CRASHED, this.#options.dev);
      this.#send();
    } catch {
      exchange.responder.abort();
      this.record(500, 0);
      this.#release();
    }
  }

  /** The end, once: metrics, access log, trace. */
  record(status: number, responseBytes: number): void {
    if (this.#recorded) return;
    this.#recorded = true;
    this.#releaseGeneration();
    const counted = this.#exchange.closedWith || status;
    this.#exchange.trace?.finish(counted === CLIENT_CLOSED ? null : counted);
    this.#options.recorder.finished(this.#exchange, this.metrics, counted, responseBytes);
  }

  /**
   * Releases the generation as soon as no plugin sees more of the request: a client may read its response for longer
   * than many generations last (docs/decisions.md#generation-released-early).
   */
  #releaseGeneration(): void {
    if (this.#gw === null) return;
    if (this.#pluginsSeeMore) return void this.#exchange.onClose(() => this.#release());
    this.#release();
  }

  get #pluginsSeeMore(): boolean {
    if (this.#passesChunks) return true;
    const { bodyStream } = this.#exchange;
    return this.op?.requestChunks === true && bodyStream !== null && !bodyStream.readableEnded;
  }

  #release(): void {
    const gw = this.#gw;
    if (gw === null) return;
    this.#gw = null;
    this.#exchange.outliveGeneration(this.op?.outliving ?? null);
    this.op = null;
    this.#check = null;
    gw.release();
  }
}

const OPENS_NONE = { problem: problem('not-implemented', NO_WEB_SOCKET) };
const CRASHED = { problem: problem('internal-error', 'The gateway failed. Its log has the request id.') };
const WANTS_WHOLE = 'A plugin of this operation needs whole response bodies, and a stream of events has no end.';
