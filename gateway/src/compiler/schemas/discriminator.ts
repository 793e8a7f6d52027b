/**
 * OpenAPI's `discriminator` as JSON Schema (3.1, section 4.8.25): the property names the branch of `oneOf` or `anyOf`
 * that the value must fit, and no other is looked at (docs/decisions.md#discriminator-selects).
 */
import type { Json, JsonObject } from '../../artifact/format.ts';
import { type Documents, type Located, member } from '../../spec/documents.ts';
import { get, isObject } from '../../spec/json.ts';
import { schemaMapAt } from '../../spec/merged-reference.ts';
import { NAMED_BY } from '../../validation/schemas/named-branch.ts';
import type { Annotations } from './schema-annotations.ts';
import { typesOf } from './schema-types.ts';

/** A branch, with its schema in the table. */
interface Branch {
  readonly at: Located;
  readonly normal: Json;
  readonly names: readonly string[];
}

/**
 * Returns `normal` with the discriminator's choice in place of its branches; unchanged if `schema` leaves a branch
 * without a name. Schemas for readers, and for generated values, keep the branches.
 */
export function discriminate(
  schema: Located,
  normal: JsonObject,
  documents: Documents,
  annotations: Annotations,
): JsonObject {
  const property = get(get(schema.value, 'discriminator'), 'propertyName');
  const keyword = Array.isArray(normal['oneOf']) ? 'oneOf' : 'anyOf';
  const { [keyword]: branches, ...rest } = normal;
  if (typeof property !== 'string' || !Array.isArray(branches)) return normal;
  const sorted = branchesOf(schema, keyword, branches, property, documents);
  if (sorted === null) return normal;
  const { named, others } = sorted;
  const all = Array.isArray(rest['allOf']) ? rest['allOf'] : [];
  const objects: JsonObject = { type: 'object' };
  const shown = annotations === 'none' ? others.length > 0 && [...others, objects] : branches;
  const choices = choicesOf(schema, property, named, documents);
  return {
    ...rest,
    ...(shown ? { anyOf: shown } : {}),
    allOf: [...all, ...(others.length === 0 ? [objects] : []), ...choices],
  };
}

function choicesOf(schema: Located, property: string, named: readonly Branch[], documents: Documents): JsonObject[] {
  const all = [...new Set(named.flatMap(({ names }) => names))];
  const chosen = (names: readonly string[]) => ({ required: [property], properties: { [property]: { enum: names } } });
  const choices = named.map(
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
    ({ normal, names }): JsonObject => ({ if: { type: 'object', ...chosen(names) }, then: normal }),
  );
  // 3.2: with a default, unknown and absent values choose its branch.
  const mapped = member(member(schema, 'discriminator'), 'defaultMapping');
  if (mapped.value === undefined) return [{ [NAMED_BY]: { property, names: all }, ...chosen(all) }, ...choices];
  const standard = named.find(({ at }) => isMappedTo(mapped, at, documents));
  const unnamed = { type: 'object', not: chosen(all) };
  // biome-ignore lint/suspicious/noThenProperty: as above
  return [...choices, ...(standard ? [{ if: unnamed, then: standard.normal }] : [])];
}

/** Returns null if a branch for objects has no name. `others`: branches that are for no object, such as null. */
function branchesOf(
  schema: Located,
  keyword: string,
  branches: readonly Json[],
  property: string,
  documents: Documents,
): { readonly named: readonly Branch[]; readonly others: readonly Json[] } | null {
  const mapping = member(member(schema, 'discriminator'), 'mapping');
  const list = member(schema, keyword);
  const named: Branch[] = [];
  const others: Json[] = [];
  for (const [i, normal] of branches.entries()) {
    const at = member(list, i);
    const names = namesOf(at, mapping, property, documents);
    const types = names.length > 0 ? [] : typesOf(at, documents);
    if (names.length > 0) named.push({ at, normal, names });
    else if (types.length > 0 && !types.includes('object')) others.push(normal);
    else return null;
  }
  return named.length === 0 ? null : { named, others };
}

function namesOf(at: Located, mapping: Located, property: string, documents: Documents): readonly string[] {
  const mapped = Object.keys(isObject(mapping.value) ? mapping.value : {}).filter((name) =>
    isMappedTo(member(mapping, name), at, documents),
  );
  const own = mapped.length > 0 ? [] : ownNames(at, property, documents, new Set());
  if (own.length > 0) return own;
  const ref = get(at.value, '$ref');
  const implicit = typeof ref === 'string' ? /#\/components\/schemas\/([^/]+)$/.exec(ref)?.[1] : undefined;
  // A branch has the names that map to it; its schema's own name stays one (3.1, section 4.8.25.1).
  return [...new Set([...mapped, ...(implicit === undefined ? [] : [implicit])])];
}

/** Reports whether a value of `mapping`, which is the name of a schema or a reference, leads to the branch. */
function isMappedTo(mapped: Located, branch: Located, documents: Documents): boolean {
  const ref = get(branch.value, '$ref');
  const { value } = mapped;
  if (typeof value !== 'string' || typeof ref !== 'string') return false;
  if (value === ref || `#/components/schemas/${value}` === ref) return true;
  const resolution = documents.resolve(mapped, value);
  return resolution.ok && resolution.target.value === documents.follow(branch)?.value;
}

/** Values that the branch itself says the property has, here or in its `allOf`. */
function ownNames(branch: Located, property: string, documents: Documents, seen: Set<unknown>): readonly string[] {
  const target = documents.follow(branch);
  if (target === null || seen.has(target.value)) return [];
  seen.add(target.value);
  const own = documents.follow(member(schemaMapAt(member(target, 'properties'), documents), property));
  const [constant, values] = [get(own?.value, 'const'), get(own?.value, 'enum')];
  const names = constant !== undefined ? [constant] : Array.isArray(values) ? values : [];
  if (names.length > 0) return names.filter((each) => typeof each === 'string');
  const all = member(target, 'allOf');
  const parts = Array.isArray(all.value) ? all.value.map((_, i) => member(all, i)) : [];
  for (const part of parts) {
    const found = ownNames(part, property, documents, seen);
    if (found.length > 0) return found;
  }
  return [];
}
