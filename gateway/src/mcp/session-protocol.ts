/** Revisions 2025-06-18 and 2025-11-25: `initialize` opens a session, and all else belongs to one. */
import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../bounded-map.ts';
import { type Answer, headerOf } from '../exchange.ts';
import { networkOf } from '../shares/owner.ts';
import { get, isObject, type Obj } from '../spec/json.ts';
import { MOST_SESSIONS, type SessionStore } from '../state/session-store.ts';
import { type ClientSide, passOn, withoutProtocolMeta } from './pass-on.ts';
import { SESSION, SESSION_REVISIONS } from './protocol/era.ts';
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  RpcError,
  type RpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  resultText,
} from './protocol/json-rpc.ts';
import { refusalAnswer } from './refusal.ts';
import { calledTool, listTools, type McpRequest, runTool, type STREAMS } from './tool-methods.ts';
import { listOfUpstreams, requestOfUpstream, upstreamCapabilities } from './upstream-methods.ts';
import { callUpstreamTool } from './upstream-tool.ts';

const VERSION = 'mcp-protocol-version';
/** Characters of the ids that are given out. */
const ID = /^[0-9a-f-]{36}$/;
/** From the least to the most urgent (RFC 5424). */
const LOG_LEVELS: readonly string[] = 'debug info notice warning error critical alert emergency'.split(' ');
const ACCEPTED: Answer = { status: 202, body: null };

export class SessionProtocol {
  readonly #sessions: SessionStore;
  readonly #calls = new CallsUnderWay();
  /** Levels by session, of those that have set one. */
  readonly #logLevels = new BoundedMap<string>(MOST_SESSIONS);

  constructor(sessions: SessionStore) {
    this.#sessions = sessions;
  }

  /** Throws RpcError. */
  async answer(request: McpRequest, message: RpcMessage): Promise<Answer | null | typeof STREAMS> {
    if (message.kind === 'request' && message.method === 'initialize') return this.#initialize(request, message);
    const version = headerOf(request.exchange.headers, VERSION);
    if (version !== undefined && !SESSION_REVISIONS.includes(version)) {
      const known = SESSION_REVISIONS.join(' and ');
      throw new RpcError(INVALID_REQUEST, `MCP-Protocol-Version: sessions are of revisions ${known}.`);
    }
    const session = await this.#sessionOf(request);
    if (message.kind === 'notification') return this.#notified(session, message);
    return message.kind === 'response' ? ACCEPTED : this.#answer(request, session, message);
  }

  /** `DELETE`: the client needs the session no more. Throws RpcError. */
  async end({ exchange, toolbox }: Pick<McpRequest, 'exchange' | 'toolbox'>): Promise<Answer> {
    const id = idOf(exchange.headers);
    if (!(await this.#sessions.end(id))) throw noSession();
    toolbox.upstreams?.endSession(id);
    return { status: 204, body: null };
  }

  async #initialize({ exchange, toolbox }: McpRequest, { id, params }: RpcRequest): Promise<Answer> {
    const wanted = get(params, 'protocolVersion');
    if (typeof wanted !== 'string') throw new RpcError(INVALID_PARAMS, '"protocolVersion" must be a string.');
    for (const name of ['capabilities', 'clientInfo']) {
      if (!isObject(get(params, name))) throw new RpcError(INVALID_PARAMS, `"${name}" must be an object.`);
    }
    const revision = SESSION_REVISIONS.find((each) => each === wanted) ?? (SESSION_REVISIONS[0] as string);
    const session = randomUUID();
    await this.#sessions.open({ id: session, owner: networkOf(exchange), revision });
    const { server, instructions } = toolbox;
    const capabilities = { tools: {}, ...upstreamCapabilities(toolbox) };
    const result = { protocolVersion: revision, capabilities, serverInfo: server, instructions };
    return json(resultText(id, JSON.stringify(result)), [SESSION, session]);
  }

  /** Throws RpcError. */
  async #sessionOf({ exchange }: McpRequest): Promise<string> {
    const id = idOf(exchange.headers);
    if ((await this.#sessions.use(id)) === null) throw noSession();
    return id;
  }

  #notified(session: string, { method, params }: RpcNotification): Answer {
    if (method === 'notifications/cancelled') this.#calls.cancel(session, get(params, 'requestId'));
    return ACCEPTED;
  }

  async #answer(request: McpRequest, session: string, message: RpcRequest): Promise<Answer | null | typeof STREAMS> {
    const { id, method, params } = message;
    switch (method) {
      case 'ping':
        return json(resultText(id, '{}'));
      case 'tools/list':
        return json(resultText(id, `{${await listTools(request, params, 'sessions')}}`));
      case 'tools/call':
        return this.#call(request, session, message);
      case 'logging/setLevel':
        return json(resultText(id, this.#setLogLevel(request, session, message)));
      default:
        return this.#ofUpstreams(request, session, message);
    }
  }

  async #ofUpstreams(
    request: McpRequest,
    session: string,
    message: RpcRequest,
  ): Promise<Answer | null | typeof STREAMS> {
    const { id, method } = message;
    const list = await listOfUpstreams(request, message);
    if (list !== null) return json(resultText(id, `{${list}}`));
    const passed = requestOfUpstream(request, message);
    if (passed !== null) return passOn(request, message, passed, this.#side(id, session));
    throw new RpcError(METHOD_NOT_FOUND, `There is no method ${JSON.stringify(method.slice(0, 100))}.`);
  }

  /** The result. Throws RpcError. */
  #setLogLevel({ toolbox: { upstreams } }: McpRequest, session: string, { method, params }: RpcRequest): string {
    if (!upstreams?.offers('logging')) throw new RpcError(METHOD_NOT_FOUND, `There is no method "${method}".`);
    const level = get(params, 'level');
    if (typeof level !== 'string' || !LOG_LEVELS.includes(level)) {
      throw new RpcError(INVALID_PARAMS, `"level" must be one of ${LOG_LEVELS.join(', ')}.`);
    }
    this.#logLevels.set(session, level);
    for (const server of upstreams.servers) void server.setLogLevel(session, level);
    return '{}';
  }

  #side(id: RpcId, session: string): ClientSide {
    const render = (result: Obj) => resultText(id, JSON.stringify(resultOfSession(result)));
    const cancellable = (cancel: () => void) => this.#calls.add(session, id, cancel);
    const logLevel = this.#logLevels.use(session) ?? null;
    return { era: 'sessions', session, logLevel, render, cancellable, cancelled: ACCEPTED };
  }

  async #call(request: McpRequest, session: string, message: RpcRequest): Promise<Answer | null | typeof STREAMS> {
    const { id } = message;
    const called = await calledTool(request, message);
    const side = this.#side(id, session);
    if ('upstream' in called) return callUpstreamTool(request, message, called, side);
    const outcome = await runTool(request, called, 'sessions', side.cancellable);
    // A cancelled call gets no response; the HTTP request must have one.
    if (outcome === null) return ACCEPTED;
    if ('refusal' in outcome) return refusalAnswer(id, outcome.refusal, request.toolbox.issuers);
    return json(resultText(id, JSON.stringify(outcome.result)));
  }
}

/** Returns an upstream's result without members that only the later revision has. */
function resultOfSession(result: Obj): Obj {
  const { resultType: _, ttlMs: __, cacheScope: ___, structuredContent, ...rest } = withoutProtocolMeta(result);
  return isObject(structuredContent) ? { ...rest, structuredContent } : rest;
}

/** Throws RpcError if the header is missing. */
function idOf(headers: string[]): string {
  const id = headerOf(headers, SESSION);
  if (id === undefined) {
    throw new RpcError(
      INVALID_REQUEST,
      'Mcp-Session-Id is missing: begin with "initialize", and send the id of its response.',
    );
  }
  if (!ID.test(id)) throw noSession();
  return id;
}

function noSession(): RpcError {
  const message = 'The session has ended, or never was: begin a new one with "initialize".';
  return new RpcError(INVALID_REQUEST, message, { status: 404 });
}

function json(body: string, headers: readonly string[] = []): Answer {
  return { status: 200, headers: ['content-type', 'application/json', ...headers], body };
}

/** Calls under way of clients with sessions, so that they can be cancelled. */
export class CallsUnderWay {
  /** A client that gives two calls the same id means both. */
  readonly #calls = new Map<string, Set<() => void>>();

  /** Returns the function that takes it back. */
  add(session: string, id: RpcId, cancel: () => void): () => void {
    const key = keyOf(session, id);
    const calls = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, calls.add(cancel));
    return () => {
      if (calls.delete(cancel) && calls.size === 0 && this.#calls.get(key) === calls) this.#calls.delete(key);
    };
  }

  /** Ignores unknown calls: they may have been answered already. */
  cancel(session: string, id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    for (const cancel of this.#calls.get(keyOf(session, id)) ?? []) cancel();
  }
}

/** The session is part of the key, so that clients can name their own calls only; 1 is not "1". */
function keyOf(session: string, id: RpcId): string {
  return `${session}\0${typeof id}\0${id}`;
}
