/**
 * Takes parameters out of a request as OpenAPI's styles write them (OpenAPI 3.1, section 4.8.12.3). Each reader returns
 * `undefined` if the parameter is absent, and `MALFORMED` if it is not written in its style.
 */
import type { Parameter as Declared, FormField } from '../../artifact/format.ts';
import { isJson } from '../../headers/media-type.ts';
import { parseTextForValidation } from '../../json/parse-once.ts';
import { type Entry, readDeep } from './deep-object.ts';
import { ItemBudget } from './item-budget.ts';
import { decode, readAs } from './text.ts';

export const MALFORMED: unique symbol = Symbol('malformed');

/** Name and value of each query parameter or cookie, still encoded, in order. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** A parameter, or a field of a form, which is read as a query parameter is. */
type Parameter = FormField & Partial<Pick<Declared, 'in'>>;
type Value = unknown;

const isArray = ({ types }: Parameter) => types.includes('array');
const isObject = ({ types }: Parameter) => types.includes('object');

/** `a=1&b=2`: names decoded, values not yet. */
export function splitQuery(query: string): Pairs {
  const pairs: [string, string][] = [];
  let mark = -1;
  for (let at = 0; at < query.length; ) {
    let end = query.indexOf('&', at);
    if (end < 0) end = query.length;
    // Searched once, however many parts lack one.
    if (mark < at) mark = query.indexOf('=', at);
    if (mark < 0) mark = query.length;
    const name = end === at ? undefined : decode(query.slice(at, Math.min(mark, end)), true);
    if (name !== undefined) pairs.push([name, mark < end ? query.slice(mark + 1, end) : '']);
    at = end + 1;
  }
  return pairs;
}

/** `a=1; b=2` (RFC 6265, section 5.4). */
export function splitCookies(header: string): Pairs {
  return header.split(';').flatMap((part): [string, string][] => {
    const mark = part.indexOf('=');
    return mark < 0
      ? []
      : [
          [
            part.slice(0, mark).trim(),
            part
              .slice(mark + 1)
              .trim()
              .replace(/^"(.*)"$/, '$1'),
          ],
        ];
  });
}

/**
 * Query and cookie parameters: form, spaceDelimited, pipeDelimited, deepObject, cookie. `items`: shared by all lists of
 * one form.
 */
export function readPairs(parameter: Parameter, pairs: Pairs, plus: boolean, items = new ItemBudget()): Value {
  const text = parameter.style === 'cookie' ? asIs : (raw: string) => decode(raw, plus);
  if (parameter.style === 'deepObject') return readDeepObject(parameter, pairs, text);
  if (isObject(parameter) && parameter.explode) return readExplodedObject(parameter, pairs, text);
  let first: string | undefined;
  let count = 0;
  for (const [name, value] of pairs) {
    if (name !== parameter.name) continue;
    first ??= value;
    count++;
  }
  if (first === undefined) return undefined;
  // Half of a quoted value: some servers read on behind the semicolon (RFC 6265 has no such value).
  if (parameter.in === 'cookie' && first.startsWith('"')) return MALFORMED;
  if (isArray(parameter) && parameter.explode && parameter.content_type === undefined) {
    const own = pairs.filter(([name]) => name === parameter.name);
    return all(own.map(([, each]) => item(parameter, text(each))));
  }
  // A reader behind the gateway may take another of them than the validated one.
  if (count > 1) return MALFORMED;
  if (parameter.content_type !== undefined) return readContent(parameter, first, text);
  if (!isArray(parameter) && !isObject(parameter)) {
    const value = text(first);
    return value === undefined ? MALFORMED : readAs(value, parameter.types);
  }
  // The delimiter separates before decoding, so that an encoded one stays inside its value; `%20` and `%7C` are
  // how the two other styles must write theirs in a URL.
  const delimiter = { spaceDelimited: /%20|\+| /, pipeDelimited: /%7[Cc]|\|/ }[parameter.style as string] ?? ',';
  return delimited(parameter, items.split(first, delimiter), text);
}

/** Path and header parameters: simple, label, matrix. The text of a path parameter is still encoded. */
export function readText(parameter: Parameter, raw: string, encoded: boolean): Value {
  const text = (part: string) => (encoded ? decode(part, false) : part);
  if (parameter.content_type !== undefined) return readContent(parameter, raw, text);
  switch (parameter.style) {
    case 'label':
      if (!raw.startsWith('.')) return MALFORMED;
      return delimitedOrPlain(parameter, raw.slice(1), parameter.explode ? '.' : ',', text);
    case 'matrix':
      return readMatrix(parameter, raw, text);
    default:
      return delimitedOrPlain(parameter, raw, ',', text);
  }
}

type Text = (raw: string) => string | undefined;
const asIs: Text = (raw) => raw;

function readMatrix(parameter: Parameter, raw: string, text: Text): Value {
  if (!raw.startsWith(';')) return MALFORMED;
  const pairs = splitPairs(raw.slice(1), ';', text);
  if (pairs === null) return MALFORMED;
  if (parameter.explode && isObject(parameter)) return readExplodedObject(parameter, pairs, text);
  const own = pairs.filter(([name]) => name === parameter.name).map(([, value]) => value);
  if (own.length === 0 || own.length !== pairs.length) return MALFORMED;
  if (isArray(parameter) && parameter.explode) return all(own.map((each) => item(parameter, text(each))));
  return delimitedOrPlain(parameter, own[0] as string, ',', text);
}

/** Decodes names, but not values yet; a malformed name belongs to no property. Returns null if there are too many. */
function splitPairs(raw: string, delimiter: string, text: Text): Pairs | null {
  const parts = raw === '' ? [''] : new ItemBudget().split(raw, delimiter);
  if (parts === null) return null;
  return parts.map((part): [string, string] => {
    const mark = part.indexOf('=');
    return mark < 0 ? [text(part) ?? part, ''] : [text(part.slice(0, mark)) ?? part, part.slice(mark + 1)];
  });
}

function delimitedOrPlain(parameter: Parameter, raw: string, delimiter: string, text: Text): Value {
  if (isArray(parameter) || (isObject(parameter) && !parameter.explode)) {
    return delimited(parameter, new ItemBudget().split(raw, delimiter), text);
  }
  if (isObject(parameter)) {
    const pairs = splitPairs(raw, delimiter, text);
    return pairs === null ? MALFORMED : readExplodedObject(parameter, pairs, text);
  }
  const value = text(raw);
  return value === undefined ? MALFORMED : readAs(value, parameter.types);
}

/** `parts`: null if there are too many. */
function delimited(parameter: Parameter, parts: readonly string[] | null, text: Text): Value {
  if (parts === null) return MALFORMED;
  // White space around the commas of a header's list is not part of the values (RFC 9110, section 5.6.1).
  const values = parts.map((part) => text(parameter.in === 'header' ? part.trim() : part));
  if (!isObject(parameter)) return all(values.map((each) => item(parameter, each)));
  if (values.length % 2 !== 0) return MALFORMED;
  const entries: [string, Value][] = [];
  for (let i = 0; i < values.length; i += 2) {
    const [name, value] = [values[i], values[i + 1]];
    if (name === undefined || value === undefined) return MALFORMED;
    entries.push([name, property(parameter, name, value)]);
  }
  return onceEach(entries);
}

/** Returns an object, unless a member is repeated. */
function onceEach(entries: readonly (readonly [string, Value])[]): Value {
  return new Set(entries.map(([name]) => name)).size === entries.length ? Object.fromEntries(entries) : MALFORMED;
}

function readExplodedObject(parameter: Parameter, pairs: Pairs, text: Text): Value {
  const known = parameter.property_types ?? {};
  const entries: [string, Value][] = [];
  for (const [name, raw] of pairs) {
    if (!Object.hasOwn(known, name)) continue;
    const value = text(raw);
    if (value === undefined) return MALFORMED;
    entries.push([name, property(parameter, name, value)]);
  }
  return entries.length === 0 ? undefined : onceEach(entries);
}

function readDeepObject(parameter: Parameter, pairs: Pairs, text: Text): Value {
  const entries: Entry[] = [];
  let plain: string | undefined;
  for (const [name, raw] of pairs) {
    const isPlain = name === parameter.name;
    if (!isPlain && !name.startsWith(`${parameter.name}[`)) continue;
    const value = text(raw);
    if (value === undefined || plain !== undefined) return MALFORMED;
    if (isPlain) plain = value;
    else entries.push([name, value]);
  }
  // If a schema admits more than objects, other values are written without brackets.
  if (plain !== undefined) return entries.length > 0 ? MALFORMED : readAs(plain, parameter.types);
  const value = readDeep(parameter.name, entries);
  return value === null ? MALFORMED : value;
}

function readContent(parameter: Parameter, raw: string, text: Text): Value {
  const value = text(raw);
  if (value === undefined) return MALFORMED;
  if (!isJson(parameter.content_type ?? '')) return readAs(value, parameter.types);
  try {
    return parseTextForValidation(value);
  } catch {
    return MALFORMED;
  }
}

function item({ item_types }: Parameter, value: string | undefined): Value {
  return value === undefined ? MALFORMED : readAs(value, item_types ?? []);
}

function property({ property_types }: Parameter, name: string, value: string): Value {
  return readAs(value, (property_types && Object.hasOwn(property_types, name) && property_types[name]) || []);
}

function all(values: Value[]): Value {
  return values.includes(MALFORMED) ? MALFORMED : values;
}
