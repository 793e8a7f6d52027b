/** What validating takes is bounded, whatever the schemas refer to (docs/decisions.md#validation-bounded). */
import { describe, expect, it } from 'vitest';
import { StepBudget, StepsExceeded } from '../patterns/step-budget.ts';
import type { Json, JsonObject } from '../spec/json.ts';
import { Schemas } from './schemas.ts';

const ref = (id: string) => ({ $ref: `gw:${id}` });

/** Steps that validating took; null where it was stopped. */
function stepsOf(table: JsonObject, value: Json, verbose = false): number | null {
  const steps = new StepBudget(1_000_000);
  steps.begin(0, JSON.stringify(value).length);
  try {
    new Schemas(table, verbose, steps).validator(ref('root'))(value);
    return steps.used;
  } catch (error) {
    if (!(error instanceof StepsExceeded)) throw error;
    return null;
  }
}

const binary = (op: string): Json => ({
  type: 'object',
  required: ['child', 'op'],
  properties: { child: ref('root'), op: { const: op } },
});

function nested(depth: number): Json {
  let value: Json = 1;
  for (let i = 0; i < depth; i++) value = { child: value, op: 'or' };
  return value;
}

describe.each([false, true])('a validation (all errors: %j)', (verbose) => {
  it.each(['anyOf', 'oneOf'])('is stopped where %s tries two branches at each level', (keyword) => {
    const root = { [keyword]: [binary('and'), binary('or'), { type: 'string' }] };
    expect(stepsOf({ root }, nested(40), verbose)).toBeNull();
    expect(stepsOf({ root }, nested(8), verbose)).toBeLessThan(100_000);
  });

  it('is stopped where schemas refer to the next one twice', () => {
    const chain = Array.from({ length: 40 }, (_, i): [string, Json] => {
      return [i === 0 ? 'root' : `f${i}`, { allOf: [ref(`f${i + 1}`), ref(`f${i + 1}`)] }];
    });
    expect(stepsOf(Object.fromEntries([...chain, ['f40', { type: 'integer' }]]), 1, verbose)).toBeNull();
  });

  it('goes through a long list of objects that refer to others', () => {
    const root = { type: 'array', items: ref('pet') };
    const pet = { type: 'object', properties: { owner: ref('owner'), tags: { type: 'array', items: ref('tag') } } };
    const owner = { anyOf: [{ type: 'null' }, ref('person')] };
    const person = { type: 'object', required: ['name'], properties: { name: ref('tag') } };
    const value = Array.from({ length: 20_000 }, () => ({ owner: { name: 'a' }, tags: ['b', 'c', 'd'] }));
    expect(stepsOf({ root, pet, owner, person, tag: { type: 'string' } }, value, verbose)).not.toBeNull();
  });
});
