/** `gw mcp tools`: the tools offered to agents, and their cost in a model's context (docs/mcp.md). */
import { Command } from 'commander';
import { withoutControls } from '../../mcp/client/server-messages.ts';
import { messageOf } from '../../text/message-of.ts';
import { listingOf, toolsOfArtifact, upstreamsOfArtifact } from '../../tools/listing.ts';
import { tokensOf } from '../../tools/tokens.ts';
import { structured } from '../command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { table } from '../command-line/table.ts';
import { formatOption } from '../command-line/variables.ts';
import { headerOption, timeoutOption } from '../trace/trace-options.ts';
import { type McpServer, toolsOfServer, withServer } from './client.ts';
import { type McpTarget, mcpTarget, openTools } from './target.ts';

interface Flags {
  readonly header: McpServer['headers'];
  readonly timeout: number;
  readonly format: 'table' | 'json' | 'yaml';
}

interface ListedTool {
  readonly definition: { readonly name?: unknown; readonly title?: unknown };
  /** Method of its operation; absent if a server does not say. */
  readonly method?: string;
  readonly path?: string;
  readonly tokens: number;
}

const HELP = `
Examples:
  $ gw mcp tools api.gwa
  $ gw mcp tools api.gwa --format json
  $ gw mcp tools http://localhost:8080
  $ gw mcp tools https://mcp.example.com/v1/mcp -H "authorization: $AUTHORIZATION"

A URL without a path is that of a gateway, whose endpoint is /__gw/mcp. Tokens are an estimate: a quarter of the
characters of a tool's definition.

Exit codes: 0 success; 1 the artifact cannot be read, has been changed or does not enable MCP, or the server cannot be
reached or refused.`;

export function toolsCommand(program: Program): Command {
  return new Command('tools')
    .description(
      'List the tools of an artifact, of a running gateway, or of any MCP server, with their size in tokens.',
    )
    .argument('<target>', 'artifact file, or folder of its parts; URL of the gateway or of an MCP endpoint', mcpTarget)
    .addOption(headerOption())
    .addOption(timeoutOption('timeout of listing'))
    .addOption(formatOption(['table', 'json']))
    .addHelpText('after', HELP)
    .action((target: McpTarget, flags: Flags) => run(target, flags, program));
}

async function run(target: McpTarget, flags: Flags, program: Program): Promise<void> {
  if (target.kind === 'server') return ofServer(target.url, flags, program);
  const artifact = await openTools('mcp tools', target.path, program);
  if (artifact === null) return;
  await show(toolsOfArtifact(artifact), upstreamsOfArtifact(artifact), flags, program);
}

async function ofServer(url: string, flags: Flags, program: Program): Promise<void> {
  try {
    const signal = AbortSignal.timeout(flags.timeout * 1000);
    const tools = await withServer({ url, headers: flags.header, signal }, toolsOfServer);
    const listed = tools.map((definition) => ({ definition, tokens: tokensOf(definition) }));
    await show(listed, [], flags, program);
  } catch (error) {
    program.stderr(`gw mcp tools: ${withoutControls(messageOf(error))}\n`);
    program.exit(EXIT_FAILURE);
  }
}

async function show(
  tools: readonly ListedTool[],
  upstreams: readonly string[],
  { format }: Flags,
  { stdout, stderr, exit }: Program,
): Promise<void> {
  const listing = listingOf(tools, upstreams);
  const { tokens, warnings } = listing;
  const data = await structured(format, listing);
  if (data !== null) {
    stdout(data);
    return exit(0);
  }
  const rows = tools.map(({ definition: { name, title }, method, path, tokens: size }) => [
    ...[String(name), method === undefined ? '-' : `${method} ${path}`, String(size), String(title ?? '-')],
  ]);
  stdout(table([['TOOL', 'OPERATION', 'TOKENS', 'TITLE'], ...rows]));
  const more = upstreams.length === 0 ? '' : `, and those of MCP upstreams: ${upstreams.join(', ')}`;
  stdout(`${tools.length} tools, about ${tokens} tokens${more}\n`);
  for (const warning of warnings) stderr(`warning: ${warning}\n`);
  exit(0);
}
