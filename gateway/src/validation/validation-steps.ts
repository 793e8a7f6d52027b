/**
 * Bounds what validating a value takes (docs/decisions.md#validation-bounded): a schema that refers to itself in several
 * branches is tried in all of them at each level, which doubles the work with each.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json } from '../artifact/format.ts';
import type { StepBudget } from '../patterns/step-budget.ts';
import { isObject } from '../spec/json.ts';

const KEYWORD = 'x-gw-step';
/** What entering a schema costs, in steps of a pattern. */
const STEPS_A_SCHEMA = 20;

/** Throws StepsExceeded, out of a validation, where the budget does not suffice. */
export function addSteps(ajv: Ajv2020, steps: StepBudget): void {
  const validate = () => {
    steps.take(STEPS_A_SCHEMA);
    return true;
  };
  ajv.addKeyword({ keyword: KEYWORD, before: 'anyOf', schema: false, errors: false, validate });
}

/** A schema of the table, which others refer to: each time that it is entered counts. */
export function withSteps(schema: Json): Json {
  return isObject(schema) ? { [KEYWORD]: true, ...(schema as { readonly [name: string]: Json }) } : schema;
}
