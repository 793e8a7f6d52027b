/** Compares the keywords of two schemas that stand alone: the values that the newer one admits, against the older. */
import { canonicalJson } from '../artifact/canonical-json.ts';
import type { Json, JsonObject } from '../artifact/format.ts';
import { compareDecimals, type Decimal, isDecimalMultiple, isWhole, readDecimal } from '../json/decimal.ts';
import { comparable } from '../json/stand-ins.ts';
import { isObject } from '../spec/json.ts';
import { WRITTEN, writtenText, writtenValue } from '../validation/schemas/keyword-text.ts';

/** `narrowed`: it admits less. `widened`: more. `changed`: something else, or unknown. `named`: the same. */
export type Effect = 'narrowed' | 'widened' | 'changed' | 'named';

export interface Finding {
  /** JSON pointer of the affected value, with `*` for every item or property. */
  readonly at: string;
  readonly effect: Effect;
  readonly what: string;
}

const UPPER = ['maxLength', 'maxItems', 'maxProperties', 'maxContains'];
const LOWER = ['minLength', 'minItems', 'minProperties'];
/** Compared as they are written. */
const OPAQUE = ['pattern', 'format', 'dependentRequired'];

export function compareValues(written: JsonObject, writtenNow: JsonObject): readonly Finding[] {
  // One value is a list of one, if the other side has a list.
  const isMixed = 'const' in written !== 'const' in writtenNow && ('enum' in written || 'enum' in writtenNow);
  const [before, after] = isMixed ? [listed(written), listed(writtenNow)] : [written, writtenNow];
  const integers = before['type'] === 'integer' && after['type'] === 'integer';
  return [
    ...edge(edgeOf(before, LEAST, integers), edgeOf(after, LEAST, integers), LEAST),
    ...edge(edgeOf(before, MOST, integers), edgeOf(after, MOST, integers), MOST),
    ...types(before['type'], after['type']),
    ...values(before, after),
    ...UPPER.flatMap((name) => bound(name, before[name], after[name], 1)),
    ...LOWER.flatMap((name) => bound(name, before[name], after[name], -1)),
    ...bound('minContains', before['minContains'] ?? 1, after['minContains'] ?? 1, -1),
    ...required(namesIn(before['required']), namesIn(after['required'])),
    ...multiples(before, after),
    ...uniqueness(before['uniqueItems'] === true, after['uniqueItems'] === true),
    ...opaque('const', valueTextOf(before, 'const'), valueTextOf(after, 'const')),
    ...OPAQUE.flatMap((name) => opaque(name, textOf(before[name]), textOf(after[name]))),
  ];
}

function listed(schema: JsonObject): JsonObject {
  if (!('const' in schema) || 'enum' in schema) return schema;
  const { const: only, ...others } = schema;
  const text = writtenText(schema, 'const');
  const written = schema[WRITTEN];
  return {
    ...others,
    enum: [only as Json],
    ...(text === undefined ? {} : { [WRITTEN]: { ...(isObject(written) ? written : {}), enum: `[${text}]` } }),
  };
}

/** Text by which values of a keyword are equal; undefined if the schema does not have it. */
function valueTextOf(schema: JsonObject, keyword: string): string | undefined {
  return keyword in schema ? comparable(writtenValue(schema, keyword) ?? schema[keyword]) : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : canonicalJson(value);
}

/** Returns the number of a keyword with all of its digits; null if the schema lacks it. */
function decimalAt(schema: JsonObject, keyword: string): { readonly decimal: Decimal; readonly text: string } | null {
  const value = schema[keyword];
  if (typeof value !== 'number') return null;
  const text = writtenText(schema, keyword) ?? String(value);
  const decimal = readDecimal(text);
  return decimal && { decimal, text };
}

/** `sign`: 1 if a larger one admits more. */
const LEAST = { inclusive: 'minimum', exclusive: 'exclusiveMinimum', sign: -1 } as const;
const MOST = { inclusive: 'maximum', exclusive: 'exclusiveMaximum', sign: 1 } as const;
type Side = typeof LEAST | typeof MOST;

interface Edge {
  readonly value: Decimal;
  readonly isOutside: boolean;
  readonly text: string;
}

/** The one of both keywords that admits less; null without any. Integers above 0 are those from 1 on. */
function edgeOf(schema: JsonObject, { inclusive, exclusive, sign }: Side, integers: boolean): Edge | null {
  const edges = [inclusive, exclusive].flatMap((name): Edge[] => {
    const number = decimalAt(schema, name);
    if (number === null) return [];
    const isOutside = name === exclusive;
    const { decimal: value } = number;
    const text = `${name} ${number.text}`;
    const near = Number(number.text);
    // Beyond these, bounds of integers are compared as they stand.
    if (!integers || Math.abs(near) >= Number.MAX_SAFE_INTEGER) return [{ value, isOutside, text }];
    const inside = sign < 0 ? Math.ceil(near) : Math.floor(near);
    const least = readDecimal(String(isOutside && isWhole(value) ? near - sign : inside));
    return [{ value: least ?? value, isOutside: false, text }];
  });
  return edges.sort((a, b) => admitted(a, b, sign))[0] ?? null;
}

/** Below 0: the first admits less. */
function admitted(a: Edge, b: Edge, sign: number): number {
  return compareDecimals(a.value, b.value) * sign || Number(b.isOutside) - Number(a.isOutside);
}

function edge(before: Edge | null, after: Edge | null, { inclusive, sign }: Side): Finding[] {
  if (before === null && after === null) return [];
  const [name, from = 'any'] = (before?.text ?? '').split(' ');
  const [nameNow = inclusive, to = 'any'] = (after?.text ?? name ?? '').split(' ');
  const same = before === null || after === null || name === nameNow;
  const what = same ? `${name || nameNow} ${from} → ${to}` : `${before.text} → ${after.text}`;
  if (after === null) return found('widened', what);
  if (before === null) return found('narrowed', what);
  const order = admitted(after, before, sign);
  return order === 0 ? [] : found(order > 0 ? 'widened' : 'narrowed', what);
}

function found(effect: Effect, what: string): Finding[] {
  return [{ at: '', effect, what }];
}

function types(before: Json | undefined, after: Json | undefined): Finding[] {
  const [old, now] = [typeSet(before), typeSet(after)];
  // Integers are numbers.
  const covers = (set: ReadonlySet<string>, type: string) => set.has(type) || (type === 'integer' && set.has('number'));
  const lost = [...old].filter((type) => !covers(now, type));
  const gained = [...now].filter((type) => !covers(old, type));
  if (before === undefined && after === undefined) return [];
  const what = `type ${shown(before)} → ${shown(after)}`;
  if (after === undefined) return found('widened', what);
  if (before === undefined) return found('narrowed', what);
  if (lost.length > 0) return found(gained.length > 0 ? 'changed' : 'narrowed', what);
  return gained.length > 0 ? found('widened', what) : [];
}

function typeSet(type: Json | undefined): ReadonlySet<string> {
  return new Set((Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string'));
}

function values(before: JsonObject, after: JsonObject): Finding[] {
  const [listed, listedNow] = [before, after].map((schema) => writtenValue(schema, 'enum') ?? schema['enum']);
  if (!Array.isArray(listed) && !Array.isArray(listedNow)) return [];
  if (!Array.isArray(listedNow)) return found('widened', 'enum removed');
  if (!Array.isArray(listed)) return found('narrowed', `enum added: ${shown(after['enum'])}`);
  const [old, now] = [listed.map(comparable), listedNow.map(comparable)];
  const lost = old.filter((each) => !now.includes(each));
  const gained = now.filter((each) => !old.includes(each));
  return [
    ...(lost.length > 0 ? found('narrowed', `enum lost ${cut(lost.join(', '))}`) : []),
    ...(gained.length > 0 ? found('widened', `enum gained ${cut(gained.join(', '))}`) : []),
  ];
}

/** `sign`: 1 if a larger bound admits more. */
function bound(name: string, before: Json | undefined, after: Json | undefined, sign: number): Finding[] {
  if (before === after) return [];
  const what = `${name} ${shown(before)} → ${shown(after)}`;
  if (typeof after !== 'number') return found('widened', what);
  if (typeof before !== 'number') return found('narrowed', what);
  return found((after - before) * sign > 0 ? 'widened' : 'narrowed', what);
}

function required(before: readonly string[], after: readonly string[]): Finding[] {
  const added = after.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !after.includes(name));
  return [
    ...added.flatMap((name) => found('narrowed', `"${name}" is required now`)),
    ...removed.flatMap((name) => found('widened', `"${name}" is not required any more`)),
  ];
}

function namesIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

function multiples(before: JsonObject, after: JsonObject): Finding[] {
  const [from, to] = [decimalAt(before, 'multipleOf'), decimalAt(after, 'multipleOf')];
  if (from === null && to === null) return [];
  const what = `multipleOf ${from?.text ?? 'any'} → ${to?.text ?? 'any'}`;
  if (to === null) return found('widened', what);
  if (from === null) return found('narrowed', what);
  if (compareDecimals(from.decimal, to.decimal) === 0) return [];
  if (isDecimalMultiple(to.decimal, from.decimal)) return found('narrowed', what);
  return found(isDecimalMultiple(from.decimal, to.decimal) ? 'widened' : 'changed', what);
}

function uniqueness(before: boolean, after: boolean): Finding[] {
  if (before === after) return [];
  return after ? found('narrowed', 'items must be unique now') : found('widened', 'items need not be unique any more');
}

function opaque(name: string, before: string | undefined, after: string | undefined): Finding[] {
  if (before === undefined && after === undefined) return [];
  if (after === undefined) return found('widened', `${name} removed`);
  if (before === undefined) return found('narrowed', `${name} added`);
  return before === after ? [] : found('changed', `${name} changed`);
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'any' : cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
