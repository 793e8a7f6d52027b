/** `gw mcp pin`: the digests of an MCP server's tools, as gw.yaml takes them (docs/mcp.md#upstream-pins). */
import { Command } from 'commander';
import { withoutControls } from '../../mcp/client/server-messages.ts';
import { offeredTool } from '../../mcp/upstreams/definition.ts';
import type { Obj } from '../../spec/json.ts';
import { messageOf } from '../../text/message-of.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { headerOption, timeoutOption } from '../trace/trace-options.ts';
import { type McpServer, toolsOfServer, withServer } from './client.ts';
import { mcpUrl } from './target.ts';

interface Flags {
  readonly header: McpServer['headers'];
  readonly timeout: number;
}

const HELP = `
Examples:
  $ gw mcp pin https://tickets.example.com/mcp
  $ gw mcp pin https://tickets.example.com/mcp -H "authorization: $TICKETS_AUTHORIZATION"

Prints "pin" for mcp.upstreams of gw.yaml: with it, a tool whose name, title, description, schemas or annotations change is
held back until it is pinned again. Review what the tools say before you pin them.

Exit codes: 0 success; 1 the server could not be asked, or refused.`;

export function pinCommand(program: Program): Command {
  return new Command('pin')
    .description('Print the digests of the tools of an MCP server, to pin them in gw.yaml.')
    .argument('<url>', 'URL of an MCP endpoint', mcpUrl)
    .addOption(headerOption())
    .addOption(timeoutOption('timeout of listing'))
    .addHelpText('after', HELP)
    .action((url: string, flags: Flags) => run(url, flags, program));
}

async function run(url: string, { header, timeout }: Flags, program: Program): Promise<void> {
  try {
    const signal = AbortSignal.timeout(timeout * 1000);
    const listed = await withServer({ url, headers: header, signal }, toolsOfServer);
    const lines = listed.flatMap((tool) => pinned(tool, program));
    program.stdout(lines.length === 0 ? 'pin: {}\n' : `pin:\n${lines.sort().join('')}`);
    program.exit(0);
  } catch (error) {
    program.stderr(`gw mcp pin: ${withoutControls(messageOf(error))}\n`);
    program.exit(EXIT_FAILURE);
  }
}

/** Tools that the gateway would not offer are not pinned either. */
function pinned(tool: Obj, program: Program): string[] {
  const offered = offeredTool(tool, '');
  if (typeof offered !== 'string') return [`  ${JSON.stringify(offered.own)}: ${offered.digest}\n`];
  program.stderr(
    `warning: ${withoutControls(String(tool['name']).slice(0, 128))} is not offered: ${withoutControls(offered)}\n`,
  );
  return [];
}
