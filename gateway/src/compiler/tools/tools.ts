/** The tools of an artifact: one an operation, of the documents that enable MCP (docs/mcp.md). */
import type { Manifest, Operation } from '../../artifact/format.ts';
import type { AccessRule, McpUpstream, Tool, ToolAnnotations, ToolDefault, ToolsFile } from '../../artifact/tools.ts';
import { Diagnostics } from '../../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../../spec/documents.ts';
import type { Json, JsonObject } from '../../spec/json.ts';
import { get } from '../../spec/json.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import type { Spec } from '../../spec/recognise.ts';
import { didYouMean } from '../../text/nearest-name.ts';
import { isWithin } from '../../tools/standalone-schema.ts';
import type { Deps } from '../operations/parameters.ts';
import { securityOf } from '../operations/security.ts';
import type { Binder } from '../plugins/bind.ts';
import { SchemaTable } from '../schemas/schema-table.ts';
import { type ToolInputs, toolInputs } from './tool-arguments.ts';
import { toolAuthorization } from './tool-authorization.ts';
import { toolNames } from './tool-names.ts';
import type { RoutedOperation } from './tool-operation.ts';
import { toolOutput } from './tool-output.ts';
import {
  type AuthorizationSettings,
  type OperationTool,
  operationTool,
  type SpecTools,
  selects,
  specTools,
} from './tool-settings.ts';

/** Characters of an output schema; one that is longer would cost a model more than it tells. */
const MOST_OUTPUT = 32_768;
/**
 * Methods of operations that are tools by default: the others answer without a body, or with the gateway's own answer.
 */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'];

/** An operation that is served. */
export interface Routed {
  readonly declared: DeclaredOperation;
  readonly operation: Operation;
  /** Its answer, or the following stream, is endless: a tool cannot return it. */
  readonly endless: boolean;
}

export interface ToolsDeps {
  readonly documents: Documents;
  readonly diagnostics: Diagnostics;
  readonly nameOf: (file: string) => string;
  /** Schemas of routes.json. */
  readonly schemas: { readonly [id: string]: Json };
  readonly upstreams: readonly McpUpstream[];
  readonly binder: Pick<Binder, 'decidesByCaller'>;
}

export interface CompiledTools {
  readonly mcp: Manifest['mcp'];
  /** Null if MCP is not enabled. */
  readonly tools: ToolsFile | null;
}

/** The endpoint serves all specs: one that enables it is enough, or an upstream, and the first names the server. */
export function toolsOf(specs: readonly Spec[], routed: readonly Routed[], deps: ToolsDeps): CompiledTools {
  const settings = new Map(specs.map((spec) => [spec, specTools(rootOf(spec), deps.diagnostics)]));
  const enabling = specs.filter((spec) => settings.get(spec)?.enabled);
  const chosen = routed.flatMap((each) => chosenTool(each, settings.get(each.declared.spec), deps.diagnostics));
  const { upstreams } = deps;
  const [first] = enabling.length > 0 ? enabling : upstreams.length > 0 ? specs : [];
  if (!first) return { mcp: { enabled: false }, tools: null };
  const instructions = enabling.flatMap((spec) => settings.get(spec)?.instructions ?? []);
  const searches = enabling.some((spec) => isAbove(chosen.length, settings.get(spec)?.search ?? false));
  const origins = [...new Set(enabling.flatMap((spec) => settings.get(spec)?.origins ?? []))].sort();
  return {
    mcp: { enabled: true, server_name: first.title, server_version: first.apiVersion },
    tools: {
      ...(instructions.length > 0 ? { instructions: instructions.join('\n\n') } : {}),
      ...(origins.length > 0 ? { origins } : {}),
      ...(searches ? { search: true } : {}),
      ...(enabling.some((spec) => settings.get(spec)?.onlyPermitted) ? { access: accessOf(routed, deps) } : {}),
      ...(upstreams.length > 0 ? { upstreams } : {}),
      ...new ToolWriter(deps).write(chosen),
      ...authorizationOf(
        enabling.flatMap((spec) => settings.get(spec)?.authorization ?? []),
        chosen,
        deps,
      ),
    },
  };
}

/** Covers all operations: those that decide for upstreams are often not tools. */
function accessOf(routed: readonly Routed[], { binder }: ToolsDeps): readonly AccessRule[] {
  return routed.flatMap(({ operation: { index, middlewares: uses } }) => {
    const middlewares = uses.flatMap((use, place) => (binder.decidesByCaller(use) ? [place] : []));
    return middlewares.length === 0 ? [] : [{ operation: index, middlewares }];
  });
}

function isAbove(tools: number, search: boolean | number): boolean {
  return typeof search === 'number' ? tools > search : search;
}

/** Returns the authorization in the settings of all documents; else that of their operations. */
function authorizationOf(
  settings: readonly AuthorizationSettings[],
  chosen: readonly Chosen[],
  deps: ToolsDeps,
): Pick<ToolsFile, 'authorization'> {
  const quiet = { documents: deps.documents, diagnostics: new Diagnostics({ production: false }) };
  const found = chosen.map(({ declared, operation }) => toolAuthorization(declared, operation, quiet));
  const all = (given: readonly (readonly string[] | undefined)[], said: readonly (readonly string[])[]) =>
    [...new Set((given.some((each) => each !== undefined) ? given : said).flatMap((each) => each ?? []))].sort();
  const servers = all(
    settings.map((each) => each.servers),
    found.map((each) => each.servers),
  );
  if (servers.length === 0) return {};
  const scopes = all(
    settings.map((each) => each.scopes),
    found.map((each) => each.scopes),
  );
  const resource = settings.find((each) => each.resource !== undefined)?.resource;
  return { authorization: { ...(resource === undefined ? {} : { resource }), servers, scopes } };
}

function rootOf({ document }: Spec): Located {
  return { document, pointer: '', value: document.value };
}

interface Chosen extends Routed {
  readonly spec: SpecTools;
  readonly own: OperationTool;
}

function chosenTool(routed: Routed, spec: SpecTools | undefined, diagnostics: Diagnostics): Chosen[] {
  const { declared, operation, endless } = routed;
  const own = operationTool(declared.at, diagnostics);
  if (!spec || own.enabled === false) return [];
  if (own.enabled && endless) {
    const why = `${operation.method} ${operation.path} streams without an end, so that it cannot be a tool`;
    diagnostics.add('E1017', placeOf(member(declared.at, 'x-gw-mcp')), why);
  }
  if (endless) return [];
  const selected = METHODS.includes(operation.method) && selects(spec, operation.path, tagsOf(declared));
  return selected || own.enabled ? [{ ...routed, spec, own }] : [];
}

/** Returns tags: texts in OpenAPI, objects with a name in AsyncAPI. */
function tagsOf({ at }: DeclaredOperation): readonly string[] {
  const tags = get(at.value, 'tags');
  return (Array.isArray(tags) ? tags : []).flatMap((tag) => {
    const name = typeof tag === 'string' ? tag : get(tag, 'name');
    return typeof name === 'string' ? [name] : [];
  });
}

class ToolWriter {
  readonly #deps: ToolsDeps;
  readonly #inner: Deps;

  constructor(deps: ToolsDeps) {
    this.#deps = deps;
    const { documents } = deps;
    // Errors of a schema are reported by the code that enforces it.
    const diagnostics = new Diagnostics({ production: false });
    this.#inner = { documents, diagnostics, schemas: new SchemaTable(documents, diagnostics, deps.nameOf) };
  }

  write(chosen: readonly Chosen[]): Pick<ToolsFile, 'tools' | 'schemas'> {
    const names = this.#names(chosen);
    const tools = chosen.map((each, i) => this.#tool(each, names[i] as string));
    const schemas = this.#inner.schemas.finish();
    const lookup = (id: string) => schemas[id] ?? this.#deps.schemas[id];
    const sent = tools.map(
      ({ output, ...tool }): Tool =>
        output !== undefined && isWithin(output, lookup, MOST_OUTPUT) ? { ...tool, output } : tool,
    );
    return { tools: sent.toSorted((a, b) => (a.name < b.name ? -1 : 1)), schemas };
  }

  #names(chosen: readonly Chosen[]): readonly string[] {
    const { diagnostics } = this.#deps;
    const { names, renamed } = toolNames(
      chosen.map(({ operation: { method, path, api, operation_id }, own, spec }) => {
        return { prefix: spec.prefix, id: own.name ?? operation_id, method, path, api, fixed: own.name !== undefined };
      }),
    );
    const first = new Map<string, Chosen>();
    chosen.forEach((each, i) => {
      const name = names[i] as string;
      const other = first.get(name);
      first.set(name, other ?? each);
      if (!other || each.own.name === undefined) return;
      const place = placeOf(member(member(each.declared.at, 'x-gw-mcp'), 'name'));
      diagnostics.add('E1017', place, `tool "${name}" is also ${other.operation.method} ${other.operation.path}`);
    });
    for (const i of renamed) {
      const { declared, operation } = chosen[i] as Chosen;
      const { method, path } = operation;
      diagnostics.add('E1018', placeOf(declared.at), `the tool of ${method} ${path} is called "${names[i]}"`);
    }
    return names;
  }

  #tool(chosen: Chosen, name: string): Tool {
    const { declared, operation, own, spec } = chosen;
    const credentials = securityOf(declared, this.#inner.documents, this.#inner.diagnostics).headers;
    const routed: RoutedOperation = { declared, operation, credentials };
    const inputs = toolInputs(routed, this.#inner);
    const defaults = this.#defaults(chosen, inputs);
    const output = (own.outputSchema ?? spec.outputSchemas) ? toolOutput(declared, this.#inner) : undefined;
    const { scopes } = toolAuthorization(declared, operation, this.#inner);
    const { title, description } = described(declared, own);
    const group = own.group ?? tagsOf(declared)[0];
    return {
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...(group === undefined ? {} : { group }),
      annotations: { ...annotationsOf(operation.method), ...own.annotations },
      operation: operation.index,
      parameters: inputs.parameters,
      ...(inputs.body ? { body: inputs.body } : {}),
      ...(Object.keys(defaults).length > 0 ? { defaults } : {}),
      ...(scopes.length > 0 ? { scopes } : {}),
      input: this.#inputSchema(chosen, inputs, defaults),
      ...(output === undefined ? {} : { output }),
    };
  }

  /** E1017 for arguments that there are not, and for hidden ones that a request cannot be without. */
  #defaults({ declared, own }: Chosen, inputs: ToolInputs): Readonly<Record<string, ToolDefault>> {
    const at = member(member(declared.at, 'x-gw-mcp'), 'arguments');
    const known = [...inputs.properties.keys()];
    const entries = [...own.arguments].flatMap(([name, settings]): [string, ToolDefault][] => {
      const { hidden, default: value } = settings;
      if (!inputs.properties.has(name)) {
        const has = known.length === 0 ? 'the tool has none' : `the tool has ${known.join(', ')}`;
        this.#deps.diagnostics.add(
          'E1017',
          placeOf(member(at, name)),
          `there is no argument "${name}": ${has}`,
          didYouMean(name, known) ?? undefined,
        );
        return [];
      }
      if (hidden && value === undefined && inputs.required.has(name)) {
        const why = `argument "${name}" is required, and hidden without a "default"`;
        this.#deps.diagnostics.add('E1017', placeOf(member(at, name)), why);
      }
      return value === undefined && !hidden ? [] : [[name, { ...(value === undefined ? {} : { value }), hidden }]];
    });
    const fixed = [...inputs.fixed].map(([name, value]): [string, ToolDefault] => [name, { value, hidden: true }]);
    return Object.fromEntries([...fixed, ...entries]);
  }

  #inputSchema(
    { declared, own }: Chosen,
    inputs: ToolInputs,
    defaults: Readonly<Record<string, ToolDefault>>,
  ): JsonObject {
    const shown = [...inputs.properties].filter(([name]) => !defaults[name]?.hidden);
    const properties = shown.map(([name, schema]): [string, Json] => {
      const description = own.arguments.get(name)?.description;
      const value = defaults[name]?.value;
      const said = {
        ...(description === undefined ? {} : { description }),
        ...(value === undefined ? {} : { default: value }),
      };
      return [name, Object.keys(said).length === 0 ? schema : { ...objectSchema(schema), ...said }];
    });
    const required = shown.flatMap(([name]) =>
      inputs.required.has(name) && !Object.hasOwn(defaults, name) ? [name] : [],
    );
    this.#checkExamples(declared, own, new Set(shown.map(([name]) => name)), inputs.others !== false);
    return {
      type: 'object',
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(required.length === 0 ? {} : { required }),
      ...(inputs.others === true ? {} : { additionalProperties: inputs.others }),
      ...(own.examples && own.examples.length > 0 ? { examples: own.examples } : {}),
    };
  }

  #checkExamples(declared: DeclaredOperation, own: OperationTool, known: ReadonlySet<string>, open: boolean): void {
    const at = member(member(declared.at, 'x-gw-mcp'), 'examples');
    for (const [i, example] of (own.examples ?? []).entries()) {
      const other = open ? undefined : Object.keys(example).find((name) => !known.has(name));
      if (other === undefined) continue;
      const place = placeOf(member(member(at, i), other));
      this.#deps.diagnostics.add(
        'E1017',
        place,
        `there is no argument "${other}": the tool has ${[...known].join(', ')}`,
      );
    }
  }
}

function objectSchema(schema: Json): JsonObject {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? (schema as JsonObject) : {};
}

/** The summary is the title; a document that has only that says it twice. */
function described({ at }: DeclaredOperation, own: OperationTool) {
  const text = (name: string) => {
    const value = get(at.value, name);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
  const title = own.title ?? text('summary') ?? text('title');
  const said = own.description ?? text('description') ?? title;
  const deprecated = get(at.value, 'deprecated') === true ? 'Deprecated.' : undefined;
  const description = [said, deprecated].filter((each) => each !== undefined).join(' ');
  return { title, description: description === '' ? undefined : description };
}

/** Returns the annotations that HTTP implies for methods (RFC 9110, section 9.2); POST and PATCH imply none. */
function annotationsOf(method: string): ToolAnnotations {
  if (['GET', 'HEAD', 'OPTIONS', 'QUERY'].includes(method)) return { readOnlyHint: true, idempotentHint: true };
  const idempotent = method === 'PUT' || method === 'DELETE' ? { idempotentHint: true } : {};
  return { readOnlyHint: false, ...idempotent };
}
