/** Reads forms as the object that their schema describes (OpenAPI 3.1, sections 4.8.14.4 and 4.8.15). */
import type { FormField } from '../artifact/format.ts';
import { covers, isJson, isUtf8 } from '../headers/media-type.ts';
import { type Admit, parseForValidation, parseTextForValidation } from '../json/parse-once.ts';
import { StepsExceeded } from '../patterns/step-budget.ts';
import type { ProblemError } from '../problems.ts';
import { MOST_FIELDS, type Part, readMultipart } from './multipart.ts';
import { DeclaredNames, READ_AS_DECLARED } from './styles/declared-names.ts';
import { ItemBudget, MOST_ITEMS } from './styles/item-budget.ts';
import { MALFORMED, type Pairs, readPairs, splitQuery } from './styles/styles.ts';
import { decode, readAs } from './styles/text.ts';

/** A value, or the errors that prevent it. */
export type Reading = { readonly value: unknown } | { readonly errors: readonly ProblemError[] };

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function failed(field: string, reason: string): { readonly errors: readonly ProblemError[] } {
  return { errors: [{ in: 'body', field, reason }] };
}

/** JSON pointer of a field. */
function pointer(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** `application/x-www-form-urlencoded`. */
export function readUrlencoded(fields: readonly FormField[], text: string, admit?: Admit): Reading {
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS) return failed('/', `has more than ${MOST_FIELDS} fields`);
  for (const part of text.split('&')) {
    if (decode(part, true) === undefined) return failed('/', 'is badly percent-encoded');
  }
  const pairs = splitQuery(text);
  const names = new DeclaredNames(fields);
  const declared = names.readAsIn(pairs, text);
  if (declared !== null) return failed(pointer(declared), READ_AS_DECLARED);
  const items = new ItemBudget();
  const entries: [string, unknown][] = [];
  for (const field of fields) {
    const value =
      field.content_type === undefined ? readPairs(field, pairs, true, items) : readByContent(field, pairs, admit);
    if (items.isExceeded) return failed(pointer(field.name), `has more than ${MOST_ITEMS} items`);
    if (value === MALFORMED) return failed(pointer(field.name), 'is not written as the API description says');
    if (value !== undefined) entries.push([field.name, value]);
  }
  const others = new Map<string, string[]>();
  for (const [name, raw] of pairs) if (!names.has(name)) append(others, name, decode(raw, true) ?? '');
  for (const [name, values] of others) entries.push([name, values.length === 1 ? values[0] : values]);
  return { value: Object.fromEntries(entries) };
}

function readByContent(field: FormField, pairs: Pairs, admit: Admit | undefined): unknown {
  const texts = pairs.filter(([name]) => name === field.name).map(([, raw]) => decode(raw, true) ?? '');
  const own = texts.map((text) => readText(field, text, admit));
  return own.length === 0 ? undefined : several(field, own);
}

/** Repeated fields are an array's items; of anything else there is one. */
function several({ types }: FormField, values: readonly unknown[]): unknown {
  if (values.includes(MALFORMED)) return MALFORMED;
  if (types.includes('array')) return values;
  // A schema without types gets the values as sent.
  if (values.length > 1) return types.length === 0 ? values : MALFORMED;
  return values[0];
}

function readText(field: FormField, text: string, admit: Admit | undefined): unknown {
  if (!isJson(field.content_type ?? '')) {
    return readAs(text, field.types.includes('array') ? (field.item_types ?? []) : field.types);
  }
  return orMalformed(() => parseTextForValidation(text, admit));
}

/** `multipart/form-data`. Files are strings of a character for each byte, so that lengths count bytes. */
export function readParts(fields: readonly FormField[], contentType: string, body: Uint8Array, admit?: Admit): Reading {
  const parts = readMultipart(contentType, body);
  if (typeof parts === 'string') return failed('/', parts);
  if (namesOtherCharset(parts)) return failed('/_charset_', 'must be utf-8');
  const byName = new Map<string, Part[]>();
  for (const part of parts) append(byName, part.name, part);
  const entries: [string, unknown][] = [];
  const declared = new Map(fields.map((field) => [field.name, field]));
  const names = new DeclaredNames(fields.map(({ name }) => ({ name, style: 'form', explode: false })));
  for (const [name, own] of byName) {
    const readAs = names.readAs(name);
    if (readAs !== null) return failed(pointer(readAs), READ_AS_DECLARED);
    const field = declared.get(name) ?? { name, style: 'form', explode: true, types: [] };
    for (const part of own) {
      const fault = faultOf(field, part);
      if (fault !== null) return failed(pointer(name), fault);
    }
    const value = several(
      field,
      own.map((part) => readPartOf(field, part, admit)),
    );
    if (value === MALFORMED) return failed(pointer(name), 'is not written as the API description says');
    entries.push([name, value]);
  }
  return { value: Object.fromEntries(entries) };
}

/** Why a field takes no part of this kind. A server that reads a file in place of a text misses the field. */
function faultOf({ part_types, is_text }: FormField, { filename, type = 'text/plain' }: Part): string | null {
  const accepted = is_text ? ['text/*'] : (part_types ?? ['*/*']);
  if (!accepted.some((range) => covers(range, type))) {
    return `has content type ${type}: ${accepted.join(', ')} is accepted`;
  }
  return is_text && filename !== undefined ? 'is sent as a file: the API description declares text' : null;
}

/** RFC 7578, section 4.6: the charset of all parts without one of their own. */
function namesOtherCharset(parts: readonly Part[]): boolean {
  return parts.some(
    ({ name, body }) => name === '_charset_' && !isUtf8(`text/plain; charset=${body.toString('latin1')}`),
  );
}

function readPartOf(field: FormField, { filename, type, isUtf8, body }: Part, admit: Admit | undefined): unknown {
  const json = isJson(type ?? field.content_type ?? '');
  const isText = json || (filename === undefined && (type === undefined || type.startsWith('text/')));
  if (!isText) return body.toString('latin1');
  // A server would read other text than the validated one.
  if (!isUtf8) return MALFORMED;
  return orMalformed(() => (json ? parseForValidation(body, false, admit) : readText(field, utf8.decode(body), admit)));
}

function orMalformed(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof StepsExceeded) throw error;
    return MALFORMED;
  }
}

function append<T>(lists: Map<string, T[]>, name: string, value: T): void {
  const list = lists.get(name);
  if (list) list.push(value);
  else lists.set(name, [value]);
}
