/**
 * `unevaluatedProperties` and `unevaluatedItems` (JSON Schema 2020-12, section 11). Implemented here, since Ajv's
 * ignore the items that `contains` evaluates and count those of an `if` that fails, and since their bookkeeping costs
 * every `anyOf` of every schema. Evaluation is planned at load; a request pays only for the branches that may hold.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../artifact/format.ts';
import type { Pattern } from '../../patterns/pattern.ts';
import type { StepBudget } from '../../patterns/step-budget.ts';
import { isObject } from '../../spec/json.ts';

type Holds = (value: object) => boolean;

/** The parts of an admitted value that a schema evaluates. Plans share those of referenced schemas. */
interface Plan {
  readonly names: Set<string>;
  readonly patterns: Pattern[];
  allNames: boolean;
  /** Items from the front. */
  count: number;
  readonly contains: ((item: unknown) => boolean)[];
  /** Plans that apply to the same value unconditionally. */
  readonly always: Plan[];
  readonly conditions: { readonly holds: Holds; readonly yes: readonly Plan[]; readonly no: readonly Plan[] }[];
}

const newPlan = (): Plan => ({
  names: new Set(),
  patterns: [],
  allNames: false,
  count: 0,
  contains: [],
  always: [],
  conditions: [],
});

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
const isSchema = (value: Json | undefined): value is JsonObject => isObject(value);
const none: readonly Json[] = [];

/** Makes one plan for each schema, however often others refer to it. */
class Planner {
  readonly #ajv: Ajv2020;
  /** A schema of the artifact's table, by its reference. */
  readonly #schemaOf: (ref: string) => Json | undefined;
  readonly #read: (source: string) => Pattern;
  readonly #steps: StepBudget;
  readonly #plans = new Map<JsonObject, Plan>();
  readonly #held = new Map<Json, Holds>();
  #round = 0;
  /** Verdicts on the current value: nested values, each checked twice, would be checked exponentially often. */
  #verdicts = new Map<Holds, WeakMap<object, boolean>>();

  constructor(
    ajv: Ajv2020,
    schemaOf: (ref: string) => Json | undefined,
    read: (source: string) => Pattern,
    steps: StepBudget,
  ) {
    this.#ajv = ajv;
    this.#schemaOf = schemaOf;
    this.#read = read;
    this.#steps = steps;
  }

  /** Returns the plan of a schema that has one of the two keywords itself. */
  planOf(schema: JsonObject): Plan {
    const plan = newPlan();
    this.#fill(plan, schema);
    return plan;
  }

  /** Returns plans of schemas that others apply to the same value; those that evaluate nothing are left out. */
  #plansOf(...schemas: readonly (Json | undefined)[]): readonly Plan[] {
    return schemas.filter(isSchema).flatMap((schema) => {
      const known = this.#plans.get(schema);
      if (known !== undefined) return [known];
      const plan = newPlan();
      this.#plans.set(schema, plan);
      if (schema['unevaluatedProperties'] !== undefined) plan.allNames = true;
      if (schema['unevaluatedItems'] !== undefined) plan.count = Number.POSITIVE_INFINITY;
      this.#fill(plan, schema);
      return isEmpty(plan) ? [] : [plan];
    });
  }

  #fill(plan: Plan, schema: JsonObject): void {
    const { properties, patternProperties, additionalProperties, prefixItems, items, contains } = schema;
    for (const name of Object.keys(isSchema(properties) ? properties : {})) plan.names.add(name);
    for (const pattern of Object.keys(isSchema(patternProperties) ? patternProperties : {})) {
      plan.patterns.push(this.#read(pattern));
    }
    if (additionalProperties !== undefined) plan.allNames = true;
    if (isList(prefixItems)) plan.count = Math.max(plan.count, prefixItems.length);
    if (items !== undefined) plan.count = Number.POSITIVE_INFINITY;
    if (contains !== undefined) plan.contains.push(this.validator(contains));

    const { $ref, allOf, anyOf, oneOf, dependentSchemas } = schema;
    if (typeof $ref === 'string') plan.always.push(...this.#plansOf(this.#schemaOf($ref)));
    plan.always.push(...this.#plansOf(...(isList(allOf) ? allOf : none)));
    for (const each of [...(isList(anyOf) ? anyOf : none), ...(isList(oneOf) ? oneOf : none)]) {
      this.#addCondition(plan, this.#holds(each), this.#plansOf(each));
    }
    for (const [name, each] of Object.entries(isSchema(dependentSchemas) ? dependentSchemas : {})) {
      this.#addCondition(plan, (value) => Object.hasOwn(value, name), this.#plansOf(each));
    }
    const { if: condition, then, else: otherwise } = schema;
    if (condition === undefined) return;
    this.#addCondition(plan, this.#holds(condition), this.#plansOf(condition, then), this.#plansOf(otherwise));
  }

  #addCondition(plan: Plan, holds: Holds, yes: readonly Plan[], no: readonly Plan[] = []): void {
    if (yes.length > 0 || no.length > 0) plan.conditions.push({ holds, yes, no });
  }

  /** Reports whether a value fits the schema, asked once for each value. */
  #holds(schema: Json): Holds {
    const known = this.#held.get(schema);
    if (known) return known;
    const validate = this.validator(schema);
    const holds: Holds = (value) => {
      const verdicts = this.#verdictsOf(holds);
      let verdict = verdicts.get(value);
      if (verdict === undefined) {
        verdict = validate(value);
        verdicts.set(value, verdict);
      }
      return verdict;
    };
    this.#held.set(schema, holds);
    return holds;
  }

  #verdictsOf(holds: Holds): WeakMap<object, boolean> {
    if (this.#round !== this.#steps.round) this.#verdicts = new Map();
    this.#round = this.#steps.round;
    const verdicts = this.#verdicts.get(holds) ?? new WeakMap<object, boolean>();
    this.#verdicts.set(holds, verdicts);
    return verdicts;
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

function isEmpty({ names, patterns, allNames, count, contains, always, conditions }: Plan): boolean {
  const size = names.size + patterns.length + count + contains.length + always.length + conditions.length;
  return size === 0 && !allNames;
}

/** Units of looking at one plan for one name or item. */
const UNITS_A_PLAN = 20;

/** The plans that apply to the value, each once. */
function active(plan: Plan, value: object, steps: StepBudget): ReadonlySet<Plan> {
  const found = new Set([plan]);
  // The loop also visits entries that are added during it.
  for (const { always, conditions } of found) {
    for (const each of always) found.add(each);
    for (const { holds, yes, no } of conditions) for (const each of holds(value) ? yes : no) found.add(each);
    steps.work(UNITS_A_PLAN * (1 + always.length + conditions.length));
  }
  return found;
}

function evaluatesName(plans: readonly Plan[], name: string, steps: StepBudget): boolean {
  steps.work(UNITS_A_PLAN * plans.length);
  return plans.some(({ names, patterns }) => names.has(name) || patterns.some((each) => each.test(name)));
}

function evaluatesItem(plans: readonly Plan[], index: number, item: unknown, steps: StepBudget): boolean {
  steps.work(UNITS_A_PLAN * plans.length);
  return plans.some(({ count, contains }) => index < count || contains.some((holds) => holds(item)));
}

/** A function in Ajv's form, with its errors as a member. */
interface Verdict {
  (value: object): boolean;
  errors?: Partial<ErrorObject>[];
}

/** Finds the first property or item that `schema` refuses and no other schema has evaluated. */
type Find = (
  value: object,
  plans: readonly Plan[],
  admits: (each: unknown) => boolean,
  steps: StepBudget,
) => string | number | undefined;

const findProperty: Find = (value, plans, admits, steps) => {
  if (plans.some(({ allNames }) => allNames)) return undefined;
  return Object.keys(value).find((name) => !evaluatesName(plans, name, steps) && !admits(Reflect.get(value, name)));
};

const findItem: Find = (value, plans, admits, steps) => {
  if (!Array.isArray(value)) return undefined;
  const most = Math.max(...plans.map(({ count }) => count));
  const index = value.findIndex((item: unknown, i) => {
    return i >= most && !evaluatesItem(plans, i, item, steps) && !admits(item);
  });
  return index < 0 ? undefined : index;
};

/** Replaces both keywords of Ajv. `schemaOf`: returns the target of a reference. */
export function addUnevaluated(
  ajv: Ajv2020,
  schemaOf: (ref: string) => Json | undefined,
  read: (source: string) => Pattern,
  steps: StepBudget,
): void {
  const planner = new Planner(ajv, schemaOf, read, steps);
  const add = (keyword: string, type: 'object' | 'array', param: string, find: Find) => {
    const compile = (schema: Json, parent: JsonObject): Verdict => {
      const plan = planner.planOf(parent);
      const admits = planner.validator(schema);
      const validate: Verdict = (value) => {
        const found = find(value, [...active(plan, value, steps)], admits, steps);
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
