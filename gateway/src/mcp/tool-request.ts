/** Arguments of a tool as the HTTP request that its operation takes. */
import type { Operation, Parameter } from '../artifact/format.ts';
import type { Tool } from '../artifact/tools.ts';
import type { HeaderList } from '../exchange.ts';
import type { Obj } from '../spec/json.ts';
import { ToolFault } from './tool-fault.ts';
import { type WrittenBody, writeBody } from './write-body.ts';
import { cookiePairs, headerText, isStructured, pathText, percentEncoded, queryPairs } from './write-styles.ts';

export interface ToolRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Headers from parameters, lower-case names. */
  readonly headers: HeaderList;
  /** `name=value`, in order. */
  readonly cookies: readonly string[];
  readonly body: WrittenBody | null;
}

/** Throws ToolFault. */
export function toolRequest(tool: Tool, operation: Operation, given: Obj): ToolRequest {
  const values = valuesOf(tool, given);
  const by = (part: Parameter['in']) =>
    tool.parameters.flatMap(({ argument, parameter: index }) => {
      const parameter = operation.parameters[index];
      const value = values.get(argument);
      if (parameter?.in !== part || value === undefined) return [];
      checkShape(argument, parameter, value);
      return [{ parameter, value }];
    });
  const path = pathOf(
    operation.path,
    new Map(by('path').map(({ parameter, value }) => [parameter.name, { parameter, value }])),
  );
  const whole = by('querystring').map(({ parameter, value }) => wholeQuery(parameter, value));
  const query = [...whole, ...by('query').flatMap(({ parameter, value }) => queryPairs(parameter, value))].join('&');
  return {
    method: operation.method,
    target: query === '' ? path : `${path}?${query}`,
    headers: by('header').flatMap(({ parameter, value }) => [parameter.name, headerText(parameter, value)]),
    cookies: by('cookie').flatMap(({ parameter, value }) => cookiePairs(parameter, value)),
    body: bodyOf(tool, operation, values),
  };
}

const MOST_ARGUMENTS = 10_000;

/**
 * Returns each argument that is given or has a default; null cannot be a parameter's value, but may be one of a body.
 */
function valuesOf(tool: Tool, given: Obj): ReadonlyMap<string, unknown> {
  const { properties = {} } = tool.input;
  const known = new Set(Object.keys(properties as object));
  const names = Object.keys(given);
  if (names.length > MOST_ARGUMENTS) throw new ToolFault(`There are more than ${MOST_ARGUMENTS} arguments.`);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined && !(tool.body?.open && !isTaken(tool, unknown))) {
    const has = known.size === 0 ? 'it takes none' : `it takes ${[...known].join(', ')}`;
    throw new ToolFault(`There is no argument ${JSON.stringify(unknown.slice(0, 100))}: ${has}.`);
  }
  const values = new Map<string, unknown>(Object.entries(given));
  for (const { argument } of tool.parameters) if (values.get(argument) === null) values.delete(argument);
  for (const [name, { value }] of Object.entries(tool.defaults ?? {})) {
    if (!values.has(name) && value !== undefined) values.set(name, value);
  }
  return values;
}

/** Written down, a list would read as the text that its schema asks for. */
function checkShape(argument: string, { types, content_type: type }: Parameter, value: unknown): void {
  if (!isStructured(value) || types.length === 0 || type !== undefined) return;
  const shape = Array.isArray(value) ? 'array' : 'object';
  if (!types.includes(shape)) throw new ToolFault(`"${argument}" must be of type ${types.join(' or ')}.`);
}

/** Reports whether the name is that of an argument which callers do not see. */
function isTaken({ defaults = {}, parameters }: Tool, name: string): boolean {
  return Object.hasOwn(defaults, name) || parameters.some(({ argument }) => argument === name);
}

type PathValues = ReadonlyMap<string, { readonly parameter: Parameter; readonly value: unknown }>;

function pathOf(template: string, values: PathValues): string {
  return template
    .split(/(\{[^{}]+\})/)
    .map((part, i) => {
      if (i % 2 === 0) return part.replace(/[^\x21-\x7e]+/g, percentEncoded);
      const greedy = part.endsWith('+}');
      const name = part.slice(1, greedy ? -2 : -1);
      const found = values.get(name);
      if (!found) throw new ToolFault(`Argument "${name}" is required.`);
      return pathText(found.parameter, found.value, greedy);
    })
    .join('');
}

function wholeQuery(parameter: Parameter, value: unknown): string {
  if (parameter.fields === undefined) return percentEncoded(JSON.stringify(value));
  if (!isStructured(value)) throw new ToolFault(`"${parameter.name}" must be an object.`);
  const fields = new Map(parameter.fields.map((field) => [field.name, field]));
  return Object.entries(value)
    .flatMap(([name, each]) => queryPairs(fields.get(name) ?? { name, style: 'form', explode: true }, each))
    .join('&');
}

function bodyOf(tool: Tool, operation: Operation, values: ReadonlyMap<string, unknown>): WrittenBody | null {
  const { body } = tool;
  if (!body) return null;
  if (body.argument !== undefined) {
    const value = values.get(body.argument);
    return value === undefined ? null : writeBody(body, operation, value);
  }
  const taken = new Set(tool.parameters.map(({ argument }) => argument));
  const own = new Set(body.properties);
  const members = [...values].filter(([name]) => own.has(name) || (body.open && !taken.has(name)));
  // Without a prototype's setter in the way: `__proto__` is a name like any other.
  return members.length === 0 && !body.required ? null : writeBody(body, operation, Object.fromEntries(members));
}
