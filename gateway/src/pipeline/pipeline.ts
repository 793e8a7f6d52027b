/**
 * A request's life, from the moment that the transport has its head (docs/decisions.md#request-order): limits, route,
 * admission, identifiers, reserved paths, preflight, parameters, middlewares, body, dispatcher. `response-run.ts` has
 * the rest: response hooks, standard headers, metrics, the line in the access log.
 */

import { proxy } from '../egress/proxy.ts';
import {
  type BodyStream,
  CLIENT_CLOSED,
  type Exchange,
  type HeaderList,
  headerOf,
  Interrupted,
  joinedHeader,
  problemOf,
} from '../exchange.ts';
import type { HandOff } from '../hand-off.ts';
import type { Admission, Admitted } from '../headers/admission.ts';
import type { ClientAddress } from '../headers/client-ip.ts';
import { hopsOf, MAX_HOPS } from '../headers/hops.ts';
import { identify } from '../headers/standard.ts';
import { MCP_ADMISSION, type McpEndpoint, STREAMS } from '../mcp/endpoint.ts';
import { MCP_PATH } from '../mcp/paths.ts';
import type { Toolbox } from '../mcp/toolbox.ts';
import type { BufferBudget } from '../memory/buffer-budget.ts';
import { type Problem, problem } from '../problems.ts';
import { RESERVED_PREFIX, type ReservedOptions, reserved } from '../reserved/reserved.ts';
import { readsAsAnother } from '../router/other-readings.ts';
import { decodePath } from '../router/template.ts';
import { type Awaitable, after, handled } from '../scheduling/awaitable.ts';
import type { ToolOutcome, ValidationReason } from '../telemetry/metric-table.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { notAcceptable } from '../validation/accept.ts';
import type { ArrivingBodies } from '../validation/arriving-bodies.ts';
import { checkLimits, type RequestLimits, repeatedHeader } from '../validation/limits.ts';
import {
  type BodyReading,
  bodyReader,
  mustBeRead,
  needsReading,
  readToLimit,
  tooLarge,
} from '../validation/read-body.ts';
import { otherPath, parameterRefusal } from '../validation/refusals.ts';
import { ANSWERED, HANDED_OFF, type Outcome } from '../wasm/call/plugin.ts';
import { UpstreamHandshake } from '../websocket/handshake.ts';
import { EngineAnswer } from './engine-answer.ts';
import { type Generation, isDispatchTarget, type LoadedOperation, type Step } from './generation.ts';
import { runRequestHook } from './hooks.ts';
import { OperationResponse } from './operation-response.ts';
import { ownStream } from './own-stream.ts';
import { ResponseCheck } from './response-check.ts';
import { type ResponseOptions, ResponseRun } from './response-run.ts';
import { transformedBody } from './streams.ts';
import { UpstreamResponse } from './upstream-response.ts';

export interface PipelineOptions extends ResponseOptions {
  readonly limits: RequestLimits;
  readonly reserved: ReservedOptions;
  readonly client: ClientAddress;
  /** Budget of request bodies in memory. */
  readonly budget: BufferBudget;
  readonly arriving: ArrivingBodies;
  readonly mcp: McpEndpoint;
  /** Null: no request is traced. */
  readonly tracing: Pick<Tracing, 'begin'> | null;
}

const GOES_ROUND = 'The request has come through too many gateways: a plugin or an upstream leads back to its own.';

/** Serves one request with one generation; never throws. */
export function serve(exchange: Exchange, gw: Generation, options: PipelineOptions): void {
  const request = new RequestRun(exchange, gw, options);
  handled(
    () => request.run(),
    (error) => request.crashed(error),
  );
}

/** The end of a dispatcher's call, which began at `dispatchedAt`. */
interface Dispatched {
  readonly outcome: Outcome;
  readonly check: ResponseCheck | null;
  readonly dispatchedAt: number;
}

class RequestRun implements BodyReading {
  readonly #exchange: Exchange;
  readonly #options: PipelineOptions;
  readonly #response: ResponseRun;
  #authenticated = false;

  constructor(exchange: Exchange, gw: Generation, options: PipelineOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#response = new ResponseRun(exchange, gw, options);
  }

  get #gw(): Generation {
    return this.#response.generation;
  }

  /** Each step goes on to the next at once, unless something has to be waited for. */
  run(): Awaitable<void> {
    const exchange = this.#exchange;
    const response = this.#response;
    const { loop } = this.#options;
    loop.enters(exchange, 'request');
    const refusal = checkLimits(exchange, this.#options.limits);
    const match = refusal ? null : this.#gw.router.find(exchange.method, exchange.path);
    const repeated = this.#admit(match?.value ?? null);
    if (this.#options.tracing !== null) exchange.trace = this.#options.tracing.begin(exchange);
    if (refusal) return response.refuse(refusal.reason, refusal.problem);
    if (repeated !== null) return response.refuse('malformed', repeatedHeader(repeated));
    if (exchange.hops > MAX_HOPS) return response.answer({ problem: problem('loop-detected', GOES_ROUND) });
    if (exchange.path.startsWith(RESERVED_PREFIX)) {
      const { toolbox } = this.#gw;
      if (toolbox !== null && exchange.path === MCP_PATH) return this.#mcp(toolbox);
      return this.#reserved();
    }
    if (!match || match.value === null) return this.#unrouted(match ? match.allow : []);
    const op = match.value;
    response.op = op;
    response.place = op.metrics;
    exchange.operation = op.matched;
    if (match.params.length > 0) {
      exchange.sentParams = op.parameters === null ? match.params : op.parameters.split(match.params);
      exchange.params = exchange.sentParams.map(decodePath);
      if (readsAsAnother(this.#gw.router, exchange, op, op.operation.path)) return response.refuse('path', otherPath());
    }

    const { maxBodySize } = this.#options.limits;
    if (exchange.bodyStream !== null) {
      const length = Number(headerOf(exchange.headers, 'content-length') ?? 0);
      if (length > maxBodySize) return response.refuse('body-size', tooLarge(length, maxBodySize));
    }
    if (op.middlewares[0]?.plugin.plugin.inspects === true) return this.#inspect(op);
    return this.#checkParameters(op, 0);
  }

  /** Runs the first middleware, which inspects the request as it was sent, also what validation refuses. */
  #inspect(op: LoadedOperation): Awaitable<void> {
    const exchange = this.#exchange;
    const step = op.middlewares[0] as Step;
    this.#takesBody(op);
    this.#response.ran++;
    const outcome = runRequestHook(step, exchange, this.#options.loop.enters(exchange, 'plugin'));
    return after(outcome, (decided) => {
      return this.#goesOn(step, decided) ? this.#checkParameters(op, 1) : this.#stop(decided);
    });
  }

  /** `first`: the first middleware that has not run. */
  #checkParameters(op: LoadedOperation, first: number): Awaitable<void> {
    const exchange = this.#exchange;
    const response = this.#response;
    const { loop } = this.#options;
    if (op.parameters === null) return this.#withParameters(op, first);
    loop.enters(exchange, 'parameters');
    const span = exchange.trace?.child('validate parameters');
    const checked = parameterRefusal(op.parameters, exchange, exchange.sentParams, this.#options.dev);
    return after(checked, (refused) => {
      if (span) exchange.trace?.ended(span, refused ? 'refused' : 'valid');
      if (refused?.reason) return response.refuse(refused.reason, refused.problem);
      if (refused) return response.answer({ problem: refused.problem });
      return this.#withParameters(op, first);
    });
  }

  /** The parameters are valid. */
  #withParameters(op: LoadedOperation, first: number): Awaitable<void> {
    const exchange = this.#exchange;
    if (op.accept !== null && !op.accept.admits(joinedHeader(exchange.headers, 'accept'))) {
      return this.#response.refuse('header', notAcceptable(op.accept.produces));
    }
    if (first === 0) this.#takesBody(op);
    return this.#runMiddlewares(op, first);
  }

  /** Lets plugins read the body. */
  #takesBody(op: LoadedOperation): void {
    const exchange = this.#exchange;
    if (exchange.bodyStream !== null || op.body?.required) exchange.readBody = bodyReader(exchange, this);
  }

  /** Runs the request hooks from the `first` on, then the dispatcher. */
  #runMiddlewares(op: LoadedOperation, first: number): Awaitable<void> {
    const exchange = this.#exchange;
    const { loop } = this.#options;
    for (let i = first; i < op.middlewares.length; i++) {
      const step = op.middlewares[i] as Step;
      this.#response.ran++;
      if (!step.plugin.hasRequestHook) continue;
      const outcome = runRequestHook(step, exchange, loop.enters(exchange, 'plugin'));
      if (outcome instanceof Promise) {
        return outcome.then((late) => {
          if (this.#goesOn(step, late)) return this.#runMiddlewares(op, i + 1);
          return this.#stop(late);
        });
      }
      if (!this.#goesOn(step, outcome)) return this.#stop(outcome);
    }
    const needsBody = op.body !== null || exchange.awaitsInspection;
    if (!needsBody || exchange.body !== null) return this.#dispatch(op);
    return this.#validateBody(op);
  }

  /** Reports whether the request goes on behind a hook. */
  #goesOn({ plugin }: Step, outcome: Outcome): boolean {
    if (outcome === ANSWERED || this.#exchange.closed) return false;
    if (plugin.plugin.authenticates) this.#authenticated = true;
    return true;
  }

  /** A hook has answered the request, or its client has gone. */
  #stop(outcome: Outcome): Awaitable<void> {
    if (outcome === ANSWERED) return this.#response.answer(this.#exchange.answer);
    this.#response.record(CLIENT_CLOSED, 0);
  }

  async #validateBody(op: LoadedOperation): Promise<void> {
    if (await this.#bodyIsValid()) return this.#dispatch(op);
    return this.#response.answer(this.#exchange.answer);
  }

  async #reserved(): Promise<void> {
    return this.#response.answer(await reserved(this.#exchange, this.#gw, this.#options.reserved));
  }

  crashed(error: unknown): void {
    this.#response.crashed(error);
  }

  /**
   * Admits headers and reads the request's properties from them; returns a single-valued header that came in several
   * lines, or null.
   */
  #admit(op: LoadedOperation | null): string | null {
    const exchange = this.#exchange;
    const admission = op?.admission ?? this.#otherAdmission();
    const { dropped, repeated } = admitTo(exchange, admission, this.#options.client);
    exchange.memory = this.#options.budget;
    exchange.responseMemory = this.#options.responseBudget;
    if (dropped > 0)
      this.#options.recorder.headersDropped(exchange, dropped, () => admission.dropped(exchange.rawHeaders));
    return repeated;
  }

  #otherAdmission(): Admission {
    return this.#gw.toolbox !== null && this.#exchange.path === MCP_PATH ? MCP_ADMISSION : this.#gw.baseline;
  }

  /** Answers a client of MCP; tools are called by requests of their own, with the same generation. */
  async #mcp(toolbox: Toolbox): Promise<void> {
    const exchange = this.#exchange;
    const { maxBodySize } = this.#options.limits;
    const length = Number(headerOf(exchange.headers, 'content-length') ?? 0);
    if (exchange.bodyStream !== null && length > maxBodySize) {
      return this.#response.refuse('body-size', tooLarge(length, maxBodySize));
    }
    if (exchange.bodyStream !== null) exchange.readBody = bodyReader(exchange, this);
    const gw = this.#gw;
    const requests = {
      serve: (own: Exchange) => serve(own, gw, this.#options),
      operationOf: (method: string, path: string) => gw.router.find(method, path).value?.operation.index,
    };
    const stream = (headers: HeaderList) => ownStream(exchange, this.#response, headers);
    const { mcp, recorder } = this.#options;
    const called = (tool: string, outcome: ToolOutcome) => recorder.metrics.toolCalled(tool, outcome);
    const passedOn = (upstream: string, about: string, outcome: ToolOutcome) =>
      recorder.metrics.passedOn(upstream, about, outcome);
    const upstreamFailed = (upstream: string, about: string, cause: string) =>
      recorder.mcpUpstreamFailed(exchange, { mcp_upstream: upstream, tool: about, cause });
    const admit = (own: Exchange, admission: Admission) => void admitTo(own, admission, this.#options.client);
    const permits = async () => (toolbox.access === null ? null : toolbox.access.permittedTo(exchange, admit));
    this.#options.loop.enters(exchange, 'mcp');
    const answer = await mcp.answer({ exchange, toolbox, requests, permits, called, passedOn, upstreamFailed, stream });
    if (answer !== STREAMS) await this.#response.answer(answer);
  }

  /** No operation has this path, or this method for it: preflight, 404 or 405. */
  async #unrouted(allow: readonly string[]): Promise<void> {
    const exchange = this.#exchange;
    const { toolbox } = this.#gw;
    if (allow.length === 0 && toolbox?.resource?.isAt(exchange.path)) {
      return this.#response.answer(toolbox.resource.answer(exchange, toolbox.origins));
    }
    if (allow.length === 0)
      return this.#response.answer({ problem: problem('route-not-found', 'No operation has this path.') });
    const wanted =
      exchange.method === 'OPTIONS' ? headerOf(exchange.headers, 'access-control-request-method') : undefined;
    if (wanted !== undefined && headerOf(exchange.headers, 'origin') !== undefined) {
      const op = this.#gw.router.find(wanted, exchange.path).value;
      if (op?.preflight) {
        this.#response.place = this.#options.recorder.metrics.operation('OPTIONS', op.operation.path, op.operation.api);
        exchange.operation = op.matched;
        if ((await runRequestHook(op.preflight, exchange)) === ANSWERED) return this.#response.answer(exchange.answer);
      }
    }
    const detail = `The path has no ${exchange.method} operation.`;
    const headers = ['allow', allow.join(', ')];
    return this.#response.answer({ problem: problem('method-not-allowed', detail, { headers }) });
  }

  /** Reads the body if no plugin has. Returns false if it was refused, and `Exchange.answer` says why. */
  async #bodyIsValid(): Promise<boolean> {
    const exchange = this.#exchange;
    const reads = needsReading(exchange, this);
    if (reads === undefined) return false;
    if (!reads && !exchange.awaitsInspection) return true;
    try {
      await exchange.readBody();
      return true;
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      return false;
    }
  }

  #dispatch(op: LoadedOperation): Awaitable<void> {
    const exchange = this.#exchange;
    const { recorder, responseBudget, loop } = this.#options;
    const check = op.response && new ResponseCheck(op.response, { recorder, loop }, exchange, responseBudget);
    const dispatchedAt = loop.enters(exchange, 'dispatch');
    exchange.trace?.dispatches(op.dispatcher.name);
    if (exchange.parts !== null) for (const part of exchange.parts) part?.dispatched?.(exchange);
    return after(op.dispatcher.dispatch(exchange), (outcome) => this.#respond(op, { outcome, check, dispatchedAt }));
  }

  #respond(op: LoadedOperation, { outcome, check, dispatchedAt }: Dispatched): Awaitable<void> {
    const exchange = this.#exchange;
    const response = this.#response;
    const { handOff, engine } = exchange;
    if (outcome === HANDED_OFF && engine !== null)
      return engine.answer(exchange, new EngineAnswer(response, op, check, dispatchedAt));
    if (outcome !== HANDED_OFF || handOff === null) {
      const answered = new OperationResponse(response, op, check, dispatchedAt);
      answered.observeDispatch(null);
      exchange.trace?.dispatched('answered', problemOf(exchange.answer));
      const { bodyStream } = exchange;
      const unread = bodyStream !== null && mustBeRead(exchange, bodyStream) ? readToLimit(exchange, bodyStream) : null;
      return after(unread, (refused) => answered.answerInMemory(refused));
    }
    this.#proxy(op, handOff, new UpstreamResponse(response, op, check, dispatchedAt));
  }

  #proxy(op: LoadedOperation, handOff: HandOff, response: UpstreamResponse): void {
    const exchange = this.#exchange;
    const { upstream } = handOff;
    if (!isDispatchTarget(upstream)) throw new Error(`plugin ${op.dispatcher.name} handed off to an unknown upstream`);
    const hooked = op.requestChunks && exchange.bodyStream !== null;
    const body = hooked ? transformedBody(exchange, op.middlewares) : (exchange.body ?? unreadBody(exchange));
    const known =
      body !== null && body === exchange.bodyStream ? headerOf(exchange.headers, 'content-length') : undefined;
    const trustedPeer = this.#options.client.trusts(exchange.peer);
    const upgrade = handOff.webSocket ? new UpstreamHandshake(exchange, op.messages !== null) : null;
    proxy({ exchange, handOff, upstream, trustedPeer, body, contentLength: known, upgrade }, response);
  }

  // --- BodyReading

  get validator() {
    return this.#response.op?.body ?? null;
  }

  get budget() {
    return this.#options.budget;
  }

  get arriving() {
    return this.#options.arriving;
  }

  get loop() {
    return this.#options.loop;
  }

  get authenticated() {
    return this.#authenticated;
  }

  get maxBodySize() {
    return this.#options.limits.maxBodySize;
  }

  refuse(exchange: Exchange, reason: ValidationReason, answer: Problem): void {
    this.#options.recorder.validationFailed(this.#response.metrics, reason);
    exchange.answer = { problem: answer };
  }
}

function admitTo(exchange: Exchange, admission: Admission, client: ClientAddress): Admitted {
  const admitted = admission.admit(exchange.rawHeaders);
  exchange.headers = admitted.headers;
  exchange.clientIp = client.of(exchange.peer, exchange.headers);
  exchange.hops = hopsOf(exchange.headers);
  identify(exchange);
  return admitted;
}

/** Returns a short body as bytes: a stream costs more than all else of its request. One in chunks stays in chunks. */
function unreadBody({ bodyStream, headers }: Exchange): BodyStream | Uint8Array | null {
  if (bodyStream === null || headerOf(headers, 'content-length') === undefined) return bodyStream;
  return bodyStream.takeWhole() ?? bodyStream;
}
