/** A value that a schema's validator admits, made by one strategy after the other until one does. */
import type { Json, SchemaRef } from '../artifact/format.ts';
import { patternReader } from '../patterns/pattern.ts';
import { DEFAULT_STEPS, StepBudget, StepsExceeded } from '../patterns/step-budget.ts';
import type { Schemas } from '../validation/schemas/schemas.ts';
import { type Source, type Strategy, Unmakeable, ValueGenerator } from './generator.ts';
import { valueFor } from './value.ts';

/** From the most readable strategy to the one most likely to be valid. */
const STRATEGIES: readonly Strategy[] = [
  { examples: 'all', optionalDepth: 4, branches: 'first', conditions: 'ignored', text: 'format' },
  { examples: 'scalars', optionalDepth: 4, branches: 'first', conditions: 'ignored', text: 'format' },
  { examples: 'none', optionalDepth: 4, branches: 'first', conditions: 'met', text: 'pattern' },
  { examples: 'scalars', optionalDepth: 3, branches: 'any', conditions: 'ignored', text: 'format' },
  { examples: 'none', optionalDepth: 2, branches: 'any', conditions: 'met', text: 'pattern' },
  { examples: 'none', optionalDepth: 1, branches: 'any', conditions: 'not met', text: 'format' },
  { examples: 'none', optionalDepth: -1, branches: 'first', conditions: 'met', text: 'pattern' },
  { examples: 'none', optionalDepth: -1, branches: 'any', conditions: 'not met', text: 'format' },
  { examples: 'none', optionalDepth: 0, branches: 'any', conditions: 'ignored', text: 'pattern' },
  { examples: 'none', optionalDepth: -1, branches: 'any', conditions: 'met', text: 'pattern' },
];

/** Schemas visited for one answer in all manners together: about 50 ms. Past it, the answer has no value. */
const MOST_STEPS_OF_ALL = 60_000;

/** `valid: false`: no valid value was found, and this is the last attempt; undefined if no value could be made. */
export interface MadeValue {
  readonly value: Json | undefined;
  readonly valid: boolean;
}

export class ValueMaker {
  readonly #source: Source;
  readonly #schemas: Schemas;
  /** By schema: the first strategy that made a valid value, or else the last value made. */
  readonly #known = new Map<string, number | MadeValue>();

  /** `table`: the schemas that `schemas` compiles validators from. */
  constructor(table: { readonly [id: string]: Json }, schemas: Schemas) {
    const steps = new StepBudget(DEFAULT_STEPS);
    const read = patternReader(steps);
    const test = (pattern: string, name: string) => {
      steps.begin(0, name.length);
      return read(pattern).test(name);
    };
    this.#source = { schemas: table, test };
    this.#schemas = schemas;
  }

  /** Returns the same value for the same seed. */
  make(schema: SchemaRef, seed: string): MadeValue {
    const known = this.#known.get(schema.$ref) ?? this.#explore(schema);
    return typeof known === 'number' ? this.#make(schema, seed, known).made : known;
  }

  /** Tries manners once for each schema, and not for each request. */
  #explore(schema: SchemaRef): number | MadeValue {
    const { made, strategy } = this.#make(schema, '', 0);
    const known = made.valid ? strategy : made;
    this.#known.set(schema.$ref, known);
    return known;
  }

  #make(schema: SchemaRef, seed: string, first: number): { readonly made: MadeValue; readonly strategy: number } {
    let value: Json | undefined;
    let steps = 0;
    for (let i = 0; i < STRATEGIES.length && steps < MOST_STEPS_OF_ALL; i++) {
      const strategy = (first + i) % STRATEGIES.length;
      const generator = new ValueGenerator(this.#source, STRATEGIES[strategy] as Strategy, `${seed} ${strategy}`);
      const made = this.#attempt(schema, generator);
      steps += generator.steps;
      if (made === undefined) continue;
      if (this.isValid(schema, made)) return { made: { value: made, valid: true }, strategy };
      value = made;
    }
    return { made: { value, valid: false }, strategy: 0 };
  }

  isValid(schema: SchemaRef, value: Json): boolean {
    this.#schemas.steps.begin(0, 0);
    try {
      return this.#schemas.validator(schema)(value) === null;
    } catch (error) {
      if (!(error instanceof StepsExceeded)) throw error;
      return false;
    }
  }

  #attempt(schema: SchemaRef, generator: ValueGenerator): Json | undefined {
    try {
      return valueFor([{ $ref: schema.$ref }], generator);
    } catch (error) {
      if (!(error instanceof Unmakeable || error instanceof StepsExceeded)) throw error;
      return undefined;
    }
  }
}
