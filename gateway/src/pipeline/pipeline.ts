/**
 * A request's life, from the moment that the transport has its head (docs/decisions.md#request-order): limits, route,
 * admission, identifiers, reserved paths, preflight, parameters, middlewares, body, dispatcher. `response-run.ts` has
 * the rest: response hooks, standard headers, metrics, the line in the access log.
 */
import type { BufferBudget } from '../buffer-budget.ts';
import { proxy } from '../egress/proxy.ts';
import {
  CLIENT_CLOSED,
  type Exchange,
  type HeaderList,
  headerOf,
  Interrupted,
  joinedHeader,
  problemOf,
} from '../exchange.ts';
import type { Admission, Admitted } from '../headers/admission.ts';
import type { ClientAddress } from '../headers/client-ip.ts';
import { hopsOf, MAX_HOPS } from '../headers/hops.ts';
import { identify } from '../headers/standard.ts';
import { MCP_ADMISSION, type McpEndpoint, STREAMS } from '../mcp/endpoint.ts';
import { MCP_PATH } from '../mcp/paths.ts';
import type { Toolbox } from '../mcp/toolbox.ts';
import { type Problem, problem } from '../problems.ts';
import { RESERVED_PREFIX, type ReservedOptions, reserved } from '../reserved/reserved.ts';
import { readsAsAnother } from '../router/other-readings.ts';
import { decodePath } from '../router/template.ts';
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
import { ANSWERED, HANDED_OFF } from '../wasm/call/plugin.ts';
import { UpstreamHandshake } from '../websocket/handshake.ts';
import { type Generation, isHttpUpstream, type LoadedOperation } from './generation.ts';
import { runRequestHook } from './hooks.ts';
import { ownStream } from './own-stream.ts';
import { type ResponseOptions, ResponseRun } from './response-run.ts';
import { transformedBody } from './streams.ts';

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
export function serve(x: Exchange, gw: Generation, options: PipelineOptions): void {
  const request = new RequestRun(x, gw, options);
  request.run().catch((error: unknown) => request.crashed(error));
}

class RequestRun implements BodyReading {
  readonly #x: Exchange;
  readonly #options: PipelineOptions;
  readonly #response: ResponseRun;
  #authenticated = false;

  constructor(x: Exchange, gw: Generation, options: PipelineOptions) {
    this.#x = x;
    this.#options = options;
    this.#response = new ResponseRun(x, gw, options);
  }

  get #gw(): Generation {
    return this.#response.generation;
  }

  async run(): Promise<void> {
    const x = this.#x;
    const response = this.#response;
    const { loop } = this.#options;
    loop.enters(x, 'request');
    const refusal = checkLimits(x, this.#options.limits);
    const match = refusal ? null : this.#gw.router.find(x.method, x.path);
    const repeated = this.#admit(match?.value ?? null);
    if (this.#options.tracing !== null) x.trace = this.#options.tracing.begin(x);
    if (refusal) return response.refuse(refusal.reason, refusal.problem);
    if (repeated !== null) return response.refuse('malformed', repeatedHeader(repeated));
    if (x.hops > MAX_HOPS) return response.answer({ problem: problem('loop-detected', GOES_ROUND) });
    if (x.path.startsWith(RESERVED_PREFIX)) {
      const { toolbox } = this.#gw;
      if (toolbox !== null && x.path === MCP_PATH) return this.#mcp(toolbox);
      return response.answer(await reserved(x, this.#gw, this.#options.reserved));
    }
    if (!match || match.value === null) return this.#unrouted(match ? match.allow : []);
    const op = match.value;
    response.op = op;
    response.place = op.metrics;
    x.operation = op.matched;
    if (match.params.length > 0) {
      x.sentParams = op.parameters === null ? match.params : op.parameters.split(match.params);
      x.params = x.sentParams.map(decodePath);
      if (readsAsAnother(this.#gw.router, x, op, op.operation.path)) return response.refuse('path', otherPath());
    }

    const { maxBodySize } = this.#options.limits;
    if (x.bodyStream !== null) {
      const length = Number(headerOf(x.headers, 'content-length') ?? 0);
      if (length > maxBodySize) return response.refuse('body-size', tooLarge(length, maxBodySize));
    }
    if (op.parameters !== null) {
      loop.enters(x, 'parameters');
      const span = x.trace?.child('validate parameters');
      const checked = parameterRefusal(op.parameters, x, x.sentParams, this.#options.dev);
      const refused = checked instanceof Promise ? await checked : checked;
      if (span) x.trace?.ended(span, refused ? 'refused' : 'valid');
      if (refused?.reason) return response.refuse(refused.reason, refused.problem);
      if (refused) return response.answer({ problem: refused.problem });
    }
    if (op.accept !== null && !op.accept.admits(joinedHeader(x.headers, 'accept'))) {
      return response.refuse('header', notAcceptable(op.accept.produces));
    }
    if (x.bodyStream !== null || op.body?.required) x.readBody = bodyReader(x, this);

    for (const step of op.middlewares) {
      response.ran++;
      if (!step.plugin.hasRequestHook) continue;
      loop.enters(x, 'plugin');
      const decided = runRequestHook(step, x);
      const outcome = typeof decided === 'number' ? decided : await decided;
      if (outcome === ANSWERED) return response.answer(x.answer);
      if (x.closed) return response.record(CLIENT_CLOSED, 0);
      if (step.plugin.plugin.authenticates) this.#authenticated = true;
    }
    if (op.body !== null && x.body === null && !(await this.#bodyIsValid())) return response.answer(x.answer);
    return this.#dispatch(op);
  }

  crashed(error: unknown): void {
    this.#response.crashed(error);
  }

  /**
   * Admits headers and reads the request's properties from them; returns a single-valued header that came in several
   * lines, or null.
   */
  #admit(op: LoadedOperation | null): string | null {
    const x = this.#x;
    const admission = op?.admission ?? this.#otherAdmission();
    const { dropped, repeated } = admitTo(x, admission, this.#options.client);
    x.memory = this.#options.budget;
    x.responseMemory = this.#options.responseBudget;
    if (dropped > 0) this.#options.recorder.headersDropped(x, dropped, () => admission.dropped(x.rawHeaders));
    return repeated;
  }

  #otherAdmission(): Admission {
    return this.#gw.toolbox !== null && this.#x.path === MCP_PATH ? MCP_ADMISSION : this.#gw.baseline;
  }

  /** Answers a client of MCP; tools are called by requests of their own, with the same generation. */
  async #mcp(toolbox: Toolbox): Promise<void> {
    const x = this.#x;
    const { maxBodySize } = this.#options.limits;
    const length = Number(headerOf(x.headers, 'content-length') ?? 0);
    if (x.bodyStream !== null && length > maxBodySize) {
      return this.#response.refuse('body-size', tooLarge(length, maxBodySize));
    }
    if (x.bodyStream !== null) x.readBody = bodyReader(x, this);
    const gw = this.#gw;
    const requests = {
      serve: (own: Exchange) => serve(own, gw, this.#options),
      operationOf: (method: string, path: string) => gw.router.find(method, path).value?.operation.index,
    };
    const stream = (headers: HeaderList) => ownStream(x, this.#response, headers);
    const { mcp, recorder } = this.#options;
    const called = (tool: string, outcome: ToolOutcome) => recorder.metrics.toolCalled(tool, outcome);
    const passedOn = (upstream: string, about: string, outcome: ToolOutcome) =>
      recorder.metrics.passedOn(upstream, about, outcome);
    const upstreamFailed = (upstream: string, about: string, cause: string) =>
      recorder.mcpUpstreamFailed(x, { mcp_upstream: upstream, tool: about, cause });
    const admit = (own: Exchange, admission: Admission) => void admitTo(own, admission, this.#options.client);
    const permits = async () => (toolbox.access === null ? null : toolbox.access.permittedTo(x, admit));
    this.#options.loop.enters(x, 'mcp');
    const answer = await mcp.answer({ x, toolbox, requests, permits, called, passedOn, upstreamFailed, stream });
    if (answer !== STREAMS) await this.#response.answer(answer);
  }

  /** No operation has this path, or this method for it: preflight, 404 or 405. */
  async #unrouted(allow: readonly string[]): Promise<void> {
    const x = this.#x;
    const { toolbox } = this.#gw;
    if (allow.length === 0 && toolbox?.resource?.isAt(x.path)) {
      return this.#response.answer(toolbox.resource.answer(x, toolbox.origins));
    }
    if (allow.length === 0)
      return this.#response.answer({ problem: problem('route-not-found', 'No operation has this path.') });
    const wanted = x.method === 'OPTIONS' ? headerOf(x.headers, 'access-control-request-method') : undefined;
    if (wanted !== undefined && headerOf(x.headers, 'origin') !== undefined) {
      const op = this.#gw.router.find(wanted, x.path).value;
      if (op?.preflight) {
        this.#response.place = this.#options.recorder.metrics.operation('OPTIONS', op.operation.path, op.operation.api);
        x.operation = op.matched;
        if ((await runRequestHook(op.preflight, x)) === ANSWERED) return this.#response.answer(x.answer);
      }
    }
    const detail = `The path has no ${x.method} operation.`;
    const headers = ['allow', allow.join(', ')];
    return this.#response.answer({ problem: problem('method-not-allowed', detail, { headers }) });
  }

  /** Reads the body if no plugin has. Returns false if it was refused, and `Exchange.answer` says why. */
  async #bodyIsValid(): Promise<boolean> {
    const x = this.#x;
    const reads = needsReading(x, this);
    if (reads === undefined) return false;
    if (!reads) return true;
    try {
      await x.readBody();
      return true;
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      return false;
    }
  }

  async #dispatch(op: LoadedOperation): Promise<void> {
    const x = this.#x;
    const response = this.#response;
    response.dispatches(op);
    if (x.parts !== null) for (const part of x.parts) part?.dispatched?.(x);
    const decided = op.dispatcher.dispatch(x);
    const outcome = typeof decided === 'number' ? decided : await decided;
    const { handOff, engine } = x;
    if (outcome === HANDED_OFF && engine !== null) return engine.answer(x, response);
    if (outcome !== HANDED_OFF || handOff === null) {
      response.observeDispatch(op, null);
      x.trace?.dispatched('answered', problemOf(x.answer));
      const unread = x.bodyStream !== null && mustBeRead(x, x.bodyStream) ? await readToLimit(x, x.bodyStream) : null;
      return response.dispatcherAnswered(unread);
    }
    const { upstream } = handOff;
    if (!isHttpUpstream(upstream)) throw new Error(`plugin ${op.dispatcher.name} handed off to an unknown upstream`);
    const hooked = op.requestChunks && x.bodyStream !== null;
    const body = hooked ? transformedBody(x, op.middlewares) : (x.body ?? x.bodyStream);
    const known = body !== null && body === x.bodyStream ? headerOf(x.headers, 'content-length') : undefined;
    const trustedPeer = this.#options.client.trusts(x.peer);
    const upgrade = handOff.webSocket ? new UpstreamHandshake(x, op.messages !== null) : null;
    proxy({ x, handOff, upstream, trustedPeer, body, contentLength: known, upgrade }, response);
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

  refuse(x: Exchange, reason: ValidationReason, answer: Problem): void {
    this.#options.recorder.validationFailed(this.#response.metrics, reason);
    x.answer = { problem: answer };
  }
}

function admitTo(x: Exchange, admission: Admission, client: ClientAddress): Admitted {
  const admitted = admission.admit(x.rawHeaders);
  x.headers = admitted.headers;
  x.clientIp = client.of(x.peer, x.headers);
  x.hops = hopsOf(x.headers);
  identify(x);
  return admitted;
}
