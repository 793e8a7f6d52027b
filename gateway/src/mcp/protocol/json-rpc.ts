/** JSON-RPC 2.0 messages as MCP has them: single ones, with ids that are text or whole numbers. */
import { RepeatedMember } from '../../json/escaped-names.ts';
import { isQuickJson } from '../../json/json-scan.ts';
import { isNestedWithin, MOST_NESTING } from '../../json/nesting.ts';
import { parseOnceExactly, type Readings } from '../../json/parse-once.ts';
import { get, isObject, type Obj, objectOf } from '../../spec/json.ts';

export type RpcId = string | number;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RpcId;
  readonly method: string;
  readonly params: Obj;
  /** `params` with numbers as they were written: only for passing on. */
  readonly exact: Obj;
}

export interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: Obj;
}

/** A response to a request of the gateway; it sends none, so responses are ignored. */
interface RpcResponse {
  readonly kind: 'response';
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** The gateway's own code, in the range for servers: middlewares refuse the call. */
export const REFUSED = -32010;
/** Defined by revision 2026-07-28. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** Codes for faults of the HTTP request, and not of its content. */
const REQUEST_FAULTS = new Set([PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION]);

/** The error that answers a request; its message reveals nothing internal to the gateway. */
export class RpcError extends Error {
  readonly code: number;
  /** Status of the HTTP response. */
  readonly status: number;
  readonly id: RpcId | null;
  readonly data: unknown;

  constructor(code: number, message: string, more: { status?: number; id?: RpcId | null; data?: unknown } = {}) {
    super(message);
    this.code = code;
    this.status = more.status ?? (REQUEST_FAULTS.has(code) ? 400 : 200);
    this.id = more.id ?? null;
    this.data = more.data;
  }
}

/** Characters of an id that is text. */
const LONGEST_ID = 256;

/** Throws RpcError. */
export function readMessage(body: Uint8Array): RpcMessage {
  const { value, exact } = parse(body);
  if (Array.isArray(value))
    throw new RpcError(INVALID_REQUEST, 'Batches are not supported: send one message a request.');
  if (!isObject(value)) throw new RpcError(INVALID_REQUEST, 'The message must be a JSON object.');
  const id = Object.hasOwn(value, 'id') ? readId(value['id']) : null;
  if (get(value, 'jsonrpc') !== '2.0') throw new RpcError(INVALID_REQUEST, '"jsonrpc" must be "2.0".', { id });
  const method = get(value, 'method');
  if (method === undefined && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) {
    return { kind: 'response' };
  }
  if (typeof method !== 'string') throw new RpcError(INVALID_REQUEST, '"method" must be a string.', { id });
  const params = get(value, 'params') ?? {};
  if (!isObject(params)) throw new RpcError(INVALID_PARAMS, '"params" must be an object.', { id });
  if (id === null) return { kind: 'notification', method, params };
  return { kind: 'request', id, method, params, exact: objectOf(get(exact, 'params')) };
}

function parse(body: Uint8Array): Readings {
  if (body.length === 0) throw new RpcError(PARSE_ERROR, 'The body is empty.');
  if (!isNestedWithin(body, MOST_NESTING)) {
    throw new RpcError(PARSE_ERROR, `The body is nested more than ${MOST_NESTING} levels deep.`);
  }
  if (!isQuickJson(body)) throw new RpcError(PARSE_ERROR, 'The body has more values than the gateway reads.');
  try {
    return parseOnceExactly(body);
  } catch (error) {
    const why =
      error instanceof RepeatedMember ? `The body is refused: ${error.message}.` : 'The body is not JSON in UTF-8.';
    throw new RpcError(PARSE_ERROR, why);
  }
}

/** MCP allows neither null nor fractions. */
function readId(id: unknown): RpcId {
  if (typeof id === 'string' && id.length <= LONGEST_ID) return id;
  if (Number.isSafeInteger(id)) return id as number;
  throw new RpcError(INVALID_REQUEST, `"id" must be a string of at most ${LONGEST_ID} characters or a whole number.`);
}

/** `result`: JSON. */
export function resultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Leaves the id out if it is absent or unreadable. */
export function errorText({ code, message, data }: RpcError, id: RpcId | null): string {
  return JSON.stringify({ jsonrpc: '2.0', ...(id === null ? {} : { id }), error: { code, message, data } });
}
