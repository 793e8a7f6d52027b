/**
 * OpenAPI's `discriminator` as JSON Schema (3.1, section 4.8.25): the property names the branch of `oneOf` or `anyOf`
 * that the value must fit, which these alone do not ask for.
 */
import type { Json, JsonObject } from '../artifact/format.ts';
import { type Documents, type Located, member } from '../spec/documents.ts';
import { get, isObject } from '../spec/json.ts';

/** A branch, with what stands for it in the table of schemas. */
interface Branch {
  readonly at: Located;
  readonly normal: Json;
  readonly names: readonly string[];
}

/** `normal` with what the discriminator of `schema` adds; unchanged where JSON Schema says it all already. */
export function discriminate(schema: Located, normal: JsonObject, documents: Documents): JsonObject {
  const property = get(get(schema.value, 'discriminator'), 'propertyName');
  const keyword = Array.isArray(normal['oneOf']) ? 'oneOf' : 'anyOf';
  const branches = normal[keyword];
  if (typeof property !== 'string' || !Array.isArray(branches)) return normal;
  const named = branchesOf(schema, keyword, branches, property, documents);
  if (named === null) return normal;
  const choices = named.map(
    ({ normal: branch, names }): JsonObject => ({
      if: { required: [property], properties: { [property]: { enum: names } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
      then: branch,
    }),
  );
  // 3.2: with a default, other values and none are that branch's.
  const open = get(get(schema.value, 'discriminator'), 'defaultMapping') !== undefined;
  const known = { required: [property], properties: { [property]: { enum: named.flatMap(({ names }) => names) } } };
  const all = Array.isArray(normal['allOf']) ? normal['allOf'] : [];
  return { ...normal, allOf: [...all, ...(open ? [] : [known]), ...choices] };
}

/** Null where a branch has no name, or says itself which values of the property are its own. */
function branchesOf(
  schema: Located,
  keyword: string,
  branches: readonly Json[],
  property: string,
  documents: Documents,
): readonly Branch[] | null {
  const mapping = member(member(schema, 'discriminator'), 'mapping');
  const list = member(schema, keyword);
  const named: Branch[] = [];
  for (const [i, normal] of branches.entries()) {
    const at = member(list, i);
    const ref = get(at.value, '$ref');
    if (typeof ref !== 'string') return null;
    const mapped = namesIn(mapping, at, ref, documents);
    if (mapped.length === 0 && saysItself(at, property, documents)) return null;
    const implicit = /#\/components\/schemas\/([^/]+)$/.exec(ref)?.[1];
    if (mapped.length === 0 && implicit === undefined) return null;
    // What maps to the branch has its names; the schema's own name stays one (3.1, section 4.8.25.1).
    named.push({ at, normal, names: [...new Set([...mapped, ...(implicit === undefined ? [] : [implicit])])] });
  }
  return named;
}

/** A value of `mapping` is the name of a schema, or a reference. */
function namesIn(mapping: Located, branch: Located, ref: string, documents: Documents): string[] {
  const target = documents.follow(branch);
  return Object.entries(isObject(mapping.value) ? mapping.value : {}).flatMap(([name, value]) => {
    if (typeof value !== 'string') return [];
    if (value === ref || `#/components/schemas/${value}` === ref) return [name];
    const resolution = documents.resolve(mapping, value);
    const same = resolution.ok && target !== null && resolution.target.value === target.value;
    return same ? [name] : [];
  });
}

function saysItself(branch: Located, property: string, documents: Documents): boolean {
  const target = documents.follow(branch);
  const own = target && documents.follow(member(member(target, 'properties'), property));
  return own !== null && (get(own.value, 'const') !== undefined || get(own.value, 'enum') !== undefined);
}
