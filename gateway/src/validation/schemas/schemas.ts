/**
 * JSON Schema validators of one artifact, compiled on first use from its shared table
 * (docs/decisions.md#validators-on-first-use).
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, RoutesFile, SchemaRef } from '../../artifact/format.ts';
import { patternReader } from '../../patterns/pattern.ts';
import { DEFAULT_STEPS, StepBudget } from '../../patterns/step-budget.ts';
import type { ProblemError } from '../../problems.ts';
import { addAllFormats } from '../formats/formats.ts';
import type { TableHelpers } from '../helpers/validation-helpers.ts';
import { withCheapFirst } from './cheap-first.ts';
import { collectRefs, compileMs, MOST_COMPILE_MS, PREFIX } from './compile-time.ts';
import { addEnum } from './enum.ts';
import { addNamedBranch } from './named-branch.ts';
import { addNumberKeywords } from './number-keywords.ts';
import { validateTyped } from './typed.ts';
import { addUnevaluated } from './unevaluated.ts';
import { addUniqueItems } from './unique-items.ts';
import { addSteps, withSteps } from './validation-steps.ts';
import { withoutWideObjects } from './wide-objects.ts';

/** Null if the value is valid. Throws StepsExceeded if its patterns take more than `Schemas.steps` has left. */
export type Validator = (value: unknown) => readonly ErrorObject[] | null;

export class Schemas {
  readonly #table: RoutesFile['schemas'];
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #ready = new Map<string, Json>();
  readonly #verbose: boolean;
  #exhaustive: Schemas | undefined;
  /** Limit of matching patterns. */
  readonly steps: StepBudget;
  /** Helpers for values that take long to validate; null: they are validated here all the same. */
  readonly helpers: TableHelpers | null;
  readonly #heavy = new Map<string, boolean>();

  /** `verbose`: collect all errors of a value, not the first only (dev mode). */
  constructor(
    table: RoutesFile['schemas'],
    verbose: boolean,
    steps = new StepBudget(DEFAULT_STEPS),
    helpers: TableHelpers | null = null,
  ) {
    this.helpers = helpers;
    this.#table = table;
    this.#verbose = verbose;
    this.steps = steps;
    const read = patternReader(steps);
    this.#ajv = new Ajv2020({
      strict: false,
      allErrors: verbose,
      // Inherited members (`toString`) are not properties of the value.
      ownProperties: true,
      // Numbers of JSON that JavaScript reads as infinite are numbers.
      strictNumbers: false,
      validateSchema: false,
      addUsedSchema: false,
      inlineRefs: false,
      logger: false,
      code: { regExp: read as never },
    });
    addAllFormats(this.#ajv);
    addSteps(this.#ajv, steps);
    addEnum(this.#ajv, steps);
    addNumberKeywords(this.#ajv);
    addNamedBranch(this.#ajv);
    addUniqueItems(this.#ajv, steps);
    addUnevaluated(this.#ajv, (ref) => this.#prepared(ref), read, steps);
  }

  /** Returns a validator of values with texts as leaves (see typed.ts). */
  typedValidator(ref: SchemaRef): Validator {
    this.#exhaustive ??= this.#verbose ? this : new Schemas(this.#table, true, this.steps);
    const validate = this.#exhaustive.validator(ref);
    const { steps } = this;
    const validateAgain: Validator = (value) => {
      steps.round++;
      return validate(value);
    };
    return (value) => validateTyped(validateAgain, value);
  }

  /** The validator throws an Error that names the schema if it does not compile. */
  validator({ $ref }: SchemaRef): Validator {
    let validate: ValidateFunction | undefined;
    return (value) => {
      validate ??= this.#compile($ref);
      return validate(value) ? null : (validate.errors ?? []);
    };
  }

  /** Compiles a schema now, not with its first value. Throws as `validator` does. */
  compile({ $ref }: SchemaRef): void {
    this.#compile($ref);
  }

  /** Reports whether compiling the schema, with all that it refers to, would hold up the event loop. */
  isHeavy({ $ref }: SchemaRef): boolean {
    const known = this.#heavy.get($ref);
    if (known !== undefined) return known;
    const isHeavy = compileMs(this.#table, { $ref }, MOST_COMPILE_MS) > MOST_COMPILE_MS;
    this.#heavy.set($ref, isHeavy);
    return isHeavy;
  }

  #compile(ref: string): ValidateFunction {
    const known = this.#compiled.get(ref);
    if (known) return known;
    this.#add(ref);
    const made = this.#ajv.getSchema(ref);
    if (!made) throw new Error(`the artifact has no schema ${ref}`);
    this.#compiled.set(ref, made as ValidateFunction);
    return made as ValidateFunction;
  }

  /** Adds the schema and all that it refers to; each once. */
  #add(ref: string): void {
    const waiting = [ref];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (this.#ajv.schemas[next]) continue;
      const schema = this.#prepared(next);
      if (schema === undefined) throw new Error(`the artifact has no schema ${next}`);
      this.#ajv.addSchema(schema as never, next);
      collectRefs(schema, waiting);
    }
  }

  /** Returns a schema of the table, prepared for Ajv; undefined if the table lacks it. */
  #prepared(ref: string): Json | undefined {
    const known = this.#ready.get(ref);
    if (known !== undefined) return known;
    const schema = this.#table[ref.slice(PREFIX.length)];
    if (schema === undefined) return undefined;
    const ready = withSteps(withoutWideObjects(withCheapFirst(schema, this.#table)));
    this.#ready.set(ref, ready);
    return ready;
  }
}

/** At most this many findings go into a problem document. */
const MOST = 20;

export function describeErrors(errors: readonly ErrorObject[], part: string, field: string): ProblemError[] {
  return errors.slice(0, MOST).map(({ instancePath, message, params }) => ({
    in: part,
    field: part === 'body' ? instancePath || '/' : field + instancePath,
    reason: `${message ?? 'is not valid'}${detail(params)}`,
  }));
}

function detail(params: Record<string, unknown>): string {
  const { additionalProperty, unevaluatedProperty, allowedValues } = params;
  const extra = additionalProperty ?? unevaluatedProperty;
  if (typeof extra === 'string') return `: "${extra}"`;
  return Array.isArray(allowedValues) ? `: ${JSON.stringify(allowedValues)}` : '';
}
