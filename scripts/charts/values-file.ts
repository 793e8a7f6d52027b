/** A chart's values.yaml with what its comments say: the one source of values.schema.json and of the README's table. */
import { isCollection, isMap, isScalar, type Pair, parse, parseDocument, type YAMLMap } from 'yaml';

export interface Value {
  /** Dotted, as `--set` takes it. */
  readonly path: string;
  readonly name: string;
  /** What the comment above it says; may be empty for a map of values. */
  readonly description: string;
  readonly default: unknown;
  /** What `# @schema` says: the name of a shape of Kubernetes, or members of a JSON schema. */
  readonly annotation: string | { readonly [member: string]: unknown } | undefined;
  /** Values below it; none where the default is no map or an empty one. */
  readonly values: readonly Value[];
}

/** Throws an Error that names the value that no comment explains. */
export function readValues(text: string): readonly Value[] {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw document.errors[0];
  if (!isMap(document.contents)) throw new Error('values.yaml: expected a map');
  return valuesOf(document.contents, '', text);
}

function valuesOf(map: YAMLMap, prefix: string, text: string): readonly Value[] {
  return map.items.map((pair) => entry(pair, prefix, text));
}

function entry({ key, value }: Pair, prefix: string, text: string): Value {
  if (!isScalar(key) || typeof key.value !== 'string' || !key.range) throw new Error('values.yaml: a key is no string');
  const name = key.value;
  const path = prefix + name;
  const { description, annotation } = commentAbove(text, key.range[0]);
  const nested = isMap(value) && value.items.length > 0 && typeof annotation !== 'string';
  if (description === '' && !nested)
    throw new Error(`values.yaml: ${path}: put a comment above it that says what it is`);
  return {
    path,
    name,
    description,
    annotation,
    default: isCollection(value) || isScalar(value) ? value.toJSON() : null,
    values: nested ? valuesOf(value, `${path}.`, text) : [],
  };
}

/** The lines of comment right above a key, without a blank line between. */
function commentAbove(text: string, offset: number): Pick<Value, 'description' | 'annotation'> {
  const above = text.slice(0, offset).split('\n').slice(0, -1).reverse();
  const end = above.findIndex((line) => !line.trim().startsWith('#'));
  const lines = above
    .slice(0, end === -1 ? above.length : end)
    .reverse()
    .map((line) => line.trim().replace(/^# ?/, ''));
  const schema = lines.find((line) => line.startsWith('@schema '))?.slice('@schema '.length);
  const description = lines
    .filter((line) => !line.startsWith('@schema '))
    .join(' ')
    .trim();
  return { description, annotation: schema === undefined ? undefined : parse(schema) };
}
