/** The JSON of a request's body: parsed once for the policies and the proxy, and counted in the memory of its client. */

import {
  type Exchange,
  get,
  isNestedWithin,
  isObject,
  isQuickJson,
  isWrittenNumber,
  MOST_NESTING,
  type Obj,
  parseAsWritten,
  parsedSize,
  plainNumber,
  type RequestPart,
  RequestSlot,
  SHORT_JSON,
} from '../../../../kit.ts';
import { AiRefusal, aiProblem, invalid, refusal } from '../conversation/refusal.ts';
import { surfaceOf } from '../surfaces/surface-of.ts';
import { MESSAGE_LISTS, OTHER_PROMPT_MEMBERS } from './prompt-members.ts';
import { realtimeRequest } from './realtime-request.ts';

const NO_BODY = new Uint8Array(0);
const utf8 = new TextDecoder('utf-8', { fatal: true });
const slot = new RequestSlot<ParsedBody>();

class ParsedBody implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly logged = '';
  readonly bytes: Uint8Array | null;
  readonly value: Obj;

  constructor(bytes: Uint8Array | null, value: Obj) {
    this.bytes = bytes;
    this.value = value;
  }

  finished(): void {}
}

/**
 * Numbers keep the digits that they came with (`exact-json.ts`). An empty body is an empty object; that of a realtime
 * session is its query. Throws AiRefusal if the body is not a JSON object, or memory for it is lacking.
 */
export function parsedRequest(exchange: Exchange): Obj {
  if (surfaceOf(exchange.path) === 'realtime') return realtimeRequest(exchange.query);
  const known = slot.of(exchange);
  if (known !== null && known.bytes === exchange.body) return known.value;
  const bytes = exchange.body ?? NO_BODY;
  if (!exchange.holdMore(parsedSize(bytes))) {
    throw new AiRefusal(aiProblem('overloaded', null, 'The gateway has no room for the request. Try again.'));
  }
  const value = bytes.length === 0 ? {} : parse(bytes);
  slot.set(exchange, new ParsedBody(exchange.body, value));
  return value;
}

/** Replaces the request's body by this value, which came from `parsedRequest` and was changed by a policy. */
export function rewriteRequest(exchange: Exchange, value: Obj): void {
  exchange.body = Buffer.from(JSON.stringify(value));
  slot.set(exchange, new ParsedBody(exchange.body, value));
}

/**
 * Members that policies read. Some providers match member names in any case, and would read values that policies have
 * not seen.
 */
const KNOWN: ReadonlySet<string> = new Set([
  ...MESSAGE_LISTS,
  ...OTHER_PROMPT_MEMBERS,
  ...['model', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'stream'],
]);

/** Members that reservations are computed from: an unreadable one would count as absent. */
const COUNTS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n'];

/** As they compare names: the long s is an s, and the sign of Kelvin a k. */
function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function parse(body: Uint8Array): Obj {
  if (!isQuickJson(body)) throw badBody('The body has more values than the gateway reads.');
  if (body.length <= SHORT_JSON && !isNestedWithin(body, MOST_NESTING)) {
    throw badBody(`The body must be nested at most ${MOST_NESTING} levels deep.`);
  }
  let value: unknown;
  try {
    value = parseAsWritten(utf8.decode(body));
  } catch {
    // Refused below.
  }
  if (!isObject(value) || isWrittenNumber(value)) throw badBody('The body must be a JSON object.');
  const other = Object.keys(value).find((name) => !KNOWN.has(name) && KNOWN.has(foldCase(name)));
  if (other !== undefined) throw badBody(`The body has ${JSON.stringify(other)}: names are written in lower case.`);
  const odd = COUNTS.find((name) => !isCountOrNone(get(value, name)));
  if (odd !== undefined) throw invalid(odd, 'a whole number');
  return value;
}

function isCountOrNone(read: unknown): boolean {
  const value = plainNumber(read);
  return value === undefined || value === null || (Number.isSafeInteger(value) && Number(value) >= 0);
}

function badBody(detail: string): AiRefusal {
  return refusal('validation-failed', 'invalid_request', detail);
}
