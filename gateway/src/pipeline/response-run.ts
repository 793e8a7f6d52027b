/**
 * The second half of a request's life, from an answer to the line in the access log (docs/decisions.md#request-order).
 * An answer in memory (`answer`): staged headers, response hooks, standard headers, sent whole. Answers of the
 * operation's dispatcher, an upstream or an engine come through an `OperationResponse`, and end here.
 */

import { type Answer, CLIENT_CLOSED, changeHeader, type Exchange, type ResponseSink } from '../exchange.ts';
import { addStandardHeaders } from '../headers/standard.ts';
import type { BufferBudget } from '../memory/buffer-budget.ts';
import { type Problem, problem } from '../problems.ts';
import { type Awaitable, after, handled } from '../scheduling/awaitable.ts';
import type { EventLoopWatch } from '../telemetry/event-loop.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';
import type { OperationMetrics } from '../telemetry/metrics.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import { ANSWERED, type Outcome } from '../wasm/call/plugin.ts';
import type { Generation, LoadedOperation } from './generation.ts';
import { corsOnRefusal, runResponseHook } from './hooks.ts';
import { applyStaged, setResponse } from './response.ts';
import { responseBody, streamStored } from './streams.ts';
import { NO_WEB_SOCKET, wouldOpen } from './websocket.ts';

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

export class ResponseRun {
  /** Null if no operation matched, and once the generation has been released. */
  op: LoadedOperation | null = null;
  /** Metrics that count the request; null: not known yet. */
  place: OperationMetrics | null = null;
  /** Number of middlewares whose request hook has run: their response hooks run in reverse. */
  ran = 0;
  readonly exchange: Exchange;
  readonly options: ResponseOptions;
  /** Null once the request needs no more of it. */
  #gw: Generation | null;
  #recorded = false;
  /** Plugins see the body as it passes. */
  #passesChunks = false;

  constructor(exchange: Exchange, gw: Generation, options: ResponseOptions) {
    this.exchange = exchange;
    this.#gw = gw;
    this.options = options;
    gw.inFlight++;
  }

  /** The request's generation, until its response is under way. */
  get generation(): Generation {
    if (this.#gw === null) throw new Error('the response is under way, and its generation has been released');
    return this.#gw;
  }

  /** Its operation's metrics, or those of unmatched requests. */
  get metrics(): OperationMetrics {
    this.place ??= this.options.recorder.metrics.unmatched(this.exchange.method);
    return this.place;
  }

  refuse(reason: ValidationReason, answer: Problem): Awaitable<void> {
    this.options.recorder.validationFailed(this.metrics, reason);
    return this.answer({ problem: answer });
  }

  /** Sends an answer of a plugin or of the gateway. Ignored if the client has gone. */
  answer(answer: Answer | null): Awaitable<void> {
    const { exchange } = this;
    if (exchange.closed) return this.record(CLIENT_CLOSED, 0);
    if (answer === null) throw new Error('a plugin ended the request without an answer');
    setResponse(exchange, this.#inForm(answer), this.options.dev);
    return after(this.op === null ? undefined : corsOnRefusal(this.op, exchange, this.ran), () => {
      applyStaged(exchange);
      const hooks = this.ran > 0 && this.op?.responseHooks ? this.runResponseHooks(this.op) : false;
      return after(hooks, () => {
        if (exchange.closed) this.record(CLIENT_CLOSED, 0);
        else this.send();
      });
    });
  }

  /** Sends an answer that comes later than the request's run, from outside of it. */
  answerLate(answer: Answer): void {
    handled(
      () => this.answer(answer),
      (error) => this.crashed(error),
    );
  }

  /** Clients of some dispatchers read problems in a form of their own, also those of middlewares and of the gateway. */
  #inForm(answer: Answer): Answer {
    const form = this.op?.dispatcher.problemForm ?? null;
    return form === null || !('problem' in answer) ? answer : { problem: form(this.exchange, answer.problem) };
  }

  // --- the end of all answers

  /** Returns true if a hook put another answer in the response's place. */
  runResponseHooks(op: LoadedOperation): Awaitable<boolean> {
    return this.#hooksFrom(op, this.ran - 1, false);
  }

  /** `replaced`: by a hook before them. */
  #hooksFrom(op: LoadedOperation, last: number, replaced: boolean): Awaitable<boolean> {
    const { exchange } = this;
    for (let i = last; i >= 0; i--) {
      const step = op.middlewares[i];
      if (!step?.plugin.hasResponseHook) continue;
      exchange.answer = null;
      const outcome = runResponseHook(step, exchange, this.options.loop.enters(exchange, 'plugin'));
      if (outcome instanceof Promise) {
        return outcome.then((late) => this.#hooksFrom(op, i - 1, this.#replaces(late) || replaced));
      }
      if (this.#replaces(outcome)) replaced = true;
    }
    return replaced;
  }

  /** Puts the answer of a hook in the response's place, if it has one. */
  #replaces(outcome: Outcome): boolean {
    const { answer } = this.exchange;
    if (outcome !== ANSWERED || answer === null) return false;
    setResponse(this.exchange, answer, this.options.dev);
    return true;
  }

  send(): void {
    const { exchange } = this;
    if (wouldOpen(exchange, exchange.response.status)) setResponse(exchange, OPENS_NONE, this.options.dev);
    const { status, headers, body } = exchange.response;
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

  /** Sends the head of a streaming response; its body follows through the chunk hooks, if there are any. */
  stream(op: LoadedOperation): ResponseSink {
    const { exchange } = this;
    const { status, headers } = exchange.response;
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

  /** A long-lived response is traced up to its beginning, and outlives its generation. */
  goesOn(status: number): void {
    this.exchange.trace?.finish(status);
    this.exchange.trace = null;
    this.#releaseGeneration();
  }

  /** A defect of the gateway: its request gets 500, and others are not affected. */
  crashed(error: unknown): void {
    const { exchange } = this;
    this.options.recorder.crashed(exchange, error);
    if (this.#recorded || exchange.closed) return this.record(CLIENT_CLOSED, 0);
    try {
      if (exchange.responder.headSent) throw error;
      setResponse(exchange, CRASHED, this.options.dev);
      this.send();
    } catch {
      this.cutOff(500);
    }
  }

  /** The response cannot be completed. `status`: to count. */
  cutOff(status: number): void {
    this.exchange.responder.abort();
    this.record(status, 0);
    this.#release();
  }

  /** The end, once: metrics, access log, trace. */
  record(status: number, responseBytes: number): void {
    if (this.#recorded) return;
    this.#recorded = true;
    this.#releaseGeneration();
    const counted = this.exchange.closedWith || status;
    this.exchange.trace?.finish(counted === CLIENT_CLOSED ? null : counted);
    this.options.recorder.finished(this.exchange, this.metrics, counted, responseBytes);
  }

  /**
   * Releases the generation as soon as no plugin sees more of the request: a client may read its response for longer
   * than many generations last (docs/decisions.md#generation-released-early).
   */
  #releaseGeneration(): void {
    if (this.#gw === null) return;
    if (this.#pluginsSeeMore) return void this.exchange.onClose(() => this.#release());
    this.#release();
  }

  get #pluginsSeeMore(): boolean {
    if (this.#passesChunks) return true;
    const { bodyStream } = this.exchange;
    return this.op?.requestChunks === true && bodyStream !== null && !bodyStream.isRead;
  }

  #release(): void {
    const gw = this.#gw;
    if (gw === null) return;
    this.#gw = null;
    this.exchange.outliveGeneration(this.op?.outliving ?? null);
    this.op = null;
    gw.release();
  }
}

const OPENS_NONE = { problem: problem('not-implemented', NO_WEB_SOCKET) };
const CRASHED = { problem: problem('internal-error', 'The gateway failed. Its log has the request id.') };
