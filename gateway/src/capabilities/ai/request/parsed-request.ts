/** The JSON of a request's body: parsed once for the policies and the proxy, and counted in the memory of its client. */
import { RequestSlot } from '../../../capability/request-slot.ts';
import type { Exchange, RequestPart } from '../../../exchange.ts';
import { isObject, type Obj } from '../../../spec/json.ts';
import { isTooDeep, MAX_DEPTH } from '../conversation/json-depth.ts';
import { AiRefused, aiProblem, refused } from '../conversation/refusal.ts';

/** Bytes that values take which are parsed out of a byte of JSON. */
const PARSED = 3;
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

/** An empty body is an empty object. Throws AiRefused where it is no JSON object, or there is no room for it. */
export function parsedRequest(x: Exchange): Obj {
  const known = slot.of(x);
  if (known !== null && known.bytes === x.body) return known.value;
  const bytes = x.body ?? NO_BODY;
  if (!x.holdMore(bytes.length * PARSED)) {
    throw new AiRefused(aiProblem('overloaded', null, 'The gateway has no room for the request. Try again.'));
  }
  const value = bytes.length === 0 ? {} : parse(bytes);
  slot.set(x, new ParsedBody(x.body, value));
  return value;
}

/** Has the request go on with this value, which `parsedRequest` gave and a policy has changed. */
export function rewriteRequest(x: Exchange, value: Obj): void {
  x.body = Buffer.from(JSON.stringify(value));
  slot.set(x, new ParsedBody(x.body, value));
}

function parse(body: Uint8Array): Obj {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(body));
  } catch {
    // Refused below.
  }
  if (!isObject(value)) throw badBody('The body must be a JSON object.');
  if (isTooDeep(value)) throw badBody(`The body must be nested at most ${MAX_DEPTH} levels deep.`);
  return value;
}

function badBody(detail: string): AiRefused {
  return refused('validation-failed', 'invalid_request', detail);
}
