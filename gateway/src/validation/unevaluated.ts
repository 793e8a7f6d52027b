/**
 * `unevaluatedProperties` and `unevaluatedItems` (JSON Schema 2020-12, section 11). Ours, since Ajv's do not see what
 * `contains` evaluates and count what an `if` that fails has seen, and since keeping its books costs every `anyOf`
 * of every schema. What is evaluated is planned at load; a request pays only for the branches that may hold.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../artifact/format.ts';
import type { Pattern } from '../patterns/pattern.ts';
import { isObject } from '../spec/json.ts';

type Holds = (value: object) => boolean;

/** What a schema evaluates of a value that it admits. */
interface Plan {
  readonly names: Set<string>;
  readonly patterns: Pattern[];
  allNames: boolean;
  /** Items from the front. */
  count: number;
  readonly contains: ((item: unknown) => boolean)[];
  readonly conditions: { readonly holds: Holds; readonly yes: Plan; readonly no: Plan }[];
}

const newPlan = (): Plan => ({
  names: new Set(),
  patterns: [],
  allNames: false,
  count: 0,
  contains: [],
  conditions: [],
});

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
const isSchema = (value: Json | undefined): value is JsonObject => isObject(value);
const none: readonly Json[] = [];

class Planner {
  readonly #ajv: Ajv2020;
  /** A schema of the artifact's table, by its reference. */
  readonly #schemaOf: (ref: string) => Json | undefined;
  readonly #read: (source: string) => Pattern;

  constructor(ajv: Ajv2020, schemaOf: (ref: string) => Json | undefined, read: (source: string) => Pattern) {
    this.#ajv = ajv;
    this.#schemaOf = schemaOf;
    this.#read = read;
  }

  planOf(schema: Json | undefined): Plan {
    const plan = newPlan();
    this.#add(plan, schema, new Set());
    return plan;
  }

  #add(plan: Plan, schema: Json | undefined, seen: ReadonlySet<Json>): void {
    if (!isSchema(schema) || seen.has(schema)) return;
    if (seen.size > 0 && schema['unevaluatedProperties'] !== undefined) plan.allNames = true;
    if (seen.size > 0 && schema['unevaluatedItems'] !== undefined) plan.count = Number.POSITIVE_INFINITY;
    this.#addOwn(plan, schema);
    const inner = new Set([...seen, schema]);
    const { $ref, allOf, anyOf, oneOf, dependentSchemas } = schema;
    if (typeof $ref === 'string') this.#add(plan, this.#schemaOf($ref), inner);
    for (const each of isList(allOf) ? allOf : none) this.#add(plan, each, inner);
    for (const each of [...(isList(anyOf) ? anyOf : none), ...(isList(oneOf) ? oneOf : none)]) {
      this.#addCondition(plan, this.#holds(each), [each], undefined, inner);
    }
    for (const [name, each] of Object.entries(isSchema(dependentSchemas) ? dependentSchemas : {})) {
      this.#addCondition(plan, (value) => Object.hasOwn(value, name), [each], undefined, inner);
    }
    if (schema['if'] === undefined) return;
    this.#addCondition(plan, this.#holds(schema['if']), [schema['if'], schema['then']], schema['else'], inner);
  }

  #addOwn(plan: Plan, schema: JsonObject): void {
    const { properties, patternProperties, additionalProperties, prefixItems, items, contains } = schema;
    for (const name of Object.keys(isSchema(properties) ? properties : {})) plan.names.add(name);
    for (const pattern of Object.keys(isSchema(patternProperties) ? patternProperties : {})) {
      plan.patterns.push(this.#read(pattern));
    }
    if (additionalProperties !== undefined) plan.allNames = true;
    if (isList(prefixItems)) plan.count = Math.max(plan.count, prefixItems.length);
    if (items !== undefined) plan.count = Number.POSITIVE_INFINITY;
    if (contains !== undefined) plan.contains.push(this.validator(contains));
  }

  #addCondition(
    plan: Plan,
    holds: Holds,
    then: readonly (Json | undefined)[],
    otherwise: Json | undefined,
    seen: ReadonlySet<Json>,
  ): void {
    const yes = newPlan();
    for (const each of then) this.#add(yes, each, seen);
    const no = newPlan();
    this.#add(no, otherwise, seen);
    if (isEmpty(yes) && isEmpty(no)) return;
    plan.conditions.push({ holds, yes, no });
  }

  /** Remembered for each value: values in values, each asked twice, would be asked exponentially often. */
  #holds(schema: Json): Holds {
    const validate = this.validator(schema);
    const known = new WeakMap<object, boolean>();
    return (value) => {
      let verdict = known.get(value);
      if (verdict === undefined) {
        verdict = validate(value);
        known.set(value, verdict);
      }
      return verdict;
    };
  }

  /** Compiled when first asked: schemas refer to each other. */
  validator(schema: Json): (value: unknown) => boolean {
    if (typeof schema === 'boolean') return () => schema;
    let validate: ((value: unknown) => unknown) | undefined;
    return (value) => {
      validate ??= this.#ajv.compile(isSchema(schema) ? schema : {});
      return validate(value) === true;
    };
  }
}

function isEmpty({ names, patterns, allNames, count, contains, conditions }: Plan): boolean {
  const size = names.size + patterns.length + count + contains.length + conditions.length;
  return size === 0 && !allNames;
}

/** The plan and those of its conditions that hold. */
function active(plan: Plan, value: object, found: Plan[] = []): readonly Plan[] {
  found.push(plan);
  for (const { holds, yes, no } of plan.conditions) active(holds(value) ? yes : no, value, found);
  return found;
}

const evaluatesName = (plans: readonly Plan[], name: string) =>
  plans.some(({ names, patterns }) => names.has(name) || patterns.some((each) => each.test(name)));

function evaluatesItem(plans: readonly Plan[], index: number, item: unknown): boolean {
  return plans.some(({ count, contains }) => index < count || contains.some((holds) => holds(item)));
}

/** A function as Ajv wants it: what is wrong stands beside it. */
interface Verdict {
  (value: object): boolean;
  errors?: Partial<ErrorObject>[];
}

/** The first property or item that `schema` refuses and nothing else has evaluated. */
type Find = (value: object, plan: Plan, admits: (each: unknown) => boolean) => string | number | undefined;

function findProperty(value: object, plan: Plan, admits: (each: unknown) => boolean): string | undefined {
  const plans = active(plan, value);
  if (plans.some(({ allNames }) => allNames)) return undefined;
  return Object.keys(value).find((name) => !evaluatesName(plans, name) && !admits(Reflect.get(value, name)));
}

function findItem(value: object, plan: Plan, admits: (each: unknown) => boolean): number | undefined {
  if (!Array.isArray(value)) return undefined;
  const plans = active(plan, value);
  const index = value.findIndex((item: unknown, i) => !evaluatesItem(plans, i, item) && !admits(item));
  return index < 0 ? undefined : index;
}

/** Puts both keywords in place of Ajv's. `schemaOf`: what the references in schemas lead to. */
export function addUnevaluated(
  ajv: Ajv2020,
  schemaOf: (ref: string) => Json | undefined,
  read: (source: string) => Pattern,
): void {
  const planner = new Planner(ajv, schemaOf, read);
  const add = (keyword: string, type: 'object' | 'array', param: string, find: Find) => {
    const compile = (schema: Json, parent: JsonObject): Verdict => {
      const plan = planner.planOf(parent);
      const admits = planner.validator(schema);
      const validate: Verdict = (value) => {
        const found = find(value, plan, admits);
        if (found === undefined) return true;
        const error: Partial<ErrorObject> = {
          keyword,
          message: `must NOT have ${type === 'object' ? 'unevaluated properties' : 'unevaluated items'}`,
          params: { [param]: found },
        };
        validate.errors = [error];
        return false;
      };
      return validate;
    };
    ajv.removeKeyword(keyword);
    ajv.addKeyword({ keyword, type, schemaType: ['boolean', 'object'], compile });
  };
  add('unevaluatedProperties', 'object', 'unevaluatedProperty', findProperty);
  add('unevaluatedItems', 'array', 'unevaluatedItem', findItem);
  ajv.opts.unevaluated = false;
}
