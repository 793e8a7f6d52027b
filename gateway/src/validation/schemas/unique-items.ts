/**
 * `uniqueItems` (JSON Schema 2020-12, section 6.4.3). It replaces Ajv's, which compares each item with every other: a
 * body of 1 MiB would block the event loop for minutes.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import type { Json } from '../../artifact/format.ts';
import type { StepBudget } from '../../patterns/step-budget.ts';

interface Verdict {
  (items: readonly Json[]): boolean;
  errors?: Partial<ErrorObject>[];
}

/** Units of looking up one value. */
const UNITS_A_VALUE = 100;

/**
 * Numbers for JSON values: equal values have the same one. A value within values is looked at once, however many lists
 * ask for it.
 */
class ValueNumbers {
  readonly #steps: StepBudget;
  readonly #scalars = new Map<Json, number>();
  /** Composite values by the numbers of their members. */
  readonly #composites = new Map<string, number>();
  readonly #known = new WeakMap<object, number>();
  #last = 0;

  constructor(steps: StepBudget) {
    this.#steps = steps;
  }

  of(value: Json): number {
    if (typeof value !== 'object' || value === null) return this.#numberIn(this.#scalars, value);
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const number = this.#numberIn(this.#composites, this.#keyOf(value));
    this.#known.set(value, number);
    return number;
  }

  #keyOf(value: object): string {
    if (Array.isArray(value)) return `[${value.map((each: Json) => this.of(each)).join()}`;
    const members = Object.keys(value).map((name) => `${this.of(name)}:${this.of(Reflect.get(value, name))}`);
    return `{${(members.length > 1 ? members.sort() : members).join()}`;
  }

  #numberIn<K>(numbers: Map<K, number>, key: K): number {
    this.#steps.work(UNITS_A_VALUE);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, ++this.#last);
    return this.#last;
  }
}

/** Puts the keyword in place of Ajv's, with its errors. */
export function addUniqueItems(ajv: Ajv2020, steps: StepBudget): void {
  let numbers = new ValueNumbers(steps);
  let round = steps.round;
  /** The first two items that are equal as JSON values. */
  const findDuplicate = (items: readonly Json[]): { readonly i: number; readonly j: number } | null => {
    if (round !== steps.round) numbers = new ValueNumbers(steps);
    round = steps.round;
    const seen = new Map<number, number>();
    for (const [i, item] of items.entries()) {
      const number = numbers.of(item);
      const j = seen.get(number);
      if (j !== undefined) return { i, j };
      seen.set(number, i);
    }
    return null;
  };
  const compile = (unique: boolean): Verdict => {
    const validate: Verdict = (items) => {
      const found = unique ? findDuplicate(items) : null;
      if (found === null) return true;
      const message = `must NOT have duplicate items (items ## ${found.j} and ${found.i} are identical)`;
      validate.errors = [{ keyword: 'uniqueItems', message, params: found }];
      return false;
    };
    return validate;
  };
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', compile });
}
