/**
 * `enum` (JSON Schema 2020-12, section 6.1.2). It replaces Ajv's, which compares a value with each of the list: 1,000
 * texts would cost a body of 1 MiB more than a second.
 */
import { _, type Ajv2020, type Code, type KeywordCxt } from 'ajv/dist/2020.js';
import type { Json } from '../../artifact/format.ts';
import { parseExactly } from '../../json/exact-json.ts';
import { comparable, isStandIn } from '../../json/stand-ins.ts';
import type { StepBudget } from '../../patterns/step-budget.ts';
import { writtenText, writtenValue } from './keyword-text.ts';

/** Values that generated code compares one by one. */
const FEW = 8;
/** Units of each value within a value that is compared. */
const UNITS_A_VALUE = 100;

type Scalar = string | number | boolean | null;

const isScalar = (value: Json): value is Scalar => typeof value !== 'object' || value === null;
const isComposite = (value: Json): value is Exclude<Json, Scalar> => !isScalar(value);

/** Values within the value, itself included; `most` and no more are counted. */
function sizeOf(value: Json, most: number): number {
  let size = 0;
  const waiting: Json[] = [value];
  for (let next = waiting.pop(); next !== undefined && size < most; next = waiting.pop()) {
    size++;
    if (!isComposite(next)) continue;
    const inner: readonly Json[] = Array.isArray(next) ? next : Object.values(next);
    if (size + inner.length > most) return most;
    waiting.push(...inner);
  }
  return size;
}

/** Reports whether a value is one of the list. */
function memberTest(values: readonly Json[], steps: StepBudget): (value: Json) => boolean {
  const isDecimal = (each: Json) => typeof each === 'number' && isStandIn(each);
  const scalars = new Set(values.filter((each) => !isComposite(each) && !isDecimal(each)));
  const decimals = new Set(values.filter(isDecimal).map(comparable));
  const composites = new Set(values.filter(isComposite).map(comparable));
  const largest = Math.max(0, ...values.filter(isComposite).map((each) => sizeOf(each, Number.POSITIVE_INFINITY)));
  return (value) => {
    if (!isComposite(value))
      return scalars.has(value) || (decimals.size > 0 && isDecimal(value) && decimals.has(comparable(value)));
    if (composites.size === 0) return false;
    const size = sizeOf(value, largest + 1);
    steps.work(size * UNITS_A_VALUE);
    return size <= largest && composites.has(comparable(value));
  };
}

/** Replaces Ajv's keyword, with its errors. An empty list admits no value. */
export function addEnum(ajv: Ajv2020, steps: StepBudget): void {
  ajv.removeKeyword('enum');
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode, params }) => _`{allowedValues: ${params['allowed'] ?? schemaCode}}`,
    },
    code: (cxt: KeywordCxt) => {
      const { gen, data } = cxt;
      const written = writtenText(cxt.parentSchema, 'enum');
      if (written !== undefined) cxt.setParams({ allowed: gen.scopeValue('schema', { ref: parseExactly(written) }) });
      const values = (writtenValue(cxt.parentSchema, 'enum') ?? cxt.schema) as readonly Json[];
      if (values.length === 0) return cxt.fail();
      const isOneOf = (scalars: readonly Scalar[]): Code => {
        return scalars.map((each) => _`${data} === ${each}`).reduce((some, each) => _`${some} || ${each}`);
      };
      if (written === undefined && values.length <= FEW && values.every(isScalar)) return cxt.pass(isOneOf(values));
      const test = gen.scopeValue('func', { ref: memberTest(values, steps) });
      return cxt.pass(_`${test}(${data})`);
    },
  });
}
