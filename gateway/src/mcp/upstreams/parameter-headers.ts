/** Arguments that are repeated in headers, so that proxies can route by them (revision 2026-07-28, `x-mcp-header`). */
import type { HeaderList } from '../../exchange.ts';
import { isWrittenNumber, numberText } from '../../json/exact-json.ts';
import { get, isObject, type JsonObject, type Obj } from '../../spec/json.ts';
import { headerText } from '../client/header-text.ts';

export interface ParameterHeader {
  /** Lower case. */
  readonly header: string;
  /** Names of properties that lead to the value. */
  readonly path: readonly string[];
}

const KEYWORD = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const TYPES = ['string', 'integer', 'boolean'];
const MOST = 32;

/** A text says why the definition is not valid. */
export function parameterHeaders(schema: JsonObject): readonly ParameterHeader[] | string {
  const found: ParameterHeader[] = [];
  const reached = collect(schema, [], found);
  if (typeof reached === 'string') return reached;
  const names = found.map(({ header }) => header);
  if (found.length > MOST) return `more than ${MOST} of its arguments are repeated in headers`;
  if (new Set(names).size < names.length) return `two of its arguments have the same ${KEYWORD}`;
  return reached === countOf(schema) ? found : `an argument with ${KEYWORD} is not reached by properties alone`;
}

/** Returns their number below properties; or a text with the fault of one. */
function collect(schema: unknown, path: readonly string[], found: ParameterHeader[]): number | string {
  let count = 0;
  const own = get(schema, KEYWORD);
  if (own !== undefined) {
    if (typeof own !== 'string' || !TOKEN.test(own)) return `${KEYWORD} of its argument is not a header name`;
    if (path.length === 0 || !TYPES.includes(String(get(schema, 'type'))))
      return `${KEYWORD} is on an argument that is not a string, integer or boolean`;
    found.push({ header: `mcp-param-${own.toLowerCase()}`, path });
    count++;
  }
  const properties = get(schema, 'properties');
  for (const [name, each] of Object.entries(isObject(properties) ? properties : {})) {
    const below = collect(each, [...path, name], found);
    if (typeof below === 'string') return below;
    count += below;
  }
  return count;
}

/** Counts the keyword anywhere in the schema, except as the name of a property. */
function countOf(schema: unknown, ofProperties = false): number {
  if (typeof schema !== 'object' || schema === null) return 0;
  return Object.entries(schema).reduce((sum, [name, each]) => {
    if (!ofProperties && (name === 'const' || name === 'enum' || name === 'default' || name === 'examples')) return sum;
    const own = !ofProperties && name === KEYWORD && !Array.isArray(schema) ? 1 : 0;
    return sum + own + countOf(each, !ofProperties && name === 'properties');
  }, 0);
}

/** Returns the headers of a call with these arguments. */
export function headersOfArguments(headers: readonly ParameterHeader[], args: Obj): HeaderList {
  return headers.flatMap(({ header, path }) => {
    const text = textAt(args, path);
    return text === null ? [] : [header, headerText(text)];
  });
}

/** Returns the text that a header repeats; null if the argument is absent or cannot be repeated. */
export function textAt(args: Obj, path: readonly string[]): string | null {
  const value = path.reduce<unknown>(get, args);
  if (isWrittenNumber(value)) return numberText(value);
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;
}
