/**
 * Passes a client's request on to an upstream, and its answer back, for any combination of eras
 * (docs/mcp.md#upstream-calls).
 */
import type { Operation } from '../artifact/format.ts';
import { HttpCallError } from '../egress/http-call-error.ts';
import { type Answer, type HeaderList, headerOf } from '../exchange.ts';
import { get, isObject, type Obj } from '../spec/json.ts';
import type { ToolOutcome } from '../telemetry/metric-table.ts';
import { messageOf } from '../text/message-of.ts';
import { askAuthorizer } from './authorizer.ts';
import { logOutcome } from './call-log.ts';
import { type McpQuestion, statelessMeta } from './client/client.ts';
import { AnswerTooLong, TooManyMessages } from './client/receive.ts';
import { McpRefusal } from './client/refusal.ts';
import type { Era } from './protocol/era.ts';
import {
  errorText,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  MISSING_CAPABILITY,
  RpcError,
  type RpcRequest,
} from './protocol/json-rpc.ts';
import { refusalAnswer } from './refusal.ts';
import { ReplyStream } from './reply-stream.ts';
import { faultResult } from './result.ts';
import type { McpRequest, STREAMS } from './tool-methods.ts';
import { MOST_ANSWER, type UpstreamServer } from './upstreams/upstream-server.ts';
import { UpstreamSessionEnded, UpstreamSessionsFull } from './upstreams/upstream-sessions.ts';

const PREFIX = 'io.modelcontextprotocol/';
/** Characters of an upstream's error that are passed on. */
const MOST_SAID = 4_096;
const LATE = Symbol('late');
/** Code of the earlier revisions; later ones use INVALID_PARAMS. */
const RESOURCE_NOT_FOUND = -32_002;

/** A request to pass on, and its upstream server. */
export interface Passed {
  readonly server: UpstreamServer;
  readonly question: McpQuestion;
  /** Name of the tool, or the method; in figures and logs. */
  readonly about: string;
  /** Null: every caller is allowed. */
  readonly authorizer: Operation | null;
  /** Returns the fault of a result, or null. */
  readonly fault: (result: Obj) => string | null;
}

/** The client's side: the differences between eras. */
export interface ClientSide {
  readonly era: Era;
  /** Null in the era without sessions. */
  readonly session: string | null;
  /** The least level of log messages that it wants; null: the server's default, or in the later era none at all. */
  readonly logLevel: string | null;
  /** The JSON-RPC message with that result. */
  render(result: Obj): string;
  /** Registers the function that cancels the call; returns one that removes it. */
  cancellable(cancel: () => void): () => void;
  /** Takes the place of an answer to a cancelled request. */
  readonly cancelled: Answer | null;
}

/** Throws RpcError. */
export async function passOn(
  request: McpRequest,
  { id, params }: RpcRequest,
  passed: Passed,
  side: ClientSide,
): Promise<Answer | null | typeof STREAMS> {
  const { server, authorizer, question, about } = passed;
  const { settings } = server;
  const ended = (outcome: ToolOutcome) => {
    request.passedOn(settings.name, about, outcome);
    logOutcome(request.exchange, outcome, { upstream: settings.name });
  };
  const refusal = authorizer && (await askAuthorizer(request, authorizer, { upstream: settings.name, question }));
  if (refusal !== null) {
    ended(request.exchange.closed ? 'cancelled' : 'refused');
    return request.exchange.closed ? null : refusalAnswer(id, refusal, request.toolbox.issuers);
  }
  const reply = new ReplyStream(request);
  const outcome = await ask(request, params, passed, side, reply);
  ended(outcome.counts);
  if ('result' in outcome) {
    const text = side.render(outcome.result);
    return reply.end(text, () => json(text));
  }
  if ('refusal' in outcome) {
    const { status, challenge } = outcome.refusal;
    const title = `MCP upstream "${settings.name}" refuses these credentials (${status})`;
    const headers = [
      'content-type',
      'application/problem+json',
      ...(challenge === null ? [] : ['www-authenticate', challenge]),
    ];
    const refused = { status, headers, body: Buffer.from(JSON.stringify({ title, status })) };
    const answer = refusalAnswer(id, refused, []);
    return reply.end(String(answer.body), () => answer);
  }
  if ('error' in outcome) {
    return reply.end(errorText(outcome.error, id), () => {
      throw outcome.error;
    });
  }
  return reply.end(null, () => side.cancelled);
}

type Outcome = { readonly counts: ToolOutcome } & (
  | { readonly result: Obj }
  | { readonly error: RpcError }
  | { readonly refusal: McpRefusal }
  | { readonly cancelled: true }
);

async function ask(
  request: McpRequest,
  params: Obj,
  passed: Passed,
  side: ClientSide,
  reply: ReplyStream,
): Promise<Outcome> {
  const { exchange } = request;
  const { server, question } = passed;
  const { settings } = server;
  const giveUp = new AbortController();
  const late = setTimeout(() => giveUp.abort(LATE), settings.timeout * 1000);
  const cancel = () => giveUp.abort();
  const taken = [side.cancellable(cancel), exchange.onClose(cancel)];
  const sent = settings.forward_authorization ? headerOf(exchange.headers, 'authorization') : undefined;
  try {
    const result = await server.pass(question, {
      exchange,
      session: side.session,
      meta: metaOf(params, side),
      logLevel: side.logLevel,
      authorization: sent === undefined ? [] : ['authorization', sent],
      signal: giveUp.signal,
      onMessage: (message) => passMessage(message, params, side, server, (said) => reply.say(said, giveUp.signal)),
    });
    const fault = passed.fault(result) ?? unanswerable(result, side.era);
    if (fault !== null) return faulty(request, passed, `MCP upstream "${settings.name}" ${fault}.`, fault);
    return { counts: get(result, 'isError') === true ? 'failed' : 'succeeded', result };
  } catch (error) {
    if (giveUp.signal.aborted && giveUp.signal.reason !== LATE) return { counts: 'cancelled', cancelled: true };
    if (error instanceof UpstreamSessionEnded) return { counts: 'failed', error: sessionEnded() };
    if (error instanceof UpstreamSessionsFull) return { counts: 'failed', error: sessionsFull() };
    const refusal = error instanceof McpRefusal ? error : null;
    const isAboutCredentials = refusal?.status === 401 || refusal?.status === 403;
    const isOfCaller = settings.forward_authorization && (sent !== undefined || refusal?.status === 401);
    if (refusal && isAboutCredentials && isOfCaller) return { counts: 'refused', refusal };
    if (refusal && refusal.code !== null && !isAboutCredentials) return refusedByServer(refusal, side.era);
    const why = giveUp.signal.aborted ? `did not answer within ${settings.timeout} seconds` : whyOf(error);
    return faulty(request, passed, `MCP upstream "${settings.name}" ${why}.`, messageOf(error));
  } finally {
    clearTimeout(late);
    for (const takeBack of taken) takeBack();
  }
}

/** Returns the error for a missing session: the client begins anew, and knows that its state is lost. */
function sessionEnded(): RpcError {
  const message = 'The session had to end for other clients: begin a new one with "initialize".';
  return new RpcError(INVALID_REQUEST, message, { status: 404 });
}

function sessionsFull(): RpcError {
  const message = 'This client has more sessions with the upstream than its share: end some of them.';
  return new RpcError(INTERNAL_ERROR, message, { status: 503 });
}

/** Passes on the server's own error, but not one caused by the gateway's request. */
function refusedByServer({ code: given, said, data }: McpRefusal, era: Era): Outcome {
  const code = given === RESOURCE_NOT_FOUND && era === 'stateless' ? INVALID_PARAMS : given;
  const own = code === null || (code <= -32_020 && code >= -32_099 && code !== MISSING_CAPABILITY);
  const error = own
    ? new RpcError(INTERNAL_ERROR, 'The upstream did not take the request.')
    : new RpcError(code, said.slice(0, MOST_SAID), { data, status: code === MISSING_CAPABILITY ? 400 : 200 });
  return { counts: 'failed', error };
}

/** A tool's failure is a result for the model; `cause` is for the log. */
function faulty(request: McpRequest, { server, question, about }: Passed, message: string, cause: string): Outcome {
  request.upstreamFailed(server.settings.name, about, cause);
  if (question.method === 'tools/call') return { counts: 'failed', result: { ...faultResult(message) } };
  return { counts: 'failed', error: new RpcError(INTERNAL_ERROR, message) };
}

function whyOf(error: unknown): string {
  if (error instanceof AnswerTooLong) return `answered with more than ${MOST_ANSWER} bytes`;
  if (error instanceof TooManyMessages) return error.message;
  if (error instanceof McpRefusal) {
    return error.status === 401 || error.status === 403
      ? "refuses the gateway's credentials"
      : `gave no answer of the protocol (HTTP ${error.status})`;
  }
  if (error instanceof HttpCallError && error.failure === 'timeout') return 'did not answer in time';
  if (error instanceof HttpCallError && error.failure === 'no-room')
    return 'answered more than the gateway has memory for';
  return 'cannot be reached';
}

/** An upstream of the later era asks its client by a result that earlier clients do not know. */
function unanswerable(result: Obj, era: Era): string | null {
  const type = get(result, 'resultType') ?? 'complete';
  if (type === 'complete' || era === 'stateless') return null;
  return 'needs input from its client, which clients of this revision cannot be asked for through the gateway';
}

/** Returns the client's `_meta` for a server of the later era; clients of sessions have none. */
function metaOf(params: Obj, { era, logLevel }: ClientSide): Obj {
  const meta = get(params, '_meta');
  const said =
    era === 'stateless'
      ? statelessMeta(get(meta, `${PREFIX}clientCapabilities`), get(meta, `${PREFIX}clientInfo`))
      : statelessMeta();
  return logLevel === null ? said : { ...said, [`${PREFIX}logLevel`]: logLevel };
}

/** Returns parameters, or a result, without the protocol's own members in `_meta`: those belong to one connection. */
export function withoutProtocolMeta(passed: Obj): Obj {
  const { _meta: meta, ...rest } = passed;
  if (!isObject(meta)) return rest;
  const kept = Object.entries(meta).filter(([name]) => !name.startsWith(PREFIX));
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) };
}

async function passMessage(
  message: Obj,
  params: Obj,
  side: ClientSide,
  server: UpstreamServer,
  say: (message: object) => Promise<boolean>,
): Promise<boolean> {
  const method = get(message, 'method');
  const said = get(message, 'params');
  if (method === 'notifications/tools/list_changed') server.refreshSoon();
  if (!isObject(said)) return false;
  if (method === 'notifications/progress') {
    const token = get(get(params, '_meta'), 'progressToken');
    if (token === undefined || get(said, 'progressToken') !== token) return false;
  } else if (method !== 'notifications/message' || (side.era === 'stateless' && side.logLevel === null)) return false;
  return say({ jsonrpc: '2.0', method, params: said });
}

function json(body: string): Answer {
  const headers: HeaderList = ['content-type', 'application/json'];
  return { status: 200, headers, body };
}
