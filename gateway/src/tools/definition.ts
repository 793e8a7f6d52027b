/** A tool in its form for clients (Model Context Protocol, "Tool"). */
import type { Artifact } from '../artifact/read.ts';
import type { Tool, ToolAnnotations } from '../artifact/tools.ts';
import { isObject, type Json, type JsonObject } from '../spec/json.ts';
import { type SchemaLookup, standalone } from './standalone-schema.ts';

export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations: ToolAnnotations;
  readonly _meta?: JsonObject;
}

/** Member of `_meta` that names a tool's group. */
const GROUP = 'dev.gw/group';

/** The schemas that tools refer to. */
export function schemasOfTools({ tools, routes }: Pick<Artifact, 'tools' | 'routes'>): SchemaLookup {
  const own = tools?.schemas ?? {};
  return (id) =>
    Object.hasOwn(own, id) ? own[id] : Object.hasOwn(routes.schemas, id) ? routes.schemas[id] : undefined;
}

export function toolDefinition(tool: Tool, lookup: SchemaLookup): ToolDefinition {
  const { name, title, description, group, annotations } = tool;
  const outputSchema = outputOf(tool, lookup);
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: withProperties(standalone(tool.input, lookup)),
    ...(outputSchema === null ? {} : { outputSchema }),
    annotations,
    ...(group === undefined ? {} : { _meta: { [GROUP]: group } }),
  };
}

/** Adds `properties`: clients of OpenAI and others refuse an object without it, even without arguments. */
export function withProperties(schema: JsonObject): JsonObject {
  return 'properties' in schema ? schema : { ...schema, properties: {} };
}

/** Returns the schema of a tool's output; null if it is not described. */
export function outputOf({ output }: Tool, lookup: SchemaLookup): JsonObject | null {
  if (!isObject(output)) return null;
  const schema: Json = standalone(output as JsonObject, lookup);
  return isObject(schema) ? schema : null;
}

/** Reports whether the schema is one of objects, which is all that revisions before 2026-07-28 know. */
export function isOfObjects(schema: JsonObject): boolean {
  return schema['type'] === 'object';
}
