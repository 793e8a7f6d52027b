/** A request as expressions see it; each part is made when it is first looked at. */
import { type CelInput, type CelMap, celList } from '@bufbuild/cel';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type Exchange,
  type HeaderList,
  headerOf,
  isQuickJson,
  joinedHeader,
  parseOnce,
  parseTextOnce,
} from '../../kit.ts';
import { jsonValue, mapOf } from './json-value.ts';
import { isRequestPart, REQUEST_PARTS, type RequestPart } from './request-types.ts';

/** Expressions cannot read a part of the request; the message names it. */
export class PartUnreadable extends Error {}

export interface RequestValue {
  /** The value of `request`. Looking at a part may throw PartUnreadable. */
  readonly value: CelMap;
  /** Whether an expression has looked at a part that is there and cannot be read. */
  readonly isUnreadable: boolean;
}

/** The body must be in memory if the expression reads it. */
export function requestValue(exchange: Exchange): RequestValue {
  const view = new RequestView(exchange);
  return {
    value: mapOf(view),
    get isUnreadable() {
      return view.isUnreadable;
    },
  };
}

class RequestView implements ReadonlyMap<string, CelInput> {
  readonly #exchange: Exchange;
  readonly #made = new Map<RequestPart, CelInput>();
  isUnreadable = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get size(): number {
    return Object.keys(REQUEST_PARTS).length;
  }

  has(key: string): boolean {
    return isRequestPart(key);
  }

  get(key: string): CelInput | undefined {
    if (!isRequestPart(key)) return undefined;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    try {
      const value = PARTS[key](this.#exchange);
      this.#made.set(key, value);
      return value;
    } catch (error) {
      if (error instanceof PartUnreadable) this.isUnreadable = true;
      throw error;
    }
  }

  keys(): MapIterator<string> {
    return Object.keys(REQUEST_PARTS).values();
  }

  *values(): MapIterator<CelInput> {
    for (const key of this.keys()) yield this.get(key) ?? null;
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const key of this.keys()) yield [key, this.get(key) ?? null];
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  forEach(callback: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }
}

const PARTS: Readonly<Record<RequestPart, (exchange: Exchange) => CelInput>> = {
  method: (exchange) => exchange.method,
  path: (exchange) => exchange.path,
  path_params: (exchange) =>
    mapOf(new Map(exchange.operation?.paramNames.map((name, i) => [name, exchange.params[i] ?? '']))),
  query: (exchange) => mapOf(queryOf(exchange.query ?? '')),
  headers: (exchange) => mapOf(new HeaderView(exchange.headers)),
  body_json: (exchange) => jsonValue(bodyValue(exchange)),
  client_ip: (exchange) => exchange.clientIp,
  consumer: (exchange) => decodedName(joinedHeader(exchange.headers, 'x-auth-consumer') ?? ''),
  groups: (exchange) => celList(listed(joinedHeader(exchange.headers, 'x-auth-consumer-groups') ?? '')),
  claims: (exchange) => jsonValue(claimsOf(exchange)),
  time: () => timestampFromMs(Date.now()),
};

/**
 * Returns null for no body. Read as validation reads it (docs/decisions.md#one-reading); as long as `--max-body-size`
 * allows.
 */
function bodyValue({ body, headers }: Exchange): unknown {
  if (body === null || body.length === 0) return null;
  const encoding = headerOf(headers, 'content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new PartUnreadable('request.body_json is encoded');
  if (!isQuickJson(body)) throw new PartUnreadable('request.body_json has more values than the gateway reads');
  try {
    return parseOnce(body);
  } catch {
    throw new PartUnreadable('request.body_json is not JSON in UTF-8');
  }
}

function claimsOf({ claimsLeftOut, headers }: Exchange): unknown {
  if (claimsLeftOut) throw new PartUnreadable('request.claims is too long for its header');
  const text = joinedHeader(headers, 'x-auth-claims') ?? '{}';
  if (text === '') return null;
  try {
    return parseTextOnce(text);
  } catch {
    throw new PartUnreadable('request.claims is not JSON');
  }
}

function listed(text: string): string[] {
  return text.split(',').flatMap((each) => (each.trim() === '' ? [] : [decodedName(each.trim())]));
}

/** Names stand encoded in headers (docs/decisions.md#identity-headers); expressions have them as they are. */
function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Returns every value of every parameter, so that a repetition hides no value. */
function queryOf(query: string): ReadonlyMap<string, CelInput> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return new Map([...values].map(([name, each]) => [name, celList(each)]));
}

/** Headers by name in any case. */
class HeaderView extends Map<string, CelInput> {
  constructor(headers: HeaderList) {
    super();
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] ?? '';
      if (!super.has(name)) super.set(name, joinedHeader(headers, name) ?? '');
    }
  }
  override get(name: string): CelInput | undefined {
    return typeof name === 'string' ? super.get(name.toLowerCase()) : undefined;
  }
  override has(name: string): boolean {
    return super.has(name.toLowerCase());
  }
}
