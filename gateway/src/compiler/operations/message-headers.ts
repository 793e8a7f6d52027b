/** Headers of AsyncAPI messages as header parameters: the properties of their schemas, one by one. */
import type { Parameter } from '../../artifact/format.ts';
import { member, placeOf } from '../../spec/documents.ts';
import { get, isObject } from '../../spec/json.ts';
import { schemaMapAt } from '../../spec/merged-reference.ts';
import type { DeclaredMessage } from '../../spec/operations.ts';
import { type Deps, NOT_PARAMETERS, textValueOf } from './parameters.ts';
import { schemaOf, type TypedSchema } from './schema-format.ts';

interface Header extends TypedSchema {
  readonly required: boolean;
}

type Headers = ReadonlyMap<string, Header>;

/** Constraints on headers as a whole, beyond each by itself, which have no counterpart in a request. */
const WHOLE = ['anyOf', 'oneOf', 'not', 'if', 'dependencies', 'patternProperties', 'minProperties'];

export function messageHeadersOf(messages: readonly DeclaredMessage[], deps: Deps): Parameter[] {
  const each = messages.map((message) => headersOf(message, deps));
  const names = new Set(each.flatMap((headers) => [...headers.keys()]));
  return [...names].flatMap((name) => parameterOf(name, each, deps) ?? []);
}

function parameterOf(name: string, each: readonly Headers[], deps: Deps): Parameter | null {
  const declared = each.flatMap((headers) => headers.get(name) ?? []);
  const [first] = declared;
  if (!first) return null;
  const values = declared.map(({ at, dialect }) => textValueOf(at, dialect, deps));
  const same = declared.length === each.length && new Set(values.map((value) => JSON.stringify(value))).size === 1;
  if (!same && values.some(({ schema }) => schema !== undefined)) {
    deps.diagnostics.add('E1008', placeOf(first.at), `header "${name}" differs between messages: it is not validated`);
  }
  return {
    name,
    in: 'header',
    required: declared.length === each.length && declared.every(({ required }) => required),
    style: 'simple',
    explode: false,
    ...(same && values[0] ? values[0] : { types: ['string'] }),
  };
}

/** Returns headers of the message, then those that only its traits declare. */
function headersOf({ headers }: DeclaredMessage, deps: Deps): Headers {
  const found = new Map<string, Header>();
  for (const declared of headers) {
    const schema = schemaOf(declared, deps);
    if (schema) gather(schema, deps, found, new Set());
  }
  return found;
}

function gather({ at, dialect }: TypedSchema, deps: Deps, found: Map<string, Header>, seen: Set<object>): void {
  const schema = deps.documents.follow(at);
  if (!schema || !isObject(schema.value) || seen.has(schema.value)) return;
  seen.add(schema.value);
  const whole = WHOLE.find((keyword) => get(schema.value, keyword) !== undefined);
  if (whole) {
    deps.diagnostics.add(
      'E1008',
      placeOf(member(schema, whole)),
      `"${whole}" of message headers is not enforced: "properties", "required" and "allOf" are`,
    );
  }
  const required = get(schema.value, 'required');
  const properties = schemaMapAt(member(schema, 'properties'), deps.documents);
  for (const name of isObject(properties.value) ? Object.keys(properties.value) : []) {
    const key = name.toLowerCase();
    const property = member(properties, name);
    if (key.startsWith('x-auth-')) {
      deps.diagnostics.add('E1056', placeOf(property), `header "${name}" is in the reserved x-auth-* namespace`);
    } else if (!NOT_PARAMETERS.has(key) && !found.has(key)) {
      found.set(key, { at: property, dialect, required: Array.isArray(required) && required.includes(name) });
    }
  }
  const all = member(schema, 'allOf');
  if (!Array.isArray(all.value)) return;
  for (let i = 0; i < all.value.length; i++) gather({ at: member(all, i), dialect }, deps, found, seen);
}
