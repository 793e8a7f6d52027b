/** Compares the tools offered to agents. Changes in their requests are reported as changes of routes. */
import { canonicalJson } from '../artifact/canonical-json.ts';
import type { Tool } from '../artifact/tools.ts';
import { isObject, type Json, type JsonObject } from '../spec/json.ts';
import { outputOf, schemasOfTools, type ToolDefinition, toolDefinition } from '../tools/definition.ts';
import type { SchemaLookup } from '../tools/standalone-schema.ts';
import { breaking, type Change, harmless, without } from './change.ts';
import type { ComparableParts } from './comparable-parts.ts';

interface Side {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly lookup: SchemaLookup;
}

/** Returns no changes if one of the artifacts has no endpoint: that is reported as a whole. */
export function diffTools(before: ComparableParts, after: ComparableParts): readonly Change[] {
  if (before.tools === null || after.tools === null) return [];
  const [from, to] = [sideOf(before), sideOf(after)];
  const text = changed('mcp', 'instructions', before.tools.instructions, after.tools.instructions);
  const names = new Set([...from.tools.keys(), ...to.tools.keys()]);
  return [...text, ...[...names].flatMap((name) => comparedTool(name, from, to)), ...diffUpstreams(before, after)];
}

/** Which tools they have is not in the artifact. */
function diffUpstreams(before: ComparableParts, after: ComparableParts): readonly Change[] {
  // An operation's index changes with others.
  const byName = ({ tools, routes }: ComparableParts) =>
    new Map(
      (tools?.upstreams ?? []).map(({ authorize, ...each }) => {
        const operation = authorize === undefined ? null : (routes.operations[authorize]?.operation_id ?? null);
        return [each.name, { ...each, authorize: operation }];
      }),
    );
  const [from, to] = [byName(before), byName(after)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((name) => {
    const subject = `MCP upstream ${name}`;
    if (!from.has(name)) return [harmless(subject, 'added')];
    if (!to.has(name)) return [breaking(subject, 'removed')];
    return same(from.get(name), to.get(name)) ? [] : [harmless(subject, 'settings changed')];
  });
}

/** The stack ends before the limits on depth do only for schemas made to exhaust it. */
function comparedTool(name: string, before: Side, after: Side): readonly Change[] {
  try {
    return diffTool(name, before, after);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [harmless(`tool ${name}`, 'the schemas are too deep to compare')];
  }
}

function sideOf(artifact: ComparableParts): Side {
  const tools = (artifact.tools?.tools ?? []).map((tool): [string, Tool] => [tool.name, tool]);
  return { tools: new Map(tools), lookup: schemasOfTools(artifact) };
}

function diffTool(name: string, before: Side, after: Side): readonly Change[] {
  const subject = `tool ${name}`;
  const [old, now] = [before.tools.get(name), after.tools.get(name)];
  if (!old) return [harmless(subject, 'added')];
  if (!now) return [breaking(subject, 'removed')];
  const [from, to] = [toolDefinition(old, before.lookup), toolDefinition(now, after.lookup)];
  return [
    ...changed(subject, 'title', from.title, to.title),
    ...changed(subject, 'description', from.description, to.description),
    ...diffAnnotations(subject, from, to),
    ...diffArguments(subject, from.inputSchema, to.inputSchema),
    ...changed(subject, 'output schema', outputOf(old, before.lookup), outputOf(now, after.lookup)),
  ];
}

/** Reports only that texts or schemas differ, since both are long. */
function changed(subject: string, what: string, from: unknown, to: unknown): readonly Change[] {
  if (same(from, to)) return [];
  const how = isAbsent(from) ? 'added' : isAbsent(to) ? 'removed' : 'changed';
  return [harmless(subject, `${what} ${how}`)];
}

function same(from: unknown, to: unknown): boolean {
  return canonicalJson((from ?? null) as Json) === canonicalJson((to ?? null) as Json);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function diffAnnotations(subject: string, before: ToolDefinition, after: ToolDefinition): readonly Change[] {
  const [from, to] = [new Map(Object.entries(before.annotations)), new Map(Object.entries(after.annotations))];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((name) => {
    if (from.get(name) === to.get(name)) return [];
    return [harmless(subject, `${name}: ${from.get(name) ?? 'none'} → ${to.get(name) ?? 'none'}`)];
  });
}

/** Arguments that an agent with the old definition can no longer send are breaking changes. */
function diffArguments(subject: string, before: JsonObject, after: JsonObject): readonly Change[] {
  if (same(before, after)) return [];
  const [from, to] = [propertiesOf(before), propertiesOf(after)];
  const [needed, needs] = [requiredOf(before), requiredOf(after)];
  const removed = without([...from.keys()], [...to.keys()]);
  const added = without([...to.keys()], [...from.keys()]);
  const demanded = without(needs, needed);
  const other = [...from.keys()].filter((name) => to.has(name) && !same(from.get(name), to.get(name)));
  const changes = [
    ...removed.map((name) => breaking(subject, `argument ${name} removed`)),
    ...added.map((name) => {
      return demanded.includes(name)
        ? breaking(subject, `argument ${name} added, required`)
        : harmless(subject, `argument ${name} added`);
    }),
    ...demanded.filter((name) => from.has(name)).map((name) => breaking(subject, `argument ${name} is now required`)),
    ...without(needed, needs)
      .filter((name) => to.has(name))
      .map((name) => harmless(subject, `argument ${name} is no longer required`)),
    ...other.map((name) => harmless(subject, `schema of argument ${name} changed`)),
  ];
  return changes.length > 0 ? changes : [harmless(subject, 'input schema changed')];
}

function propertiesOf({ properties }: JsonObject): ReadonlyMap<string, Json> {
  return new Map(isObject(properties) ? Object.entries(properties as JsonObject) : []);
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.map(String) : [];
}
