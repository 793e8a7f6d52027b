/** One call of a server's tool. Its input schema is looked up only if the call depends on it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Session, Stateless } from '../../mcp/client/client.ts';
import { McpRefusal } from '../../mcp/client/refusal.ts';
import type { ServerLogLevel } from '../../mcp/client/server-messages.ts';
import { HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND } from '../../mcp/protocol/json-rpc.ts';
import { headersOfArguments, parameterHeaders } from '../../mcp/upstreams/parameter-headers.ts';
import { get, type JsonObject, type Obj } from '../../spec/json.ts';
import { nearestNames } from '../../text/nearest-name.ts';
import { argumentsOf, type GivenArgument } from '../../tools/typed-arguments.ts';
import { type Connection, toolsOfServer } from './client.ts';

export interface ToolCall {
  readonly name: string;
  readonly args: Obj;
  /** Arguments typed by the tool's schema; they replace `args` of the same name. */
  readonly given: readonly GivenArgument[];
  /** Level at which the server is asked to log. */
  readonly logs: ServerLogLevel | 'off';
  /** Milliseconds for which a tool that is not there yet is waited for. */
  readonly patienceMs: number;
}

/** Names a tool, in search mode (docs/mcp.md#search). */
const DESCRIBE = 'describe_tool';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
/** A progress token: there is one call. */
const PROGRESS = 'call';
const AGAIN_MS = 100;

/** The result. Throws McpRefusal, errors of the connection, and of arguments that the tool does not take. */
export async function callTool(connection: Connection, call: ToolCall): Promise<Obj> {
  const logging = await withLogs(connection, call.logs);
  const needed = call.given.length > 0 || call.patienceMs > 0;
  const schema = needed ? await awaitedSchema(connection, call) : undefined;
  const args = { ...call.args, ...argumentsOf(call.given, schema) };
  try {
    return await send(logging, call.name, args, schema);
  } catch (error) {
    if (!(error instanceof McpRefusal)) throw error;
    if (error.code === HEADER_MISMATCH && schema === undefined) {
      return send(logging, call.name, args, await schemaOf(connection, call.name));
    }
    throw await explained(error, connection, call.name);
  }
}

function send({ client, link, asking }: Connection, name: string, args: Obj, schema: unknown): Promise<Obj> {
  const repeated = link.era === 'stateless' && schema !== undefined ? parameterHeaders(schema as JsonObject) : [];
  const headers = typeof repeated === 'string' ? [] : headersOfArguments(repeated, args);
  const params = { name, arguments: args, _meta: { progressToken: PROGRESS } };
  return client.ask({ method: 'tools/call', name, params, headers }, link, asking);
}

/** Asked of servers that say that they log; one that refuses still can be called. */
async function withLogs(connection: Connection, level: ToolCall['logs']): Promise<Connection> {
  const { client, link, asking } = connection;
  if (level === 'off') return connection;
  if (link.era === 'stateless') return { ...connection, link: logged(link, level) };
  if (get(get(link.server, 'capabilities'), 'logging') === undefined) return connection;
  try {
    await client.ask({ method: 'logging/setLevel', params: { level } }, link, asking);
  } catch (error) {
    if (!(error instanceof McpRefusal)) throw error;
  }
  return connection;
}

function logged(link: Stateless, level: ServerLogLevel): Stateless | Session {
  return { ...link, meta: { ...link.meta, [LOG_LEVEL]: level } };
}

async function awaitedSchema(connection: Connection, { name, patienceMs }: ToolCall): Promise<unknown> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const schema = await schemaOf(connection, name);
    if (schema !== undefined || performance.now() >= until) return schema;
    await delay(AGAIN_MS, undefined, { signal: connection.asking.signal });
  }
}

/** Returns the schema of the arguments; undefined if the server does not list the tool. */
async function schemaOf(connection: Connection, name: string): Promise<unknown> {
  const tools = await toolsOfServer(connection);
  const listed = tools.find((each) => each['name'] === name);
  if (listed || !tools.some((each) => each['name'] === DESCRIBE)) return get(listed, 'inputSchema');
  const described = await send(connection, DESCRIBE, { name }, undefined);
  return get(get(described, 'structuredContent'), 'inputSchema');
}

/** Adds similar names if the tool does not exist. */
async function explained(error: McpRefusal, connection: Connection, name: string): Promise<Error> {
  if (error.code !== INVALID_PARAMS && error.code !== METHOD_NOT_FOUND) return error;
  const tools = await toolsOfServer(connection).catch(() => []);
  const names = tools.map((each) => String(each['name']));
  if (names.includes(name)) return error;
  const near = nearestNames(name, names);
  if (near.length === 0) return error;
  return new Error(`${error.message}\nDid you mean ${near.join(', ')}?`, { cause: error });
}
