/** The keywords of JSON Schema 2020-12 that validate, and the form that each must have. All others are annotations. */

import { didYouMean } from '../text/nearest-name.ts';
import { isObject, kindOf } from './json.ts';
import type { KnownFields } from './misspelt-fields.ts';

type KeywordKind = 'schema' | 'schemas' | 'schemaMap' | 'pattern' | 'plain';

interface Keyword {
  readonly kind: KeywordKind;
  /** Returns why the value is not valid; null if it is. */
  readonly check: (value: unknown) => string | null;
  /** The text to write instead. */
  readonly hint: (name: string, value: unknown) => string;
}

const mustBe = (fits: boolean, what: string, value: unknown): string | null =>
  fits ? null : `is ${shownValue(value)}: it must be ${what}`;

/** Returns small values as they are written, and the kind of others. */
function shownValue(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return 'an empty list';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.length <= 40 ? JSON.stringify(value) : kindOf(value);
}

const write = (example: string) => (name: string) => `Write ${name}: ${example}.`;

const schema: Keyword = {
  kind: 'schema',
  check: (value) => mustBe(isObject(value) || typeof value === 'boolean', 'a schema, an object or a boolean', value),
  hint: write('{ type: string }'),
};
const schemas: Keyword = {
  kind: 'schemas',
  check: (value) => mustBe(Array.isArray(value) && value.length > 0, 'a list of at least one schema', value),
  hint: write('[{ $ref: "#/components/schemas/NAME" }]'),
};
const schemaMap: Keyword = {
  kind: 'schemaMap',
  check: (value) => mustBe(isObject(value), 'an object of schemas by name', value),
  hint: write('{ title: { type: string } }'),
};
const number: Keyword = {
  kind: 'plain',
  check: (value) => mustBe(typeof value === 'number', 'a number', value),
  hint: write('100, without quotation marks'),
};
const count: Keyword = {
  kind: 'plain',
  check: (value) => mustBe(Number.isInteger(value) && Number(value) >= 0, 'a whole number, 0 or greater', value),
  hint: write('1, without quotation marks'),
};
const flag: Keyword = {
  kind: 'plain',
  check: (value) => mustBe(typeof value === 'boolean', 'true or false', value),
  hint: write('true, without quotation marks'),
};
const isTexts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Names the first item of a list that is not a string. */
function namesFault(value: unknown): string | null {
  if (!Array.isArray(value)) return mustBe(false, 'a list of property names', value);
  const index = value.findIndex((each) => typeof each !== 'string');
  return index < 0 ? null : `has ${shownValue(value[index])} as item ${index + 1}: it must list property names`;
}

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
    hint: write('0.01'),
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
  required: {
    kind: 'plain',
    check: namesFault,
    hint: () => 'Write required: [title, author] beside "properties", with the names of the properties.',
  },
  dependentRequired: {
    kind: 'plain',
    check: (value) =>
      mustBe(
        isObject(value) && Object.values(value).every(isTexts),
        'an object with a list of property names for each name',
        value,
      ),
    hint: write('{ creditCard: [billingAddress] }'),
  },
  pattern: {
    kind: 'pattern',
    check: (value) => mustBe(typeof value === 'string', 'a regular expression', value),
    hint: write("'^[a-z]+$', in single quotation marks"),
  },
  format: {
    kind: 'plain',
    check: (value) => mustBe(typeof value === 'string', 'a string', value),
    hint: write('date-time'),
  },
  type: {
    kind: 'plain',
    check: (value) => {
      const types: readonly unknown[] = Array.isArray(value) ? value : [value];
      const bad = types.find((each) => typeof each !== 'string' || !TYPES.has(each));
      if (types.length > 0 && bad === undefined) return null;
      if (types.length === 0) return 'is an empty list: it must name a type';
      return `is ${JSON.stringify(bad)?.slice(0, 60)}, which is not a type`;
    },
    hint: (_, value) =>
      (typeof value === 'string' ? didYouMean(value, TYPES) : null) ??
      `Write type: ${[...TYPES].slice(0, -1).join(', ')} or ${[...TYPES].at(-1)}.`,
  },
  enum: {
    kind: 'plain',
    // An empty list admits nothing, which JSON Schema discourages but allows.
    check: (value) => mustBe(Array.isArray(value), 'a list of values', value),
    hint: write('[small, large]'),
  },
  const: { kind: 'plain', check: () => null, hint: write('small') },
};

/** Keywords that only describe: those of JSON Schema in any draft, and of OpenAPI. */
const ANNOTATIONS = [
  ...['$anchor', '$comment', '$defs', '$dynamicAnchor', '$dynamicRef', '$id', '$recursiveAnchor', '$recursiveRef'],
  ...['$ref', '$schema', '$vocabulary', 'additionalItems', 'contentEncoding', 'contentMediaType', 'contentSchema'],
  ...['default', 'definitions', 'dependencies', 'deprecated', 'description', 'discriminator', 'example', 'examples'],
  ...['externalDocs', 'id', 'nullable', 'readOnly', 'title', 'writeOnly', 'xml'],
];

/** Keywords, by names of other languages and drafts that say the same. */
const OTHERWISE: Readonly<Record<string, string>> = {
  minimum: 'min minValue min_value gte ge',
  maximum: 'max maxValue max_value lte le',
  exclusiveMinimum: 'exclusiveMin gt positive',
  exclusiveMaximum: 'exclusiveMax lt negative',
  minLength: 'minLen length len',
  maxLength: 'maxLen size',
  pattern: 'regex regexp match matches',
  required: 'optional mandatory',
  enum: 'values choices oneof',
  uniqueItems: 'unique uniqueItem',
  multipleOf: 'divisibleBy step',
  not: 'disallow',
  allOf: 'extends',
};

/** All keywords of schemas. */
export const SCHEMA_KEYWORDS: KnownFields = {
  what: 'a schema',
  names: new Set([...Object.keys(keywords), ...ANNOTATIONS]),
  otherwise: new Map(
    Object.entries(OTHERWISE).flatMap(([meant, names]) => names.split(' ').map((name) => [name, meant])),
  ),
};

export function keywordOf(name: string): Keyword | undefined {
  return Object.hasOwn(keywords, name) ? keywords[name] : undefined;
}

/** Reports whether the keyword is of the vocabulary "validation", which constrains the value itself. */
export function isAssertion({ kind }: Keyword): boolean {
  return kind === 'plain' || kind === 'pattern';
}
