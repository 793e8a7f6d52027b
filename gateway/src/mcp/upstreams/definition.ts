/**
 * An upstream's definition of a tool: its offered form, or the reason why it is not offered
 * (docs/mcp.md#upstream-tools).
 */
import { canonicalJson } from '../../artifact/canonical-json.ts';
import { sha256 } from '../../artifact/hash.ts';
import { schemaFault } from '../../compiler/plugins/config-schema.ts';
import { get, isObject, type JsonObject, type Obj } from '../../spec/json.ts';
import { isOfObjects, withProperties } from '../../tools/definition.ts';
import type { Era } from '../protocol/era.ts';
import { type ParameterHeader, parameterHeaders } from './parameter-headers.ts';

/** Characters of a definition, as JSON. */
export const MOST_DEFINITION = 65_536;
/** Form of a name, with its prefix (revision 2025-11-25, "Tool Names"). */
export const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
/** Members that a model and its client rely on: the digest covers them. */
const PINNED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'];
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export interface OfferedTool {
  /** Name with the prefix. */
  readonly name: string;
  /** Name that the upstream uses. */
  readonly own: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  /** JSON for clients of each era. */
  readonly listed: Readonly<Record<Era, string>>;
  readonly headers: readonly ParameterHeader[];
  /** `sha256:<hex>` of the pinned members. */
  readonly digest: string;
}

/** A text says why it is not offered. `listed`: its numbers may be as they were written. */
export function offeredTool(listed: Obj, prefix: string): OfferedTool | string {
  const text = JSON.stringify(listed);
  const given: Obj = JSON.parse(text);
  const { name: own, title, description, inputSchema, outputSchema } = given;
  const name = `${prefix}${textOf(own)}`;
  if (typeof own !== 'string' || !NAME.test(name))
    return 'its name has other characters than A-Z a-z 0-9 _ . / -, or is too long';
  if (text.length > MOST_DEFINITION) return `its definition has more than ${MOST_DEFINITION} characters`;
  const fault = shapeFault(given) ?? schemasFault(inputSchema, outputSchema);
  if (fault !== null) return fault;
  const headers = parameterHeaders(inputSchema as JsonObject);
  if (typeof headers === 'string') return headers;
  // Tasks are not offered: a client that sees them would ask for them. Numbers stay as they were written.
  const renamed: Obj = { ...listed, name, inputSchema: withProperties(listed['inputSchema'] as JsonObject) };
  const { execution: _, outputSchema: output, ...told } = renamed;
  const ofSessions =
    output === undefined || !isOfObjects(output as JsonObject) ? told : { ...told, outputSchema: output };
  const ofLater = output === undefined ? told : { ...told, outputSchema: output };
  return {
    name,
    own,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: inputSchema as JsonObject,
    listed: { sessions: JSON.stringify(ofSessions), stateless: JSON.stringify(ofLater) },
    headers,
    digest: digestOf(given),
  };
}

/** Returns the text of any value that a server may send in place of a text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}

/** Returns the digest for pins: of the definition without its prefix. */
function digestOf(given: Obj): string {
  const pinned = Object.fromEntries(
    PINNED.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  return sha256(canonicalJson(pinned as JsonObject));
}

/** Clients reject a whole list if one of its members is of another type than the protocol says. */
function shapeFault(given: Obj): string | null {
  for (const name of ['title', 'description']) {
    if (given[name] !== undefined && typeof given[name] !== 'string') return `its "${name}" is not a string`;
  }
  for (const name of ['annotations', '_meta']) {
    if (given[name] !== undefined && !isObject(given[name])) return `its "${name}" is not an object`;
  }
  const { annotations, icons } = given;
  const hints = Object.entries(isObject(annotations) ? annotations : {});
  if (hints.some(([name, value]) => (name === 'title' ? typeof value !== 'string' : typeof value !== 'boolean')))
    return 'its annotations are neither true nor false';
  const isIcon = (icon: unknown) => typeof get(icon, 'src') === 'string';
  if (icons !== undefined && !(Array.isArray(icons) && icons.every(isIcon))) return 'its "icons" are not valid';
  if (get(given['execution'], 'taskSupport') === 'required') return 'it can be called as a task only';
  return null;
}

function schemasFault(input: unknown, output: unknown): string | null {
  if (!isObject(input) || !isOfObjects(input as JsonObject)) return 'inputSchema must have type object';
  if (output !== undefined && !isObject(output)) return 'outputSchema must have type object';
  for (const [what, schema] of [
    ['input', input],
    ['output', output],
  ] as const) {
    const { $schema, ...rest } = (schema ?? {}) as JsonObject;
    if ($schema !== undefined && $schema !== DIALECT) continue;
    const fault = schemaFault(rest);
    if (fault !== null) return `its ${what} schema is not valid: ${fault}`;
  }
  return null;
}
