/** Revision 2026-07-28: without sessions; each request has its needs in `_meta`, and repeats them in headers. */
import { clientNetwork } from '../client-network.ts';
import { type Answer, type HeaderList, headerOf } from '../exchange.ts';
import { get, isObject, type Obj } from '../spec/json.ts';
import { type ClientSide, passOn, withoutProtocolMeta } from './pass-on.ts';
import { SESSION, STATELESS_REVISIONS } from './protocol/era.ts';
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  RpcError,
  type RpcMessage,
  type RpcRequest,
  resultText,
  UNSUPPORTED_VERSION,
} from './protocol/json-rpc.ts';
import { refusalAnswer } from './refusal.ts';
import { type Subscription, Subscriptions } from './subscriptions.ts';
import { calledTool, listTools, type McpRequest, runTool, STREAMS } from './tool-methods.ts';
import { listOfUpstreams, requestOfUpstream, upstreamCapabilities } from './upstream-methods.ts';
import { callUpstreamTool } from './upstream-tool.ts';
import { type ParameterHeader, textAt } from './upstreams/parameter-headers.ts';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION = 'mcp-protocol-version';
/** Milliseconds for which clients may keep lists; subscribers are notified of changes before. */
const FRESH_MS = 60_000;
const CACHING = `"ttlMs":${FRESH_MS},"cacheScope":"public"`;
const PRIVATE_CACHING = `"ttlMs":${FRESH_MS},"cacheScope":"private"`;
const ACCEPTED: Answer = { status: 202, body: null };

/**
 * Reports whether a message is one of this era: by `_meta`, or by headers that earlier ones do not have. A session
 * decides its own revision: clients of several revisions send headers of later ones in it.
 */
export function isStateless({ exchange }: Pick<McpRequest, 'exchange'>, message: RpcMessage): boolean {
  if (message.kind !== 'response' && get(get(message.params, '_meta'), `${PREFIX}protocolVersion`) !== undefined)
    return true;
  // A message that begins a session has no revision yet, whatever its headers say.
  if (message.kind === 'request' && message.method === 'initialize') return false;
  if (headerOf(exchange.headers, SESSION) !== undefined) return false;
  const version = headerOf(exchange.headers, VERSION) ?? '';
  const isLater = /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= (STATELESS_REVISIONS.at(-1) as string);
  return isLater || headerOf(exchange.headers, 'mcp-method') !== undefined;
}

export class StatelessProtocol {
  readonly subscriptions = new Subscriptions();

  /** Returns `STREAMS` if a stream has begun, null if the client has gone. Throws RpcError. */
  async answer(request: McpRequest, message: RpcMessage): Promise<Answer | null | typeof STREAMS> {
    if (message.kind !== 'request') return ACCEPTED;
    checkMeta(request, message);
    const { method, params } = message;
    mustMatch(request.exchange.headers, 'Mcp-Method', method);
    switch (method) {
      case 'server/discover':
        return json(request, message, discovered(request));
      case 'tools/list':
        return json(request, message, `${await listTools(request, params, 'stateless')},${cachingOf(request)}`);
      case 'tools/call':
        return this.#call(request, message);
      case 'subscriptions/listen':
        return this.#listen(request, message);
      default:
        return this.#ofUpstreams(request, message);
    }
  }

  async #ofUpstreams(request: McpRequest, message: RpcRequest): Promise<Answer | null | typeof STREAMS> {
    const { method, params } = message;
    const list = await listOfUpstreams(request, message);
    if (list !== null) return json(request, message, `${list},${cachingOf(request)}`);
    const passed = requestOfUpstream(request, message);
    if (passed === null) {
      const said = `There is no method ${JSON.stringify(method.slice(0, 100))}.`;
      throw new RpcError(METHOD_NOT_FOUND, said, { status: 404 });
    }
    const name = get(params, method === 'resources/read' ? 'uri' : 'name');
    if (passed.question.name !== undefined) mustMatch(request.exchange.headers, 'Mcp-Name', String(name));
    return passOn(request, message, passed, clientSide(request, message));
  }

  async #call(request: McpRequest, message: RpcRequest): Promise<Answer | null | typeof STREAMS> {
    const { params } = message;
    const { headers } = request.exchange;
    const name = get(params, 'name');
    if (typeof name === 'string') mustMatch(headers, 'Mcp-Name', name);
    const called = await calledTool(request, message);
    if ('upstream' in called) {
      // Clients repeat arguments only when they call the tool by its own name, not through search mode.
      if (called.upstream.tool.name === name)
        mustMatchArguments(headers, called.upstream.tool.headers, called.args.exact);
      return callUpstreamTool(request, message, called, clientSide(request, message));
    }
    const outcome = await runTool(request, called, 'stateless', () => () => {});
    if (outcome === null) return null;
    if ('refusal' in outcome) return refusalAnswer(message.id, outcome.refusal, request.toolbox.issuers);
    const { _meta, ...members } = outcome.result;
    return json(request, message, JSON.stringify(members).slice(1, -1), _meta);
  }

  #listen(request: McpRequest, { id, params }: RpcRequest): null | typeof STREAMS {
    const wanted = get(params, 'notifications');
    if (!isObject(wanted)) throw new RpcError(INVALID_PARAMS, '"notifications" must be an object.', { status: 400 });
    const { exchange, stream } = request;
    const sink = stream(['content-type', 'text/event-stream', 'cache-control', 'no-cache', 'x-accel-buffering', 'no']);
    if (sink === null) return STREAMS;
    const subscription: Subscription = {
      owner: clientNetwork(exchange.clientIp),
      id,
      sink,
      toolsListChanged: get(wanted, 'toolsListChanged') === true,
      ends: serverInfo(request),
    };
    this.subscriptions.add(subscription);
    const stays = exchange.responder.whenStopping?.(() => this.subscriptions.end(subscription));
    if (stays) sink.once('close', stays);
    return STREAMS;
  }
}

function clientSide(request: McpRequest, message: RpcRequest): ClientSide {
  const logLevel = get(get(message.params, '_meta'), `${PREFIX}logLevel`);
  return {
    era: 'stateless',
    session: null,
    logLevel: typeof logLevel === 'string' ? logLevel : null,
    render: (result) => rendered(request, message, withoutProtocolMeta(result)),
    cancellable: () => () => {},
    cancelled: null,
  };
}

/** Lists may be those of the caller alone. */
function cachingOf({ toolbox }: McpRequest): string {
  return toolbox.access === null ? CACHING : PRIVATE_CACHING;
}

/** Writes a result of an upstream, whose era may have no types of results. */
function rendered(request: McpRequest, { id, method }: RpcRequest, result: Obj): string {
  // It is unknown whether others may read it, so it is not shared.
  const caching = method === 'resources/read' && (get(result, 'resultType') ?? 'complete') === 'complete';
  const _meta = { ...(get(result, '_meta') as Obj | undefined), ...serverInfo(request) };
  const fresh = caching ? { ttlMs: 0, cacheScope: 'private' } : {};
  return resultText(id, JSON.stringify({ resultType: 'complete', ...fresh, ...result, _meta }));
}

/** Throws RpcError if a required member of `_meta` is missing, of another revision, or differs from the header. */
function checkMeta({ exchange }: McpRequest, { params }: RpcRequest): void {
  const meta = get(params, '_meta');
  const version = get(meta, `${PREFIX}protocolVersion`);
  const missing = (name: string) => new RpcError(INVALID_PARAMS, `_meta needs "${PREFIX}${name}".`, { status: 400 });
  if (typeof version !== 'string') throw missing('protocolVersion');
  if (!isObject(get(meta, `${PREFIX}clientCapabilities`))) throw missing('clientCapabilities');
  mustMatch(exchange.headers, 'MCP-Protocol-Version', version);
  if (STATELESS_REVISIONS.includes(version)) return;
  const data = { supported: STATELESS_REVISIONS, requested: version };
  throw new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', { data });
}

function discovered({ toolbox }: McpRequest): string {
  const { instructions } = toolbox;
  const capabilities = { tools: { listChanged: true }, ...upstreamCapabilities(toolbox) };
  const members = { supportedVersions: STATELESS_REVISIONS, capabilities, instructions };
  return `${JSON.stringify(members).slice(1, -1)},${CACHING}`;
}

function serverInfo({ toolbox }: McpRequest): Obj {
  return { [`${PREFIX}serverInfo`]: toolbox.server };
}

/** `members`: JSON of a result, without braces. */
function json(request: McpRequest, { id }: RpcRequest, members: string, meta: object = {}): Answer {
  const _meta = JSON.stringify({ ...meta, ...serverInfo(request) });
  const body = resultText(id, `{"resultType":"complete",${members},"_meta":${_meta}}`);
  return { status: 200, headers: ['content-type', 'application/json'], body };
}

/** Throws RpcError if a client's headers say something else than its arguments. */
function mustMatchArguments(sent: HeaderList, headers: readonly ParameterHeader[], args: Obj): void {
  for (const { header, path } of headers) {
    const text = textAt(args, path);
    if (text !== null || headerOf(sent, header) !== undefined) mustMatch(sent, header, text ?? '');
  }
}

const SENTINEL = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/**
 * Throws RpcError unless the header is there, and has the value. Headers repeat parts of the body, so that proxies can
 * route by them: a difference is refused, since a proxy may have decided by the header (docs/mcp.md#revisions).
 */
function mustMatch(headers: HeaderList, name: string, value: string): void {
  const sent = headerOf(headers, name.toLowerCase());
  if (sent === undefined) throw mismatch(`${name} is missing`);
  if (decoded(sent) !== value) throw mismatch(`${name} does not match the body`);
}

/** Decodes base64, which text other than plain ASCII is written in; returns null if it is malformed. */
function decoded(text: string): string | null {
  const encoded = SENTINEL.exec(text)?.[1];
  if (encoded === undefined) return text;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : null;
}

function mismatch(why: string): RpcError {
  return new RpcError(HEADER_MISMATCH, `Header mismatch: ${why}.`);
}
