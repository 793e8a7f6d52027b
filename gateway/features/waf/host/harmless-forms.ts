/** Forms of values that no rule need look at, as schemas describe them. */
import { alphabetOf, get, isObject, type JsonObject, type Obj } from '../../kit.ts';

export type HarmlessForm =
  | { readonly kind: 'number' }
  | {
      readonly kind: 'bytes';
      /** Bytes behind the template. */
      readonly allowed: readonly (readonly [from: number, to: number])[];
      readonly longest: number;
      /** First characters: `0` is a digit, `x` one of base 16, another one is itself in either case. */
      readonly template: string;
    }
  | { readonly kind: 'texts'; readonly texts: readonly string[]; readonly arePlain: boolean };

/** Of values that rules look at, while their name is one that the description has. */
export const ANY = { kind: 'any' } as const;

export const NUMBER: HarmlessForm = { kind: 'number' };
const BOOLEAN: HarmlessForm = { kind: 'texts', texts: ['false', 'true'], arePlain: true };

/** Digits of a text of a pattern: rule 942220 looks for numbers at the ends of 32 bits. */
const MOST_DIGITS = 9;
/** Texts of an enumeration, and bytes of each: beyond them, values are matched by rules. */
const MOST_TEXTS = 200;
const MOST_TEXT_BYTES = 64;
/** Schemas that apply to one value. */
const MOST_SCHEMAS = 64;

const PLAIN = /^[A-Za-z0-9_-]*$/;
const DIGITS = [0x30, 0x39] as const;
const OF_TIME = [DIGITS, [0x2b, 0x2b], [0x2d, 0x2e], [0x3a, 0x3a], [0x5a, 0x5a], [0x7a, 0x7a]] as const;

const FORMATS: Readonly<Record<string, HarmlessForm>> = {
  date: { kind: 'bytes', allowed: [], longest: 10, template: '0000-00-00' },
  'date-time': { kind: 'bytes', allowed: OF_TIME, longest: 40, template: '0000-00-00t00:00:00' },
  time: { kind: 'bytes', allowed: OF_TIME, longest: 30, template: '00:00:00' },
  uuid: { kind: 'bytes', allowed: [], longest: 36, template: 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx' },
};

/** Prefix of references between schemas of an artifact. */
const REFERENCE = 'gw:';

/**
 * Returns the schemas that all apply to a value: itself, those that it refers to, those of `allOf`, and the one that a
 * union has beside null. More than a value has at most are left out, which proves less.
 */
export function applyingSchemas(schemas: readonly unknown[], table: JsonObject): readonly Obj[] {
  return closure(schemas, table, (branches) => (branches.length === 1 ? branches : []));
}

/** Returns the schemas that may apply to a value: also those of each branch of a union or condition. */
export function possibleSchemas(schemas: readonly unknown[], table: JsonObject): readonly Obj[] {
  return closure(schemas, table, (branches, schema) => [...branches, get(schema, 'then'), get(schema, 'else')]);
}

/** `chosen`: which branches of unions apply. */
function closure(
  schemas: readonly unknown[],
  table: JsonObject,
  chosen: (branches: readonly unknown[], schema: Obj) => readonly unknown[],
): readonly Obj[] {
  const found = new Set<Obj>();
  const waiting: unknown[] = [...schemas];
  for (const next of waiting) {
    if (found.size >= MOST_SCHEMAS) break;
    if (!isObject(next) || found.has(next)) continue;
    found.add(next);
    const { $ref, allOf, anyOf, oneOf } = next;
    if (typeof $ref === 'string' && $ref.startsWith(REFERENCE)) waiting.push(get(table, $ref.slice(REFERENCE.length)));
    if (Array.isArray(allOf)) waiting.push(...allOf);
    for (const union of [anyOf, oneOf]) {
      const branches = Array.isArray(union) ? union.filter((each) => get(each, 'type') !== 'null') : [];
      waiting.push(...chosen(branches, next));
    }
  }
  return [...found];
}

/** Types that a value may have besides null; null if the schemas do not say. */
export function typesOf(schemas: readonly Obj[]): readonly string[] | null {
  for (const { type } of schemas) {
    if (typeof type === 'string') return [type];
    if (Array.isArray(type)) return type.map(String).filter((each) => each !== 'null');
  }
  return null;
}

/** Returns null if a value may have another form. `schemas`: all that apply to it. */
export function harmlessForm(schemas: readonly Obj[]): HarmlessForm | null {
  const texts = enumerated(schemas);
  if (texts !== null) return texts;
  const types = typesOf(schemas) ?? [];
  if (types.length > 0 && types.every((type) => type === 'integer' || type === 'number')) return NUMBER;
  if (types.length === 1 && types[0] === 'boolean') return BOOLEAN;
  for (const { format } of schemas) {
    const form = types[0] === 'string' && typeof format === 'string' ? FORMATS[format] : undefined;
    if (form !== undefined) return form;
  }
  return ofPattern(schemas);
}

function enumerated(schemas: readonly Obj[]): HarmlessForm | null {
  for (const { const: single, enum: several } of schemas) {
    const values = single === undefined ? several : [single];
    if (!Array.isArray(values)) continue;
    // A number can be written in several ways.
    if (values.every((each) => typeof each === 'number')) return NUMBER;
    const texts = values
      .filter((each) => typeof each === 'string' || typeof each === 'boolean')
      .map(String)
      .filter((each) => each !== '' && Buffer.byteLength(each) <= MOST_TEXT_BYTES)
      .slice(0, MOST_TEXTS);
    return texts.length === 0 ? null : { kind: 'texts', texts, arePlain: texts.every((each) => PLAIN.test(each)) };
  }
  return null;
}

/**
 * Texts of a few digits. Letters make words of SQL and shells, and base64: an attack may have no other characters (rules
 * 932350, 942470, 944210 and 944300). Rules 942430 and following count `-` and `_`.
 */
function ofPattern(schemas: readonly Obj[]): HarmlessForm | null {
  const lengths = schemas.flatMap(({ maxLength }) => (typeof maxLength === 'number' ? [maxLength] : []));
  for (const { pattern } of schemas) {
    const allowed = typeof pattern === 'string' ? alphabetOf(pattern) : null;
    if (allowed === null || !allowed.every(isOfDigits)) continue;
    return { kind: 'bytes', allowed, longest: Math.min(MOST_DIGITS, ...lengths), template: '' };
  }
  return null;
}

function isOfDigits([from, to]: readonly [number, number]): boolean {
  return from >= DIGITS[0] && to <= DIGITS[1];
}
