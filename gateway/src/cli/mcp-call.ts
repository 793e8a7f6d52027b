/** `gw mcp call`: calls a tool as agents do (docs/mcp.md). */
import { Command, InvalidArgumentError } from 'commander';
import { MCP_PATH } from '../mcp/paths.ts';
import { messageOf } from '../message-of.ts';
import { get, isObject, type Obj } from '../spec/json.ts';
import { callRemoteTool } from './mcp-client.ts';
import { EXIT_FAILURE, type Program } from './program.ts';
import { headerOption, timeoutOption } from './trace-options.ts';
import { formatOption, option } from './variables.ts';

interface Flags {
  readonly arguments: Obj;
  readonly header: readonly (readonly [string, string])[];
  readonly timeout: number;
  readonly format: 'text' | 'json';
}

/** The tool has answered, and says that it failed. */
const EXIT_TOOL_ERROR = 3;

const HELP = `
Examples:
  $ gw mcp call http://localhost:8080 listBooks
  $ gw mcp call http://localhost:8080 getBook --arguments '{"id": 7}' -H 'x-api-key: demo-key'
  $ gw mcp call https://mcp.example.com/v1/mcp search --arguments '{"q": "Emma"}' --format json

A URL without a path is that of a gateway, whose endpoint is /__gw/mcp. Revision 2026-07-28 is spoken where the server
does, else a session is opened and ended. Text of the result is written as it is, other content as JSON, one a line;
--format json writes the whole result.

Exit codes: 0 the tool succeeded; 3 it failed, and the result says why; 1 the server could not be asked, or refused.`;

export function callCommand(program: Program): Command {
  return new Command('call')
    .description('Call a tool of a running gateway, or of any MCP server.')
    .argument('<url>', 'URL of the gateway or of an MCP endpoint', mcpUrl)
    .argument('<tool>', 'name of the tool')
    .addOption(option('--arguments <json>', 'arguments, as a JSON object').argParser(object).default({}, 'none'))
    .addOption(headerOption())
    .addOption(timeoutOption('timeout of the call'))
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((at: string, tool: string, flags: Flags) => run(at, tool, flags, program));
}

async function run(at: string, tool: string, flags: Flags, program: Program): Promise<void> {
  try {
    const signal = AbortSignal.timeout(flags.timeout * 1000);
    const result = await callRemoteTool({ url: at, headers: flags.header, signal }, tool, flags.arguments);
    program.stdout(flags.format === 'json' ? `${JSON.stringify(result)}\n` : textOf(result));
    program.exit(get(result, 'isError') === true ? EXIT_TOOL_ERROR : 0);
  } catch (error) {
    program.stderr(`gw mcp call: ${printable(messageOf(error))}\n`);
    program.exit(EXIT_FAILURE);
  }
}

function textOf(result: Obj): string {
  const content = get(result, 'content');
  const lines = (Array.isArray(content) ? content : []).map((each: unknown) => {
    const text = get(each, 'type') === 'text' ? get(each, 'text') : undefined;
    return typeof text === 'string' ? printable(text) : JSON.stringify(each);
  });
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`)).join('');
}

/** Without what a terminal would obey: a server may be anybody's. */
export function printable(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, '\ufffd');
}

/** The endpoint that a URL of the command line names; one without a path is that of a gateway. */
export function mcpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('Give a URL, such as http://localhost:8080.');
  }
  const at = new URL(text);
  if (at.pathname === '/') at.pathname = MCP_PATH;
  return at.href;
}

function object(text: string): Obj {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isObject(value)) throw new InvalidArgumentError('Give a JSON object, such as \'{"id": 7}\'.');
  return value;
}
