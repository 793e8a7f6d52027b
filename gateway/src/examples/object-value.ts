/** Objects as a schema wants them. */
import { get, isObject, type Json } from '../spec/json.ts';
import { Unmakeable, type ValueGenerator } from './generator.ts';
import { atLeast, atMost, type Parts, partsOf, schemasOf } from './parts.ts';
import { patternText } from './pattern-text.ts';
import { stringValue, word } from './string-value.ts';

/** Most attempts at made-up names for an object whose members have no names in the schema. */
const MOST_TRIES = 100;

/** `make`: a value of its schemas, one level below. */
export function objectValue(
  parts: Parts,
  generator: ValueGenerator,
  depth: number,
  make: (schemas: readonly Json[]) => Json,
): Json {
  const required = requiredOf(parts);
  const most = atMost(parts, 'maxProperties');
  const members = new Map<string, Json>();
  for (const name of required) members.set(name, make(schemasFor(name, parts, generator)));
  if (depth <= generator.strategy.optionalDepth) {
    for (const name of optionalOf(parts, required)) {
      if (members.size >= most) break;
      addOptional(name, members, parts, generator, make);
    }
  }
  const least = Math.max(
    atLeast(parts, 'minProperties'),
    isMap(parts) && depth <= generator.strategy.optionalDepth ? 1 : 0,
  );
  for (let tries = 0; members.size < Math.min(least, most) && tries < MOST_TRIES; tries++) {
    addOptional(madeUpName(parts, generator, depth), members, parts, generator, make);
  }
  return Object.fromEntries(members);
}

/** Returns required names, with those that they depend on. */
function requiredOf(parts: Parts): ReadonlySet<string> {
  const names = new Set(parts.flatMap(({ required }) => (Array.isArray(required) ? required : [])).map(String));
  for (const name of names) {
    for (const { dependentRequired } of parts) {
      const more = get(dependentRequired, name);
      if (Array.isArray(more)) for (const each of more) names.add(String(each));
    }
  }
  return names;
}

/** Returns declared names; those that require other members only if these are included anyway. */
function optionalOf(parts: Parts, required: ReadonlySet<string>): readonly string[] {
  const declared = parts.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []));
  const asks = (name: string) =>
    parts.some(({ dependentRequired, dependentSchemas }) => {
      return get(dependentSchemas, name) !== undefined || get(dependentRequired, name) !== undefined;
    });
  return [...new Set(declared)].filter((name) => !required.has(name) && !asks(name));
}

function addOptional(
  name: string,
  members: Map<string, Json>,
  parts: Parts,
  generator: ValueGenerator,
  make: (schemas: readonly Json[]) => Json,
): void {
  try {
    const schemas = schemasFor(name, parts, generator);
    if (!schemas.some((schema) => get(schema, 'writeOnly') === true)) members.set(name, make(schemas));
  } catch (error) {
    if (!(error instanceof Unmakeable)) throw error;
  }
}

/** Returns all schemas that apply to the member of this name. */
function schemasFor(name: string, parts: Parts, generator: ValueGenerator): readonly Json[] {
  return parts.flatMap((part) => {
    const own = get(part['properties'], name);
    const patterns = isObject(part['patternProperties']) ? Object.entries(part['patternProperties']) : [];
    const matching = patterns.filter(([pattern]) => generator.matches(pattern, name)).map(([, schema]) => schema);
    const declared = [...(own === undefined ? [] : [own]), ...matching];
    const { additionalProperties: others } = part;
    return (declared.length > 0 ? declared : others === undefined ? [] : [others]) as Json[];
  });
}

/** Reports whether members have a schema, but no names. */
function isMap(parts: Parts): boolean {
  const named = parts.some(({ properties }) => isObject(properties) && Object.keys(properties).length > 0);
  return !named && parts.some((part) => isObject(part['additionalProperties']) || isObject(part['patternProperties']));
}

function madeUpName(parts: Parts, generator: ValueGenerator, depth: number): string {
  const [pattern] = parts.flatMap(({ patternProperties }) =>
    Object.keys(isObject(patternProperties) ? patternProperties : {}),
  );
  const lengths = { least: 1, most: 100 };
  const fromPattern = pattern === undefined ? null : patternText(pattern, lengths, generator);
  if (fromPattern !== null) return fromPattern;
  const names = schemasOf(parts, 'propertyNames');
  return names.length === 0 ? word(generator.random) : stringValue(partsOf(names, generator, depth), generator);
}
