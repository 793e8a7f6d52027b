/** The fields of a form, made of a tool's input schema. */
import { get, isObject, type Obj } from '../src/spec/json.ts';
import { argumentsOf, type GivenArgument, typesOf, variantsOf } from '../src/tools/typed-arguments.ts';

export interface FormField {
  readonly name: string;
  /** How it is asked for: a line, one of several, a line for each item, JSON. */
  readonly kind: 'line' | 'choice' | 'list' | 'json';
  readonly choices: readonly string[];
  readonly required: boolean;
  /** Its types, what it means, and an example. */
  readonly hint: string;
}

/** Typed texts by name; an empty one leaves the argument out. */
export type Values = ReadonlyMap<string, string>;

export function fieldsOf(schema: unknown): readonly FormField[] {
  const properties = get(schema, 'properties');
  const required = get(schema, 'required');
  return Object.entries(isObject(properties) ? properties : {}).map(([name, own]) => {
    const variants = variantsOf(own, schema);
    const types = typesOf(variants);
    const choices = choicesOf(variants, types);
    const description = variants.map((each) => get(each, 'description')).find((each) => typeof each === 'string');
    const example = exampleOf(variants);
    return {
      name,
      kind: choices.length > 0 ? 'choice' : kindOf(types),
      choices,
      required: Array.isArray(required) && required.includes(name),
      hint: [[...types].join(' or '), description, example].filter(Boolean).join(' · '),
    };
  });
}

/** Throws an Error that names the argument. */
export function typedArguments(fields: readonly FormField[], values: Values, schema: unknown): Obj {
  const given = fields.flatMap(({ name, kind }): readonly GivenArgument[] => {
    const text = values.get(name) ?? '';
    if (text === '') return [];
    if (kind !== 'list' || text.trimStart().startsWith('[')) return [[name, kind === 'line' ? text : text.trim()]];
    return text.split('\n').flatMap((line): GivenArgument[] => (line === '' ? [] : [[name, line]]));
  });
  return argumentsOf(given, schema);
}

function kindOf(types: ReadonlySet<string>): FormField['kind'] {
  if (types.has('string')) return 'line';
  if (types.has('array')) return 'list';
  return types.has('object') || types.size === 0 ? 'json' : 'line';
}

function choicesOf(variants: readonly unknown[], types: ReadonlySet<string>): readonly string[] {
  if (types.size === 1 && types.has('boolean')) return ['true', 'false'];
  const values = variants.map((each) => get(each, 'enum')).find((each) => Array.isArray(each));
  return Array.isArray(values) ? values.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))) : [];
}

function exampleOf(variants: readonly unknown[]): string {
  for (const each of variants) {
    const standard = get(each, 'default');
    if (standard !== undefined) return `default ${JSON.stringify(standard)}`;
    const examples = get(each, 'examples');
    if (Array.isArray(examples) && examples.length > 0) return `such as ${JSON.stringify(examples[0])}`;
  }
  return '';
}
