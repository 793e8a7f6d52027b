/** `gw mcp`: lists the tools offered to agents, and calls them (docs/mcp.md). */
import { Command } from 'commander';
import type { Program } from '../command-line/program.ts';
import { callCommand } from './call.ts';
import { pinCommand } from './pin.ts';
import { toolsCommand } from './tools.ts';

export function mcpCommand(program: Program): Command {
  const mcp = new Command('mcp')
    .description('List the tools that agents are offered, call them, and pin those of other servers.')
    .addHelpText('after', '\nExamples:\n  $ gw mcp tools api.gwa\n  $ gw mcp call http://localhost:8080 listBooks');
  mcp.addCommand(toolsCommand(program).exitOverride());
  mcp.addCommand(callCommand(program).exitOverride());
  mcp.addCommand(pinCommand(program).exitOverride());
  return mcp;
}
