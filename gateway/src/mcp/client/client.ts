/** A client of MCP, in either era (docs/mcp.md#revisions): requests to one server, and the sessions that earlier revisions need. */
import { type HeaderList, headerOf } from '../../exchange.ts';
import { get, isObject, type Obj } from '../../spec/json.ts';
import { VERSION } from '../../version.ts';
import { SESSION_REVISIONS, STATELESS_REVISIONS } from '../protocol/era.ts';
import { METHOD_NOT_FOUND } from '../protocol/json-rpc.ts';
import { headerText } from './header-text.ts';
import { type Received, receive, TooManyMessages } from './receive.ts';
import { McpRefusal } from './refusal.ts';
import type { McpTransport } from './transport.ts';

const [STATELESS = ''] = STATELESS_REVISIONS;
const [NEWEST_WITH_SESSIONS = ''] = SESSION_REVISIONS;
const CLIENT_INFO = { name: 'gw', version: VERSION };
const PREFIX = 'io.modelcontextprotocol/';
/** Milliseconds for the last message to a server, whose answer is ignored. */
const LAST_WORD_MS = 5_000;
/** Most questions of a server before its answer: each is answered with a request. */
const MOST_QUESTIONS = { pings: 100, others: 3 };

/** Settings for all requests of one call. */
export interface Asking {
  /** Headers such as credentials; the protocol's own win. */
  readonly headers: HeaderList;
  readonly signal: AbortSignal;
  /** Bytes of an answer; of a stream, of one message. */
  readonly most: number;
  /** Receives the server's messages before its answer; resolves with true if a message was passed on. */
  readonly onMessage?: (message: Obj) => Promise<boolean>;
}

/** How requests of revision 2026-07-28 are made. */
export interface Stateless {
  readonly era: 'stateless';
  /** Members of `_meta` besides the revision. */
  readonly meta: Obj;
}

export interface Session {
  readonly era: 'sessions';
  readonly headers: HeaderList;
  /** The result of `initialize`. */
  readonly server: Obj;
}

export interface McpQuestion {
  readonly method: string;
  readonly params: Obj;
  /** Its subject, as `Mcp-Name` says it. */
  readonly name?: string;
  /** Headers of revision 2026-07-28. */
  readonly headers?: HeaderList;
}

/** Returns the information about its client that `Stateless.meta` needs. */
export function statelessMeta(capabilities: unknown = {}, info: unknown = CLIENT_INFO): Obj {
  return { [`${PREFIX}clientInfo`]: info, [`${PREFIX}clientCapabilities`]: capabilities };
}

export class McpClient {
  readonly #transport: McpTransport;
  readonly #nextId: () => number;

  /** `nextId`: of requests; those of one session must differ, whichever client sends them. Default: from 1 on. */
  constructor(transport: McpTransport, nextId: () => number = counter()) {
    this.#transport = transport;
    this.#nextId = nextId;
  }

  /**
   * Returns the result of `server/discover`, or null: the server knows sessions only. Throws McpRefusal if it wants
   * credentials, or fails.
   */
  async discover(asking: Asking): Promise<Obj | null> {
    const method = 'server/discover';
    const answer = await this.#send({ method, params: {} }, { era: 'stateless', meta: statelessMeta() }, asking);
    const result = get(answer.message, 'result');
    const supported = get(result, 'supportedVersions');
    if (isObject(result) && Array.isArray(supported) && supported.includes(STATELESS)) return result;
    // A session would lack the credentials, too, and a failing server does not reveal its era.
    if (answer.status === 401 || answer.status === 403 || answer.status >= 500)
      throw new McpRefusal(answer, asking.headers);
    return null;
  }

  /** `initialize`, and that it has been understood. Throws McpRefusal. */
  async openSession(asking: Asking, capabilities: Obj = {}): Promise<Session> {
    const params = { protocolVersion: NEWEST_WITH_SESSIONS, capabilities, clientInfo: CLIENT_INFO };
    const none: Session = { era: 'sessions', headers: [], server: {} };
    const begun = await this.#send({ method: 'initialize', params }, none, asking);
    const server = resultOf(begun, asking);
    const revision = get(server, 'protocolVersion');
    const id = headerOf(begun.headers, 'mcp-session-id');
    const headers = [
      ...['mcp-protocol-version', typeof revision === 'string' ? revision : NEWEST_WITH_SESSIONS],
      ...(id === undefined ? [] : ['mcp-session-id', id]),
    ];
    const session: Session = { era: 'sessions', headers, server };
    await this.#notify({ jsonrpc: '2.0', method: 'notifications/initialized' }, session, asking);
    return session;
  }

  /** Ends the session. Servers need not let clients end sessions, and some have none. */
  async endSession({ headers }: Session, asking: Pick<Asking, 'headers'>): Promise<void> {
    if (headerOf(headers, 'mcp-session-id') === undefined) return;
    const all = merged(asking.headers, headers);
    const signal = AbortSignal.timeout(LAST_WORD_MS);
    const answer = await this.#transport.send({ method: 'DELETE', headers: all, body: null, signal }).catch(() => null);
    answer?.cancel();
  }

  /** The result. Throws McpRefusal, AnswerTooLong, TooManyMessages, and errors of the connection. */
  async ask(question: McpQuestion, link: Stateless | Session, asking: Asking): Promise<Obj> {
    return resultOf(await this.#send(question, link, asking), asking);
  }

  async #send(question: McpQuestion, link: Stateless | Session, asking: Asking): Promise<Received> {
    const { method, name, params } = question;
    const id = this.#nextId();
    const stateless = link.era === 'stateless';
    const meta = stateless
      ? { ...(get(params, '_meta') as Obj), [`${PREFIX}protocolVersion`]: STATELESS, ...link.meta }
      : get(params, '_meta');
    const own = stateless
      ? [
          ...['mcp-protocol-version', STATELESS, 'mcp-method', method],
          ...(name === undefined ? [] : ['mcp-name', headerText(name)]),
          ...(question.headers ?? []),
        ]
      : link.headers;
    const message = { jsonrpc: '2.0', id, method, params: meta === undefined ? params : { ...params, _meta: meta } };
    try {
      const answer = await this.#post(message, own, asking);
      const asked = { pings: 0, others: 0 };
      const onMessage = (each: Obj) => this.#received(each, link, asking, asked);
      return await receive(answer, { id, most: asking.most, onMessage });
    } catch (error) {
      // In later revisions, the end of the connection cancels the call.
      if (!stateless && asking.signal.aborted) void this.#cancel(id, link, asking);
      throw error;
    }
  }

  /** Refuses questions of a server of the earlier revisions: the client has offered no such capability. */
  async #received(
    message: Obj,
    link: Stateless | Session,
    asking: Asking,
    asked: { pings: number; others: number },
  ): Promise<boolean> {
    const { id, method } = message;
    if (id === undefined || typeof method !== 'string') return (await asking.onMessage?.(message)) ?? false;
    if (link.era === 'stateless') return false;
    const kind = method === 'ping' ? 'pings' : 'others';
    if (++asked[kind] > MOST_QUESTIONS[kind]) throw new TooManyMessages('asks its client again and again');
    const said = `${method.slice(0, 100)} is not supported by this client`;
    const answer = method === 'ping' ? { result: {} } : { error: { code: METHOD_NOT_FOUND, message: said } };
    await this.#notify({ jsonrpc: '2.0', id, ...answer }, link, asking).catch(() => {});
    return false;
  }

  #cancel(requestId: number, link: Session, { headers, most }: Asking): Promise<void> {
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
    const signal = AbortSignal.timeout(LAST_WORD_MS);
    return this.#notify(message, link, { headers, most, signal }).catch(() => {});
  }

  async #notify(message: object, { headers }: Session, asking: Asking): Promise<void> {
    (await this.#post(message, headers, asking)).cancel();
  }

  #post(message: object, own: HeaderList, { headers, signal }: Asking) {
    const types = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];
    const all = merged(headers, [...types, ...own]);
    return this.#transport.send({ method: 'POST', headers: all, body: JSON.stringify(message), signal });
  }
}

function counter(): () => number {
  let last = 0;
  return () => ++last;
}

/** Replaces given headers by those of the protocol. */
function merged(given: HeaderList, own: HeaderList): HeaderList {
  const names = new Set(own.filter((_, i) => i % 2 === 0));
  return [...given.filter((_, i) => !names.has(given[i - (i % 2)] ?? '')), ...own];
}

/** Throws McpRefusal. */
function resultOf(received: Received, { headers }: Asking): Obj {
  const result = get(received.message, 'result');
  if (received.status < 300 && isObject(result)) return result;
  throw new McpRefusal(received, headers);
}
