/** Shared by both eras of the protocol: listing tools and calling one. */
import { type Exchange, type HeaderList, headerOf, type ResponseSink } from '../exchange.ts';
import { get, isObject, type Obj, objectOf } from '../spec/json.ts';
import { CONSUMER } from '../telemetry/access-log.ts';
import type { ToolOutcome } from '../telemetry/metric-table.ts';
import { logOutcome, logTool } from './call-log.ts';
import type { Era } from './protocol/era.ts';
import { INVALID_PARAMS, RpcError, type RpcRequest } from './protocol/json-rpc.ts';
import type { Refusal } from './refusal.ts';
import { faultResult, type ServedTool, type ToolResult, toolResult } from './result.ts';
import { answerSearch, CALL, innerCall, isSearch, unknownTool } from './search-mode.ts';
import { callTool, type OwnRequests } from './tool-call.ts';
import { ToolFault } from './tool-fault.ts';
import type { Permits, Toolbox } from './toolbox.ts';
import type { UpstreamTool } from './upstreams/upstream-set.ts';

/** One MCP request as it is answered. */
export interface McpRequest {
  readonly exchange: Exchange;
  readonly toolbox: Toolbox;
  readonly requests: OwnRequests;
  /** Returns the tools that its caller may call, as middlewares decide. */
  permits(): Promise<Permits>;
  /** Counts the outcome of a call. */
  called(tool: string, outcome: ToolOutcome): void;
  /** The same of a request that was passed on to an upstream; `about`: the tool, or the method. */
  passedOn(upstream: string, about: string, outcome: ToolOutcome): void;
  /** Logs why an upstream gave no answer. */
  upstreamFailed(upstream: string, about: string, cause: string): void;
  /** Begins a stream in place of an answer; null if the client has gone. */
  stream(headers: HeaderList): ResponseSink | null;
}

/** Takes the place of an answer: a stream has begun, or its client has gone. */
export const STREAMS: unique symbol = Symbol('streams');

/** A result; a refusal in its place, since the caller is unknown or not permitted; or null: the call was cancelled. */
export type CallOutcome = { readonly result: ToolResult } | { readonly refusal: Refusal } | null;

/** JSON members of the result of `tools/list`, without braces. Throws RpcError. */
export async function listTools(request: McpRequest, params: Obj, era: Era): Promise<string> {
  const cursor = get(params, 'cursor');
  if (cursor !== undefined && typeof cursor !== 'string')
    throw new RpcError(INVALID_PARAMS, '"cursor" must be a string.');
  const page = request.toolbox.page(cursor, era, await request.permits());
  if (page === null) throw new RpcError(INVALID_PARAMS, 'The cursor is not one of this server.');
  const next = page.nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(page.nextCursor)}`;
  return `"tools":[${page.tools.join(',')}]${next}`;
}

/** A call of an operation's tool, or of an upstream's, or the answer of a search tool. */
export type Called = OwnCall | UpstreamCall;
type OwnCall =
  | { readonly served: ServedTool; readonly args: Arguments }
  | { readonly name: string; readonly result: ToolResult };
export interface UpstreamCall {
  readonly upstream: UpstreamTool;
  readonly args: Arguments;
}

interface Arguments {
  readonly values: Obj;
  /** Arguments with numbers as they were written, to be sent so. */
  readonly exact: Obj;
}

/** Returns the called tool. Throws RpcError. */
export async function calledTool(request: McpRequest, message: RpcRequest): Promise<Called> {
  const called = await resolved(request, message);
  if ('result' in called) logTool(request.exchange, called.name, objectOf(get(message.params, 'arguments')));
  else
    logTool(
      request.exchange,
      'served' in called ? called.served.tool.name : called.upstream.tool.name,
      called.args.values,
    );
  return called;
}

async function resolved(request: McpRequest, { params, exact }: RpcRequest): Promise<Called> {
  const { toolbox } = request;
  const [name, values = {}] = [get(params, 'name'), get(params, 'arguments')];
  if (typeof name !== 'string') throw new RpcError(INVALID_PARAMS, '"name" must be a string.');
  if (!isObject(values)) throw new RpcError(INVALID_PARAMS, '"arguments" must be an object.');
  const args = { values, exact: objectOf(get(exact, 'arguments')) };
  if (toolbox.search !== null) {
    if (isSearch(name)) return { name, result: answerSearch(name, values, toolbox.search, await tells(request)) };
    if (name === CALL) return innerTool(toolbox, args);
  }
  const called = calledBy(toolbox, name, args);
  if (!called) {
    const held = toolbox.upstreams?.heldBack(name) ?? null;
    const why = held === null ? 'Unknown tool' : 'Tool held back';
    throw new RpcError(INVALID_PARAMS, `${why}: ${name.slice(0, 100)}${held === null ? '' : ` (${held})`}`);
  }
  return called;
}

async function tells({ toolbox, permits }: McpRequest): Promise<(tool: string) => boolean> {
  const permitted = await permits();
  return (tool) => toolbox.tells(tool, permitted);
}

function calledBy(toolbox: Toolbox, name: string, args: Arguments): Called | null {
  const served = toolbox.find(name);
  if (served) return { served, args };
  const upstream = toolbox.upstreams?.tools.get(name);
  return upstream ? { upstream, args } : null;
}

function innerTool(toolbox: Toolbox, { values, exact }: Arguments): Called {
  const inner = innerCall(values);
  if (inner === null) return { name: CALL, result: faultResult('"name" must be a text, and "arguments" an object.') };
  const args = { values: inner.args, exact: objectOf(get(exact, 'arguments')) };
  return calledBy(toolbox, inner.name, args) ?? { name: CALL, result: unknownTool(inner.name) };
}

/** `cancellable`: registers the function that cancels the call; returns one that removes it. Throws RpcError. */
export async function runTool(
  request: McpRequest,
  called: OwnCall,
  era: Era,
  cancellable: (cancel: () => void) => () => void,
): Promise<CallOutcome> {
  if ('result' in called) {
    const outcome = called.result.isError ? 'invalid' : 'succeeded';
    request.called(called.name, outcome);
    logOutcome(request.exchange, outcome);
    return { result: called.result };
  }
  const { served, args } = called;
  const { exchange: outer, toolbox, requests } = request;
  const ended = (outcome: ToolOutcome, consumer?: string) => {
    request.called(served.tool.name, outcome);
    logOutcome(outer, outcome, { consumer });
  };
  let call: ReturnType<typeof callTool>;
  try {
    call = callTool(outer, served, args.exact, requests);
  } catch (error) {
    if (!(error instanceof ToolFault)) throw error;
    ended('invalid');
    return { result: faultResult(error.message) };
  }
  const { exchange, response, held } = call;
  let cancelled = false;
  const cancel = () => {
    cancelled = true;
    response.abort(exchange);
  };
  const notCancellable = cancellable(cancel);
  const notClosing = outer.onClose(cancel);
  await response.ended;
  notCancellable();
  notClosing();
  if (cancelled) {
    ended('cancelled');
    return null;
  }
  // The transport counts the result, as it is sent.
  held?.release();
  const { status } = response;
  const consumer = headerOf(exchange.headers, CONSUMER);
  // A middleware has decided so, before any upstream was asked.
  const refused = (status === 401 || status === 403) && exchange.outcome.dispatchMs === null;
  if (refused) {
    ended('refused', consumer);
    const headers = refusalHeaders(response.headers, (challenge) =>
      toolbox.resource === null ? challenge : toolbox.resource.challenge(outer, challenge, served.tool.scopes ?? []),
    );
    return { refusal: { status, headers, body: response.body } };
  }
  const result = toolResult(served, exchange, response, toolbox, era);
  ended(result.isError ? 'failed' : 'succeeded', consumer);
  return { result };
}

/** `completed`: a challenge as clients of MCP need it. */
function refusalHeaders(headers: readonly string[], completed: (challenge: string) => string): string[] {
  const type = headerOf([...headers], 'content-type') ?? 'application/problem+json';
  const challenges = headers.flatMap((name, i) =>
    i % 2 === 0 && name.toLowerCase() === 'www-authenticate' ? [name, completed(headers[i + 1] ?? '')] : [],
  );
  return ['content-type', type, ...challenges];
}
