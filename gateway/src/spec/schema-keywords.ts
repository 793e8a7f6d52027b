/** The keywords of JSON Schema 2020-12 that validate, and the form that each must have. All others are annotations. */
import { isObject, kindOf } from './json.ts';

export type KeywordKind = 'schema' | 'schemas' | 'schemaMap' | 'pattern' | 'plain';

interface Keyword {
  readonly kind: KeywordKind;
  /** Returns why the value is not valid; null if it is. */
  readonly check: (value: unknown) => string | null;
}

const mustBe = (fits: boolean, what: string, value: unknown): string | null =>
  fits ? null : `must be ${what}, but is ${kindOf(value)}`;

const schema: Keyword = {
  kind: 'schema',
  check: (value) => mustBe(isObject(value) || typeof value === 'boolean', 'a schema', value),
};
const schemas: Keyword = {
  kind: 'schemas',
  check: (value) => mustBe(Array.isArray(value) && value.length > 0, 'a list of schemas that is not empty', value),
};
const schemaMap: Keyword = {
  kind: 'schemaMap',
  check: (value) => mustBe(isObject(value), 'an object of schemas', value),
};
const number: Keyword = { kind: 'plain', check: (value) => mustBe(typeof value === 'number', 'a number', value) };
const count: Keyword = {
  kind: 'plain',
  check: (value) => mustBe(Number.isInteger(value) && Number(value) >= 0, 'a whole number of 0 or more', value),
};
const flag: Keyword = { kind: 'plain', check: (value) => mustBe(typeof value === 'boolean', 'a boolean', value) };
const isTexts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

const keywords: Readonly<Record<string, Keyword>> = {
  additionalProperties: schema,
  contains: schema,
  else: schema,
  if: schema,
  items: schema,
  not: schema,
  propertyNames: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
  then: schema,
  unevaluatedItems: schema,
  unevaluatedProperties: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  prefixItems: schemas,
  properties: schemaMap,
  patternProperties: schemaMap,
  dependentSchemas: schemaMap,
  maximum: number,
  minimum: number,
  exclusiveMaximum: number,
  exclusiveMinimum: number,
  multipleOf: {
    kind: 'plain',
    check: (value) => mustBe(typeof value === 'number' && value > 0, 'a number greater than 0', value),
  },
  maxLength: count,
  minLength: count,
  maxItems: count,
  minItems: count,
  maxProperties: count,
  minProperties: count,
  maxContains: count,
  minContains: count,
  uniqueItems: flag,
  required: { kind: 'plain', check: (value) => mustBe(isTexts(value), 'a list of property names', value) },
  dependentRequired: {
    kind: 'plain',
    check: (value) =>
      mustBe(isObject(value) && Object.values(value).every(isTexts), 'an object of lists of names', value),
  },
  pattern: { kind: 'pattern', check: (value) => mustBe(typeof value === 'string', 'a regular expression', value) },
  format: { kind: 'plain', check: (value) => mustBe(typeof value === 'string', 'a string', value) },
  type: {
    kind: 'plain',
    check: (value) => {
      const types: readonly unknown[] = Array.isArray(value) ? value : [value];
      const bad = types.find((each) => typeof each !== 'string' || !TYPES.has(each));
      if (types.length > 0 && bad === undefined) return null;
      return `must be one or more of ${[...TYPES].join(', ')}, but is ${JSON.stringify(value)?.slice(0, 60)}`;
    },
  },
  enum: {
    kind: 'plain',
    // An empty list admits nothing, which JSON Schema discourages but allows.
    check: (value) => mustBe(Array.isArray(value), 'a list of values', value),
  },
  const: { kind: 'plain', check: () => null },
};

export function keywordOf(name: string): Keyword | undefined {
  return Object.hasOwn(keywords, name) ? keywords[name] : undefined;
}

/** Reports whether the keyword is of the vocabulary "validation", which constrains the value itself. */
export function isAssertion({ kind }: Keyword): boolean {
  return kind === 'plain' || kind === 'pattern';
}
