/**
 * Meters the validation of a value (docs/decisions.md#validation-bounded): each schema has a cost of entry, which
 * generated code counts. A schema that refers to itself in several branches is tried in all of them at each level,
 * which doubles the work with each.
 */
import { _, type Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../artifact/format.ts';
import type { StepBudget } from '../../patterns/step-budget.ts';
import { isList, isObject } from '../../spec/json.ts';

/** Units of entering a schema, whatever the value. */
const ENTRY = 'x-gw-units';
/** Units of each character of a text. */
const TEXT = 'x-gw-text-units';
/** Units of each item of a list. */
const ITEM = 'x-gw-item-units';
/** Units of each member of an object that several schemas go through. */
const MEMBER = 'x-gw-member-units';

/** Units of a function call, of a keyword, and of a name that is looked up in an object. */
const COST = { entry: 20, keyword: 4, name: 4, branch: 20, item: 6, member: 20, length: 3, format: 20 };

const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
const SCHEMA_MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'] as const;
const SCHEMAS: ReadonlySet<string> = new Set([
  ...(['not', 'if', 'then', 'else', 'items', 'contains', 'propertyNames'] as const),
  ...(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'additionalItems'] as const),
]);
const LISTS: ReadonlySet<string> = new Set(SCHEMA_LISTS);
const MAPS: ReadonlySet<string> = new Set(SCHEMA_MAPS);

/** Keywords that go through a text, each with units of a character. */
const OF_TEXT: Readonly<Record<string, number>> = {
  minLength: COST.length,
  maxLength: COST.length,
  format: COST.format,
};

/** Formats that decode and encode labels: 0.4 µs a character. */
const OF_NAMES: ReadonlySet<unknown> = new Set(['hostname', 'idn-hostname', 'idn-email']);
const NAME_UNITS = 400;

function nameUnits({ format }: JsonObject): number {
  return OF_NAMES.has(format) ? NAME_UNITS : 0;
}

/** Makes generated code count. It throws StepsExceeded or TimeExceeded, out of a validation. */
export function addSteps(ajv: Ajv2020, steps: StepBudget): void {
  const counts = (keyword: string, type: 'string' | 'array' | null, before: string) => {
    ajv.addKeyword({
      keyword,
      before,
      schemaType: 'number',
      ...(type === null ? {} : { type }),
      code: ({ gen, data, schema: units }: KeywordCxt) => {
        const budget = gen.scopeValue('obj', { ref: steps });
        const spent = type === null ? _`${units}` : _`${data}.length * ${units}`;
        gen.if(_`(${budget}.units -= ${spent}) < 0`, _`${budget}.look()`);
      },
    });
  };
  counts(ENTRY, null, 'anyOf');
  counts(TEXT, 'string', 'maxLength');
  counts(ITEM, 'array', 'maxItems');
  let last: unknown;
  let members = 0;
  /** One value goes through many branches: its members are counted once. */
  const countMembers = (value: unknown, units: number) => {
    if (value !== last) members = isObject(value) ? Object.keys(value).length : 0;
    last = value;
    steps.work(members * units);
  };
  ajv.addKeyword({
    keyword: MEMBER,
    before: '$ref',
    schemaType: 'number',
    code: ({ gen, data, schema: units }: KeywordCxt) => {
      const count = gen.scopeValue('func', { ref: countMembers });
      gen.code(_`${count}(${data}, ${units})`);
    },
  });
}

/** Returns a schema of the table with the costs of its subschemas. */
export function withSteps(schema: Json): Json {
  return counted(schema, false);
}

/** `isBranch`: others are applied to the same value. */
function counted(schema: Json, isBranch: boolean): Json {
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema as JsonObject).map(([name, value]) => [name, inner(name, value)] as const);
  const names = members.map(([name]) => name);
  const text = names.reduce((units, name) => units + (OF_TEXT[name] ?? 0), 0) + nameUnits(schema);
  const goesThrough = isBranch && names.some((name) => !LIGHT.has(name) || name === '$ref');
  return {
    ...(isLight(schema as JsonObject) ? {} : { [ENTRY]: entryUnits(schema as JsonObject) }),
    ...(text > 0 ? { [TEXT]: text } : {}),
    ...(goesThrough ? { [MEMBER]: COST.member } : {}),
    ...('items' in schema || 'contains' in schema ? { [ITEM]: COST.item } : {}),
    ...Object.fromEntries(members),
  };
}

/** Keywords of schemas that cost next to nothing: reading the value has been counted. */
const LIGHT: ReadonlySet<string> = new Set([
  ...(['type', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'enum', 'const'] as const),
  ...(['format', 'title', 'description', 'default', 'example', 'examples', 'deprecated', 'readOnly'] as const),
  ...(['writeOnly', 'minLength', 'maxLength', '$comment', '$ref'] as const),
]);

/** Reports whether a schema looks at no more than the value itself, apart from its references. */
export function isLight(schema: JsonObject): boolean {
  return Object.keys(schema).every((name) => LIGHT.has(name)) && !hasData(schema);
}

/** Objects and lists are compared as a whole. */
function hasData({ const: constant, enum: values }: JsonObject): boolean {
  const isData = (value: Json | undefined) => typeof value === 'object' && value !== null;
  return isData(constant) || (isList(values) && values.some(isData));
}

function inner(name: string, value: Json): Json {
  if (SCHEMAS.has(name)) return counted(value, false);
  if (LISTS.has(name) && isList(value)) {
    const areBranches = name !== 'prefixItems' && value.length > 1;
    return value.map((each) => counted(each, areBranches));
  }
  if (MAPS.has(name) && isObject(value)) {
    const areBranches = name === 'dependentSchemas';
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([key, each]) => [key, counted(each, areBranches)]),
    );
  }
  return value;
}

function countOf(value: Json | undefined): number {
  return isList(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
}

function entryUnits(schema: JsonObject): number {
  const { properties, required, dependentRequired, patternProperties, const: constant } = schema;
  const listed = SCHEMA_LISTS.reduce((sum, name) => sum + countOf(schema[name]), 0);
  const named = countOf(properties) + countOf(required) + countOf(dependentRequired) + countOf(patternProperties);
  const compared = constant === undefined ? 0 : JSON.stringify(constant).length;
  const keywords = COST.keyword * Object.keys(schema).length;
  return COST.entry + keywords + COST.name * named + COST.branch * listed + compared;
}
