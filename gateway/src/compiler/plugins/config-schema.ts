/** Validates plugin config against the plugin's config-schema.json (JSON Schema 2020-12), filling in defaults. */
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../artifact/format.ts';
import { parseCidr } from '../../headers/client-ip.ts';
import { patternReader } from '../../patterns/pattern.ts';
import { DEFAULT_STEPS, StepBudget, StepsExceeded } from '../../patterns/step-budget.ts';
import { get, kindOf } from '../../spec/json.ts';
import { child, valueAt } from '../../spec/pointer.ts';
import { messageOf } from '../../text/message-of.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { addStandardFormats } from '../../validation/formats/formats.ts';
import { addMultipleOf } from '../../validation/schemas/number-keywords.ts';

export interface ConfigError {
  /** JSON pointer into the config. */
  readonly pointer: string;
  readonly message: string;
  /** The text to write instead. */
  readonly hint: string;
  /** The fault is an expression in the config, and not its shape (E1032). */
  readonly expression: boolean;
}

export type ConfigValidator = (config: JsonObject) => {
  /** The config with the schema's defaults. */
  readonly config: JsonObject;
  readonly errors: readonly ConfigError[];
};

function newAjv(steps: StepBudget, options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    useDefaults: true,
    logger: false,
    addUsedSchema: false,
    verbose: true,
    code: { regExp: patternReader(steps) as never },
    ...options,
  });
  addStandardFormats(ajv);
  addMultipleOf(ajv);
  ajv.addFormat('regex', { type: 'string', validate: isRegExp });
  ajv.addFormat('ip-range', { type: 'string', validate: isIpRange });
  return ajv;
}

const metaSteps = new StepBudget(DEFAULT_STEPS);
let metaAjv: Ajv2020 | undefined;

/** Uses one shared instance, since compiling the meta-schema takes ten times as long as the rest of a validator. */
function mustBeSchema(schema: JsonObject): void {
  metaAjv ??= newAjv(metaSteps, { useDefaults: false });
  metaSteps.begin(0, JSON.stringify(schema).length);
  metaAjv.validateSchema(schema, true);
}

let firstFaultAjv: Ajv2020 | undefined;

/**
 * Returns the first violation of JSON Schema 2020-12: an untrusted schema may have any number of them. Null if the
 * schema is valid.
 */
export function schemaFault(schema: JsonObject): string | null {
  firstFaultAjv ??= newAjv(metaSteps, { useDefaults: false, allErrors: false });
  metaSteps.begin(0, JSON.stringify(schema).length);
  try {
    firstFaultAjv.validateSchema(schema, true);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Throws an Error with the reason if the schema is not valid. */
export function configValidator(schema: JsonObject): ConfigValidator {
  mustBeSchema(schema);
  const steps = new StepBudget(DEFAULT_STEPS);
  const ajv = newAjv(steps, { validateSchema: false });
  const validate: ValidateFunction = ajv.compile(schema);
  return (given) => {
    const config: JsonObject = structuredClone(given);
    steps.begin(0, JSON.stringify(given).length);
    try {
      if (validate(config)) return { config, errors: [] };
    } catch (error) {
      if (!(error instanceof StepsExceeded)) throw error;
      const hint = 'Shorten the values of the config that are matched against patterns.';
      return { config, errors: [{ pointer: '', message: error.message, hint, expression: false }] };
    }
    const errors = (validate.errors ?? []).filter((error, _, all) => !isAboutReference(config, error, all));
    return { config, errors: withoutConsequences(errors.filter(isTelling)).map(describe) };
  };
}

function isRegExp(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

/** An address, or a CIDR range. */
function isIpRange(text: string): boolean {
  try {
    parseCidr(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Values that stand for others until the gateway starts (docs/reference/gateway.md#secrets) or the compiler looks them
 * up.
 */
export function isReference(value: Json | undefined): value is string {
  return typeof value === 'string' && /^(env|file|upstream):\/\//.test(value);
}

/** The text that a reference will be replaced by is not known: only that it is a string is. */
function isAboutReference(config: JsonObject, error: ErrorObject, all: readonly ErrorObject[]): boolean {
  if (!isReference(asJson(valueAt(config, error.instancePath)))) return false;
  if (error.keyword !== 'type') return true;
  return all.some(
    ({ keyword, instancePath }) => /^(anyOf|oneOf)$/.test(keyword) && instancePath === error.instancePath,
  );
}

function asJson(value: unknown): Json | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Leaves out `if` and `propertyNames`: their subschemas have their own errors. */
function isTelling({ keyword }: ErrorObject): boolean {
  return keyword !== 'if' && keyword !== 'propertyNames';
}

/** Leaves out errors of missing properties that are misspelt: both are one fault. */
function withoutConsequences(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unknown = errors.flatMap(({ params, instancePath }) =>
    typeof params['additionalProperty'] === 'string' ? [{ instancePath, name: params['additionalProperty'] }] : [],
  );
  return errors.filter(({ params, instancePath }) => {
    const missing: unknown = params['missingProperty'];
    if (typeof missing !== 'string') return true;
    return !unknown.some((each) => each.instancePath === instancePath && nearestName(each.name, [missing]) !== null);
  });
}

/**
 * Uses the `description` of a `not`, and `x-gw-expects` beside a `pattern`, as messages: those of the validator would
 * not name the fault.
 */
function describe(error: ErrorObject): ConfigError {
  const { instancePath, keyword, message = 'is not valid', params, schema, parentSchema } = error;
  const expression = keyword === 'format' && params['format'] === 'regex';
  const { additionalProperty, allowedValues, missingProperty } = params;
  const place =
    instancePath === '' || typeof missingProperty === 'string' ? 'the config' : `"${instancePath.slice(1)}"`;
  const what = error.propertyName === undefined ? place : `"${error.propertyName}" in ${place}`;
  if (typeof additionalProperty === 'string') {
    const names = Object.keys(get(parentSchema, 'properties') ?? {}).sort();
    const unknown = `${what} has no property "${additionalProperty}" (known: ${names.join(', ') || 'none'})`;
    const hint = didYouMean(additionalProperty, names) ?? `Remove "${additionalProperty}", or use a known property.`;
    return { pointer: child(instancePath, additionalProperty), message: unknown, hint, expression };
  }
  const pointer = instancePath;
  if (typeof missingProperty === 'string') {
    const within = instancePath === '' ? 'the config' : `"${instancePath.slice(1)}"`;
    const property = get(get(parentSchema, 'properties'), missingProperty);
    const hint = `Add "${missingProperty}" to ${within}${meaningOf(property)}`;
    return { pointer, message: `${within} has no "${missingProperty}", which is required`, hint, expression };
  }
  const hint = `Correct ${instancePath === '' ? 'the config' : `"${instancePath.slice(1)}"`}${meaningOf(parentSchema)}`;
  const forbidden = keyword === 'not' ? get(schema, 'description') : undefined;
  if (typeof forbidden === 'string') return { pointer, message: `${what} must not ${forbidden}`, hint, expression };
  const expected = keyword === 'pattern' ? get(parentSchema, 'x-gw-expects') : undefined;
  if (typeof expected === 'string') {
    return { pointer, message: `${what} must be ${expected}`, hint: `Write ${expected}.`, expression };
  }
  if (expression) {
    return {
      pointer,
      message: `${what} is not a regular expression`,
      hint: 'Correct the pattern: brackets and parentheses must be closed.',
      expression,
    };
  }
  if (Array.isArray(allowedValues)) {
    const values = allowedValues.map((each) => JSON.stringify(each)).join(', ');
    const given = typeof error.data === 'string' ? JSON.stringify(error.data.slice(0, 40)) : shownValue(error.data);
    const near = typeof error.data === 'string' ? didYouMean(error.data, allowedValues.map(String)) : null;
    return {
      pointer,
      message: `${what} is ${given}: it must be one of ${values}`,
      hint: near ?? `Write one of ${values}.`,
      expression,
    };
  }
  if (keyword === 'type') {
    const type = TYPE_NAMES[String(params['type'])] ?? String(params['type']);
    const message = `${what} is ${shownValue(error.data)}: it must be ${type}`;
    return { pointer, message, hint: `Write ${type}${meaningOf(parentSchema)}`, expression };
  }
  return { pointer, message: `${what} ${message}`, hint, expression };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/**
 * Returns numbers and booleans as they are, and the kind of other values, since texts may be secrets. Errors of
 * enumerations do not use it for texts.
 */
function shownValue(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
}

/** Returns the first sentence of a property's description after a colon, or a full stop. */
function meaningOf(property: unknown): string {
  const text = get(property, 'description');
  const sentence = typeof text === 'string' ? /^.{1,160}?(?=[.;:]\s|[.;:]$|$)/s.exec(text)?.[0] : undefined;
  return sentence ? `: ${sentence.replaceAll(/\s+/g, ' ')}.` : '.';
}
