/** A request as expressions see it; each part is made when it is first looked at. */
import { type CelInput, type CelMap, celList } from '@bufbuild/cel';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Exchange, type HeaderList, joinedHeader } from '../../exchange.ts';
import { parseTextOnce } from '../../json/parse-once.ts';
import { jsonValue, mapOf } from './json-value.ts';
import { isRequestPart, REQUEST_PARTS, type RequestPart } from './request-types.ts';

/** Longest body that is read as JSON, in bytes: reading more would hold up other requests. */
const MOST_BODY = 1 << 20;

/** A part of the request is not what expressions can read; the message says which. */
export class PartUnreadable extends Error {}

/** The value of `request`. The body must be in memory where the expression reads it. Looking at a part may throw PartUnreadable. */
export function requestValue(x: Exchange): CelMap {
  return mapOf(new RequestView(x));
}

class RequestView implements ReadonlyMap<string, CelInput> {
  readonly #x: Exchange;
  readonly #made = new Map<RequestPart, CelInput>();

  constructor(x: Exchange) {
    this.#x = x;
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
    const value = PARTS[key](this.#x);
    this.#made.set(key, value);
    return value;
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

const PARTS: Readonly<Record<RequestPart, (x: Exchange) => CelInput>> = {
  method: (x) => x.method,
  path: (x) => x.path,
  path_params: (x) => mapOf(new Map(x.operation?.paramNames.map((name, i) => [name, x.params[i] ?? '']))),
  query: (x) => mapOf(queryOf(x.query ?? '')),
  headers: (x) => mapOf(new HeaderView(x.headers)),
  body_json: (x) => jsonValue(parsed(bodyText(x), 'body_json')),
  client_ip: (x) => x.clientIp,
  consumer: (x) => decodedName(joinedHeader(x.headers, 'x-auth-consumer') ?? ''),
  groups: (x) => celList(listed(joinedHeader(x.headers, 'x-auth-consumer-groups') ?? '')),
  claims: (x) => jsonValue(parsed(joinedHeader(x.headers, 'x-auth-claims') ?? '{}', 'claims')),
  time: () => timestampFromMs(Date.now()),
};

function bodyText({ body }: Exchange): string {
  if (body === null) return '';
  if (body.length > MOST_BODY) throw new PartUnreadable(`request.body_json is longer than ${MOST_BODY} bytes`);
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString();
}

/** Null for nothing. */
function parsed(text: string, part: RequestPart): unknown {
  if (text === '') return null;
  try {
    return parseTextOnce(text);
  } catch {
    throw new PartUnreadable(`request.${part} is not JSON`);
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

/** Every value of every parameter: one that is given twice hides nothing. */
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
