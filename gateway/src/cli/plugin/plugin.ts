/** `gw plugin`: the commands of plugin developers (docs/plugin-guide.md). */
import { Command } from 'commander';
import type { Program } from '../command-line/program.ts';
import { pluginBuildCommand } from './build.ts';
import { pluginInitCommand } from './init.ts';
import { pluginPackCommand } from './pack.ts';
import { pluginTestCommand } from './test.ts';

const HELP = `
Examples:
  $ gw plugin init hello && cd hello && npm install
  $ gw plugin build && gw plugin test
  $ gw plugin pack`;

export function pluginCommand(program: Program): Command {
  const plugin = new Command('plugin').description('Start, build, test and pack plugins.').addHelpText('after', HELP);
  for (const create of [pluginInitCommand, pluginBuildCommand, pluginTestCommand, pluginPackCommand]) {
    plugin.addCommand(create(program).exitOverride());
  }
  return plugin;
}
