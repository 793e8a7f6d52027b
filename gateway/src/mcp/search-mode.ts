/**
 * Three tools in place of many: one that finds the others, one that describes one, and one that calls one
 * (docs/mcp.md#search).
 */
import { get, isObject, type Obj } from '../spec/json.ts';
import { type ToolDefinition, toolDefinition } from '../tools/definition.ts';
import { type IndexedTool, indexedTool, ToolIndex } from '../tools/search.ts';
import type { SchemaLookup } from '../tools/standalone-schema.ts';
import { faultResult, type ServedTool, type ToolResult } from './result.ts';
import type { UpstreamSet } from './upstreams/upstream-set.ts';

export const CALL = 'call_tool';
const [SEARCH, DESCRIBE] = ['search_tools', 'describe_tool'];
/** Characters. */
const LONGEST_QUERY = 400;
const LONGEST_SUMMARY = 200;
const [USUAL, MOST] = [5, 20];

const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const name = { type: 'string', description: `Name of a tool, as ${SEARCH} gives it` };

export const DEFINITIONS: readonly ToolDefinition[] = [
  {
    name: CALL,
    description: `Calls one of the tools that ${SEARCH} finds. Read its schema with ${DESCRIBE} first.`,
    inputSchema: {
      type: 'object',
      properties: { name, arguments: { type: 'object', description: 'Arguments of the tool' } },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: {},
  },
  {
    name: DESCRIBE,
    description: 'Describes a tool: what it does, and the JSON Schema of its arguments.',
    inputSchema: { type: 'object', properties: { name }, required: ['name'], additionalProperties: false },
    annotations: READS,
  },
  {
    name: SEARCH,
    description: `Finds tools by what you want to do, in plain words. Describe one with ${DESCRIBE}, call it with ${CALL}.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: LONGEST_QUERY, examples: ['refund a payment'] },
        limit: { type: 'integer', minimum: 1, maximum: MOST, default: USUAL },
      },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: READS,
  },
];

export interface SearchableTools {
  readonly index: Pick<ToolIndex, 'search'>;
  /** Returns undefined if the tool does not exist. */
  describe(name: string): Pick<ToolDefinition, 'title' | 'description'> | undefined;
}

/** Tools of operations and of upstreams, whose index is rebuilt when upstreams change theirs. */
export function searchableTools(
  own: readonly ServedTool[],
  lookup: SchemaLookup,
  upstreams: UpstreamSet | null,
): SearchableTools {
  const byName = new Map(own.map(({ tool }) => [tool.name, tool]));
  const indexed = own.map(({ tool, operation }) => indexedTool(tool, operation));
  let index: ToolIndex | undefined;
  let of: UpstreamSet['tools'] | undefined;
  return {
    index: {
      search(query, most, tells) {
        if (index === undefined || of !== upstreams?.tools) {
          of = upstreams?.tools;
          const others = [...(of?.values() ?? [])].map(
            ({ tool }): IndexedTool => ({ ...tool, input: tool.inputSchema }),
          );
          index = new ToolIndex([...indexed, ...others]);
        }
        return index.search(query, most, tells);
      },
    },
    describe(name) {
      const tool = byName.get(name);
      if (tool) return toolDefinition(tool, lookup);
      const found = upstreams?.tools.get(name);
      return found && JSON.parse(found.tool.listed.stateless);
    },
  };
}

/** Reports whether a tool finds or describes others. */
export function isSearch(called: string): boolean {
  return called === SEARCH || called === DESCRIBE;
}

/** Answers a search tool. `tells`: reports whether the caller may see a tool. */
export function answerSearch(called: string, args: Obj, tools: SearchableTools, tells: Tells): ToolResult {
  return called === SEARCH ? search(args, tools, tells) : describe(args, tools, tells);
}

type Tells = (name: string) => boolean;

function search(args: Obj, { index, describe: define }: SearchableTools, tells: Tells): ToolResult {
  const [query, limit = USUAL] = [get(args, 'query'), get(args, 'limit')];
  if (typeof query !== 'string' || query.length > LONGEST_QUERY) {
    return faultResult(`Argument "query" must be a text of at most ${LONGEST_QUERY} characters.`);
  }
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MOST) {
    return faultResult(`Argument "limit" must be a whole number from 1 to ${MOST}.`);
  }
  const found = index.search(query, limit, tells).flatMap((each) => {
    const { title, description } = define(each) ?? {};
    return [{ name: each, title, description: description?.slice(0, LONGEST_SUMMARY) }];
  });
  return structured({ tools: found });
}

function describe(args: Obj, { describe: define }: SearchableTools, tells: Tells): ToolResult {
  const wanted = get(args, 'name');
  const definition = typeof wanted === 'string' && tells(wanted) ? define(wanted) : undefined;
  return definition === undefined ? unknownTool(wanted) : structured(definition);
}

export function unknownTool(wanted: unknown): ToolResult {
  return faultResult(`There is no tool ${JSON.stringify(String(wanted).slice(0, 100))}: find one with ${SEARCH}.`);
}

/** Returns the inner call: the tool's name, and its arguments; null if they are malformed. */
export function innerCall(args: Obj): { readonly name: string; readonly args: Obj } | null {
  const [inner, given = {}] = [get(args, 'name'), get(args, 'arguments')];
  return typeof inner === 'string' && isObject(given) ? { name: inner, args: given } : null;
}

function structured(value: object): ToolResult {
  const text = JSON.stringify(value);
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
}
