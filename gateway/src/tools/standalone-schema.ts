/**
 * A schema of a table as one self-contained document: referenced schemas are inlined if used once, else under `$defs`,
 * so that it stays small and may be recursive.
 */
import { isObject, type Json, type JsonObject } from '../spec/json.ts';
import { keywordOf } from '../spec/schema-keywords.ts';

const PREFIX = 'gw:';
/** Schemas that have no name in a document have this in the table. */
const UNNAMED = 'inline-';
/** Annotations, not constraints: beside a reference they replace those of its target. */
const ANNOTATIONS = new Set([
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
]);

export type SchemaLookup = (id: string) => Json | undefined;

/** `lookup`: the schemas that references `gw:<id>` name. References to others are left as they are. */
export function standalone(schema: JsonObject, lookup: SchemaLookup): JsonObject {
  return new Standalone(lookup).write(schema);
}

/** Reports whether a schema and all that it refers to have at most so many characters of JSON, each counted once. */
export function isWithin(schema: Json, lookup: SchemaLookup, most: number): boolean {
  const seen = new Set<string>();
  const waiting: Json[] = [schema];
  let size = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    size += JSON.stringify(next).length;
    if (size > most) return false;
    for (const [, id = ''] of JSON.stringify(next).matchAll(/"\$ref":"gw:([^"\\]+)"/g)) {
      const target = seen.has(id) ? undefined : lookup(id);
      seen.add(id);
      if (target !== undefined) waiting.push(target);
    }
  }
  return true;
}

class Standalone {
  readonly #lookup: SchemaLookup;
  readonly #uses = new Map<string, number>();
  readonly #recursive = new Set<string>();
  /** Names by id, in the order of their first use. */
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(lookup: SchemaLookup) {
    this.#lookup = lookup;
  }

  write(schema: JsonObject): JsonObject {
    this.#count(schema, new Set());
    const written = this.#copy(schema) as JsonObject;
    const defs: [string, Json][] = [];
    // Writing one may name others, which then follow.
    for (const [id, name] of this.#names) defs.push([name, this.#copy(this.#lookup(id) ?? true)]);
    return defs.length === 0 ? written : { ...written, $defs: Object.fromEntries(defs) };
  }

  /** `above`: schemas being counted, which recognises recursion. */
  #count(schema: Json, above: ReadonlySet<string>): void {
    const id = this.#referred(schema);
    if (id !== null) {
      const uses = this.#uses.get(id) ?? 0;
      this.#uses.set(id, uses + 1);
      if (above.has(id)) this.#recursive.add(id);
      if (uses === 0) this.#count(this.#lookup(id) ?? true, new Set([...above, id]));
    }
    for (const inner of parts(schema)) this.#count(inner, above);
  }

  /** Returns the id of the referenced schema; null without a reference, or if its target is missing. */
  #referred(schema: Json): string | null {
    const ref = isObject(schema) ? schema['$ref'] : undefined;
    if (typeof ref !== 'string' || !ref.startsWith(PREFIX)) return null;
    const id = ref.slice(PREFIX.length);
    return this.#lookup(id) === undefined ? null : id;
  }

  #copy(schema: Json): Json {
    if (!isObject(schema)) return schema;
    const own = Object.fromEntries(
      Object.entries(schema as JsonObject).map(([name, value]) => [name, this.#copyMember(name, value)]),
    );
    const id = this.#referred(schema as JsonObject);
    if (id === null) return own;
    const { $ref: _, ...beside } = own;
    const target = this.#lookup(id) ?? true;
    if (!this.#isWrittenInPlace(id) || !joins(beside, target)) return { $ref: this.#refTo(id), ...beside };
    const copied = this.#copy(target);
    return isObject(copied)
      ? { ...(copied as JsonObject), ...beside }
      : Object.keys(beside).length > 0
        ? beside
        : copied;
  }

  #copyMember(name: string, value: Json): Json {
    switch (keywordOf(name)?.kind) {
      case 'schema':
        return this.#copy(value);
      case 'schemas':
        return Array.isArray(value) ? value.map((each: Json) => this.#copy(each)) : value;
      case 'schemaMap':
        return Object.fromEntries(
          Object.entries((value ?? {}) as JsonObject).map(([key, each]) => [key, this.#copy(each)]),
        );
      default:
        return value;
    }
  }

  #isWrittenInPlace(id: string): boolean {
    return id.startsWith(UNNAMED) || (this.#uses.get(id) === 1 && !this.#recursive.has(id));
  }

  #refTo(id: string): string {
    let name = this.#names.get(id);
    if (name === undefined) {
      const label = id.replace(/-[0-9a-f]{16}$/, '');
      name = label;
      for (let i = 2; this.#taken.has(name); i++) name = `${label}${i}`;
      this.#taken.add(name);
      this.#names.set(id, name);
    }
    return `#/$defs/${name}`;
  }
}

/** Schemas directly within a schema. */
function parts(schema: Json): readonly Json[] {
  if (!isObject(schema)) return [];
  return Object.entries(schema as JsonObject).flatMap(([name, value]): readonly Json[] => {
    switch (keywordOf(name)?.kind) {
      case 'schema':
        return [value];
      case 'schemas':
        return Array.isArray(value) ? value : [];
      case 'schemaMap':
        return isObject(value) ? Object.values(value as JsonObject) : [];
      default:
        return [];
    }
  });
}

/** Reports whether the members beside a reference can be merged into its target. */
function joins(beside: JsonObject, target: Json): boolean {
  if (!isObject(target)) return target === true;
  return Object.entries(beside).every(
    ([name, value]) =>
      ANNOTATIONS.has(name) ||
      !Object.hasOwn(target, name) ||
      JSON.stringify((target as JsonObject)[name]) === JSON.stringify(value),
  );
}
