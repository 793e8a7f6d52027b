/** `gw plugin`: the commands of plugin developers (docs/plugin-guide.md). */
import { Command } from 'commander';
import { pluginBuildCommand } from './plugin-build.ts';
import { pluginInitCommand } from './plugin-init.ts';
import { pluginPackCommand } from './plugin-pack.ts';
import { pluginTestCommand } from './plugin-test.ts';
import type { Program } from './program.ts';

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
