/** The MCP endpoint (docs/mcp.md): tells the era of a request, after checks that precede it. */
import { type Answer, type Exchange, headerOf, Interrupted, joinedHeader } from '../exchange.ts';
import { Admission } from '../headers/admission.ts';
import { mediaTypeOf } from '../headers/media-type.ts';
import { problem } from '../problems.ts';
import type { SessionStore } from '../state/session-store.ts';
import { StateUnavailable } from '../state/state.ts';
import { AcceptCheck } from '../validation/accept.ts';
import { logCall } from './call-log.ts';
import { corsHeaders, originOf } from './origins.ts';
import { errorText, RpcError, type RpcId } from './protocol/json-rpc.ts';
import { MessageReader } from './read-messages.ts';
import { SessionProtocol } from './session-protocol.ts';
import { isStateless, StatelessProtocol } from './stateless-protocol.ts';
import { type McpRequest, STREAMS } from './tool-methods.ts';

export { STREAMS };

/** Credentials may have any name: each tool's operation admits its own. */
export const MCP_ADMISSION = new Admission(['*']);
const ACCEPT = new AcceptCheck(['application/json']);

export class McpEndpoint {
  readonly #sessions: SessionProtocol;
  readonly #stateless = new StatelessProtocol();
  readonly #reader = new MessageReader();

  readonly #auditKey: string | null;

  /** `auditKey`: for hashes of arguments in the access log; null: arguments are not logged. */
  constructor(sessions: SessionStore, auditKey: string | null) {
    this.#auditKey = auditKey;
    this.#sessions = new SessionProtocol(sessions);
  }

  /** Another artifact serves from now on, and its tools are others. */
  toolsChanged(): void {
    this.#stateless.subscriptions.toolsChanged();
  }

  /** Returns `STREAMS` if a stream has begun, null if the client has gone. */
  async answer(request: McpRequest): Promise<Answer | null | typeof STREAMS> {
    const { exchange, toolbox } = request;
    const { allowed, origin } = originOf(exchange, toolbox.origins);
    if (!allowed) {
      const detail = 'Web pages of this origin may not call: x-gw-mcp.origins lists those that may.';
      return { problem: problem('forbidden', detail) };
    }
    const preflight = exchange.method === 'OPTIONS' && origin !== null;
    if (preflight) return { status: 204, headers: corsHeaders(origin, true), body: null };
    const cors = corsHeaders(origin, false);
    const answer = await this.#answer({ ...request, stream: (headers) => request.stream([...headers, ...cors]) });
    return answer === null || answer === STREAMS ? answer : withHeaders(answer, cors);
  }

  async #answer(request: McpRequest): Promise<Answer | null | typeof STREAMS> {
    const { exchange } = request;
    let id: RpcId | null = null;
    try {
      if (exchange.method === 'DELETE') return await this.#sessions.end(request);
      const refused = refusal(exchange);
      if (refused !== null) return refused;
      const message = await this.#reader.read(exchange, await exchange.readBody());
      id = message.kind === 'request' ? message.id : null;
      if (message.kind === 'request' && message.method === 'tools/call')
        logCall(exchange, message.params, this.#auditKey);
      const era = isStateless(request, message) ? this.#stateless : this.#sessions;
      return await era.answer(request, message);
    } catch (error) {
      if (error instanceof RpcError) return rpcRefusal(error, id);
      if (error instanceof Interrupted) return exchange.answer;
      if (error instanceof StateUnavailable) {
        return { problem: problem('state-unavailable', 'Sessions cannot be looked up at present.') };
      }
      throw error;
    }
  }
}

function refusal(exchange: Exchange): Answer | null {
  if (exchange.method !== 'POST') {
    const detail = 'MCP messages are sent with POST; no stream is opened with GET.';
    return { problem: problem('method-not-allowed', detail, { headers: ['allow', 'POST, DELETE'] }) };
  }
  if (mediaTypeOf(headerOf(exchange.headers, 'content-type')) !== 'application/json') {
    return { problem: problem('unsupported-media-type', 'Content-Type must be application/json.') };
  }
  if (headerOf(exchange.headers, 'content-encoding') !== undefined) {
    return { problem: problem('unsupported-media-type', 'Content-Encoding must be identity.') };
  }
  if (!ACCEPT.admits(joinedHeader(exchange.headers, 'accept'))) {
    return { problem: problem('not-acceptable', 'Accept must admit application/json.') };
  }
  return null;
}

function rpcRefusal(error: RpcError, id: RpcId | null): Answer {
  const body = errorText(error, error.id ?? id);
  return { status: error.status, headers: ['content-type', 'application/json'], body };
}

function withHeaders(answer: Answer, headers: readonly string[]): Answer {
  if (headers.length === 0) return answer;
  if ('problem' in answer) {
    return { problem: { ...answer.problem, headers: [...(answer.problem.headers ?? []), ...headers] } };
  }
  return { ...answer, headers: [...(answer.headers ?? []), ...headers] };
}
