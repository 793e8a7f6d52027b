/**
 * Arguments of a tool: the parameters of its operation, and its body. A body that is a plain object lends its properties
 * as arguments; any other is one argument (docs/decisions.md#tool-arguments).
 */
import type { Parameter } from '../../artifact/format.ts';
import type { ToolBody, ToolParameter } from '../../artifact/tools.ts';
import { member } from '../../spec/documents.ts';
import type { Json, JsonObject } from '../../spec/json.ts';
import { get, isObject } from '../../spec/json.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import type { Deps } from '../operations/parameters.ts';
import { type BodySource, bodySourceOf, type PlainObject, plainObjectOf } from './tool-body.ts';
import type { RoutedOperation } from './tool-operation.ts';

/** Names of properties that every model takes. */
const ARGUMENT = /^[A-Za-z0-9_.-]{1,64}$/;

export interface ToolInputs {
  readonly parameters: readonly ToolParameter[];
  readonly body?: ToolBody;
  readonly properties: ReadonlyMap<string, Json>;
  readonly required: ReadonlySet<string>;
  /** Values of arguments that callers do not see. */
  readonly fixed: ReadonlyMap<string, Json>;
  /** Schema of arguments without a property; false: they are refused. */
  readonly others: Json;
}

/** `deps.schemas`: the table of schemas that tools refer to. */
export function toolInputs(routed: RoutedOperation, deps: Deps): ToolInputs {
  const inputs = new Inputs();
  const { declared, operation, credentials } = routed;
  operation.parameters.forEach((parameter, index) => {
    if (isCredential(parameter, credentials)) return;
    const isAccept = parameter.in === 'header' && parameter.name === 'accept';
    const accepted = isAccept ? defaultOf(parameter, declared, deps) : undefined;
    // The gateway chooses `Accept` itself, unless the document sets it.
    if (isAccept && accepted === undefined && !parameter.required) return;
    const schema = parameterSchema(parameter, declared, deps);
    const argument = inputs.add(parameter.name, schema, parameter.required, parameter.in);
    if (accepted !== undefined) inputs.fixed.set(argument, accepted);
    inputs.parameters.push({ argument, parameter: index });
  });
  const source = bodySourceOf(routed, deps);
  if (source) inputs.body = addBody(inputs, source, deps);
  return inputs;
}

class Inputs {
  readonly parameters: ToolParameter[] = [];
  readonly properties = new Map<string, Json>();
  readonly required = new Set<string>();
  readonly fixed = new Map<string, Json>();
  body?: ToolBody;
  others: Json = false;

  has(name: string): boolean {
    return this.properties.has(name);
  }

  /** Returns the argument's name: `name` in the characters that models take, made unique by its location. */
  add(name: string, schema: Json, required: boolean, where: string): string {
    const plain =
      name
        .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
        .replaceAll(/^_+|_+$/g, '')
        .slice(0, 56) || where;
    let argument = plain;
    for (let i = 1; this.has(argument); i++) argument = `${plain}_${where}${i === 1 ? '' : i}`.slice(-64);
    this.properties.set(argument, schema);
    if (required) this.required.add(argument);
    return argument;
  }
}

function isCredential({ in: part, name }: Parameter, credentials: readonly string[]): boolean {
  return part === 'header' && credentials.includes(name);
}

/** The `default` of its schema. */
function defaultOf(parameter: Parameter, { parameters }: DeclaredOperation, { documents }: Deps): Json | undefined {
  const declared = parameters.find(({ value }) => isDeclared(value, parameter));
  const schema = declared && documents.follow(member(declared, 'schema'));
  return get(schema?.value, 'default') as Json | undefined;
}

/**
 * Returns the schema as the document describes it; for AsyncAPI the one that is checked, since such parameters are
 * described elsewhere.
 */
function parameterSchema(parameter: Parameter, { parameters, spec }: DeclaredOperation, deps: Deps): Json {
  const declared = parameters.find(({ value }) => isDeclared(value, parameter));
  const checked: Json = parameter.schema ? { $ref: parameter.schema.$ref } : typeOf(parameter);
  if (!declared) return checked;
  const content = deps.documents.follow(member(declared, 'content'));
  const type = content && isObject(content.value) ? Object.keys(content.value)[0] : undefined;
  const media = content && type !== undefined ? deps.documents.follow(member(content, type)) : declared;
  const schema = member(media ?? declared, 'schema');
  const ref = schema.value === undefined ? undefined : deps.schemas.addDescribed(schema, spec.dialect, 'request');
  return { ...(ref ?? typeOf(parameter)), ...said(declared.value) };
}

function isDeclared(value: unknown, { name, in: part }: Parameter): boolean {
  const own = String(get(value, 'name'));
  return get(value, 'in') === part && (part === 'header' ? own.toLowerCase() : own) === name;
}

/** Returns the type of a parameter without a schema, or with one that any text fits. */
function typeOf({ types, content_type: type }: Parameter): JsonObject {
  if (type !== undefined) return {};
  return types.length > 1 ? { type: [...types] } : { type: types[0] ?? 'string' };
}

/** Returns a parameter's annotations besides its schema. */
function said(parameter: unknown): JsonObject {
  const [description, deprecated] = [get(parameter, 'description'), get(parameter, 'deprecated')];
  const example = get(parameter, 'example') as Json | undefined;
  return {
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

function addBody(inputs: Inputs, source: BodySource, deps: Deps): ToolBody {
  const { contentType: content_type, encoding, required } = source;
  const plain = source.schema ? plainObjectOf(source.schema, encoding, deps) : null;
  const form = encoding === 'form' || encoding === 'multipart';
  const binary = plain && plain.binary.length > 0 && form ? { binary: plain.binary } : {};
  if (plain && lends(plain, required, inputs)) {
    for (const [name, schema] of plain.properties) inputs.add(name, schema, plain.required.has(name), 'body');
    if (plain.others !== false) inputs.others = plain.others;
    const properties = [...plain.properties.keys()];
    const open = plain.others === false ? {} : { open: true };
    return { content_type, encoding, required, properties, ...open, ...binary };
  }
  const argument = inputs.add('body', source.value(), required, 'content');
  return { content_type, encoding, required, argument, ...binary };
}

/** An optional body lends properties only if an empty object is a valid body. */
function lends({ properties, required }: PlainObject, bodyRequired: boolean, inputs: Inputs): boolean {
  if (!bodyRequired && required.size > 0) return false;
  return [...properties.keys()].every((name) => ARGUMENT.test(name) && !inputs.has(name) && !/^[_]|[_]$/.test(name));
}
