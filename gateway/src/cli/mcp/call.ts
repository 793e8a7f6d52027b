/** `gw mcp call`: calls a tool as agents do (docs/mcp.md#call). */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import type { McpUpstream } from '../../artifact/tools.ts';
import { parseExactly } from '../../json/exact-json.ts';
import { messageLine, SERVER_LOG_LEVELS, withoutControls } from '../../mcp/client/server-messages.ts';
import { get, isObject, type Obj } from '../../spec/json.ts';
import { messageOf } from '../../text/message-of.ts';
import type { GivenArgument } from '../../tools/typed-arguments.ts';
import { structured } from '../command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { formatOption, option } from '../command-line/variables.ts';
import { serveOption } from '../serve/serve-flags.ts';
import { headerOption, timeoutOption } from '../trace/trace-options.ts';
import { type McpServer, withServer } from './client.ts';
import { type McpTarget, mcpTarget, openTools, withServed } from './target.ts';
import { callTool, type ToolCall } from './tool-call.ts';

interface Flags {
  readonly arg: readonly GivenArgument[];
  readonly arguments?: string;
  readonly header: McpServer['headers'];
  readonly timeout: number;
  readonly logs: ToolCall['logs'];
  readonly egressAllow: readonly string[];
  readonly format: 'text' | 'json' | 'yaml';
}

/** The tool has answered, and says that it failed. */
const EXIT_TOOL_ERROR = 3;
/** Bytes of arguments on standard input. */
const MOST_ARGUMENTS = 16 << 20;
/** Milliseconds that an upstream of a newly loaded artifact may take to list its tools. */
const UPSTREAM_PATIENCE_MS = 10_000;

const HELP = `
Examples:
  $ gw mcp call http://localhost:8080 listBooks
  $ gw mcp call http://localhost:8080 getBook --arg id=7 -H 'x-api-key: demo-key'
  $ gw mcp call api.gwa addBook --arg title=Emma --arg tags=novel --arg tags=classic
  $ gw mcp call https://mcp.example.com/v1/mcp search --arguments '{"q": "Emma"}' --format json
  $ jq '{title}' book.json | gw mcp call http://localhost:8080 addBook --arguments -

A URL without a path is that of a gateway, whose endpoint is /__gw/mcp. An artifact is served for the call as gw dev
serves it: plaintext upstreams, and those on this machine, are allowed. Revision 2026-07-28 is spoken where the server
does, else a session is opened and ended.

Values of --arg have the types of the tool's input schema: if it allows a string, the value is that string, otherwise
JSON. For a list, give --arg once for each item, or one list in JSON.

Text of the result is written as it is, other content as JSON, one a line; --format json writes the whole result.
Progress, and what the server logs, goes to standard error.

Exit codes: 0 the tool succeeded; 3 it failed, and the result says why; 1 the server could not be asked, or refused.`;

export function callCommand(program: Program): Command {
  return new Command('call')
    .description('Call a tool of a running gateway, of an artifact, or of any MCP server.')
    .argument('<target>', 'URL of the gateway or of an MCP endpoint; artifact file, or folder of its parts', mcpTarget)
    .argument('<tool>', 'name of the tool')
    .addOption(option('--arg <name=value>', 'argument (repeatable)').argParser(givenArgument).default([], 'none'))
    .addOption(option('--arguments <json>', 'arguments, as a JSON object; @FILE reads a file, - standard input'))
    .addOption(headerOption())
    .addOption(timeoutOption('timeout of the call'))
    .addOption(
      option('--logs <level>', 'least severe log messages of the server that are shown')
        .choices([...SERVER_LOG_LEVELS, 'off'])
        .default('info'),
    )
    .addOption(serveOption('egressAllow', 'this machine'))
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((target: McpTarget, tool: string, flags: Flags) => run(target, tool, flags, program));
}

/** Repeatable. */
function givenArgument(text: string, previous: readonly GivenArgument[]): readonly GivenArgument[] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('Give a name and a value, such as id=7.');
  return [...previous, [text.slice(0, equals), text.slice(equals + 1)]];
}

async function run(target: McpTarget, tool: string, flags: Flags, program: Program): Promise<void> {
  try {
    const call: ToolCall = {
      name: tool,
      args: await objectOf(flags.arguments, program),
      given: flags.arg,
      logs: flags.logs,
      patienceMs: 0,
    };
    if (target.kind === 'server') return await finish(await ask(target.url, call, flags, program), flags, program);
    const artifact = await openTools('mcp call', target.path, program);
    if (artifact === null) return;
    const patienceMs = mayBeOfUpstream(tool, artifact.tools?.upstreams ?? []) ? UPSTREAM_PATIENCE_MS : 0;
    const result = await withServed(target.path, flags, program, (url) =>
      ask(url, { ...call, patienceMs }, flags, program),
    );
    await finish(result, flags, program);
  } catch (error) {
    program.stderr(`gw mcp call: ${withoutControls(messageOf(error))}\n`);
    program.exit(EXIT_FAILURE);
  }
}

function ask(url: string, call: ToolCall, { header, timeout, logs }: Flags, { stderr }: Program): Promise<Obj> {
  const onMessage = (message: Obj) => {
    const line = messageLine(message, logs);
    if (line !== null) stderr(`${withoutControls(line)}\n`);
  };
  const signal = AbortSignal.timeout(timeout * 1000);
  return withServer({ url, headers: header, signal, onMessage }, (connection) => callTool(connection, call));
}

async function finish(result: Obj, { format }: Flags, program: Program): Promise<void> {
  program.stdout((await structured(format, result)) ?? textOf(result));
  const type = get(result, 'resultType') ?? 'complete';
  if (type !== 'complete') {
    program.stderr(
      `gw mcp call: the tool needs input from its client (${withoutControls(String(type))}), which has none\n`,
    );
    return program.exit(EXIT_FAILURE);
  }
  program.exit(get(result, 'isError') === true ? EXIT_TOOL_ERROR : 0);
}

/** Reports whether the tool may be an upstream's: those are listed after the artifact is loaded. */
function mayBeOfUpstream(tool: string, upstreams: readonly Pick<McpUpstream, 'prefix'>[]): boolean {
  return upstreams.some(({ prefix }) => tool.startsWith(prefix));
}

function textOf(result: Obj): string {
  const content = get(result, 'content');
  const lines = (Array.isArray(content) ? content : []).map((each: unknown) => {
    const text = get(each, 'type') === 'text' ? get(each, 'text') : undefined;
    return withoutControls(typeof text === 'string' ? text : JSON.stringify(each));
  });
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`)).join('');
}

/** Throws if it is not a JSON object, and errors of reading. */
async function objectOf(source: string | undefined, { stdin }: Program): Promise<Obj> {
  if (source === undefined) return {};
  const text =
    source === '-'
      ? Buffer.from(await stdin(MOST_ARGUMENTS)).toString()
      : source.startsWith('@')
        ? readFileSync(source.slice(1), 'utf8')
        : source;
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch {
    value = undefined;
  }
  if (!isObject(value)) throw new Error('--arguments: give a JSON object, such as \'{"id": 7}\'');
  return value;
}
