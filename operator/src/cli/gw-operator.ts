/** The command `gw-operator` with all its subcommands. */
import { VERSION } from '@gw/gateway/version';
import { Command } from 'commander';
import { kubectlGwCommand } from '../kubectl/command.ts';
import type { Program } from '../program.ts';
import { crdsCommand } from './crds.ts';
import { fetchCommand } from './fetch.ts';
import { localCommand } from './local.ts';
import { runCommand } from './run.ts';

export function gwOperatorCommand(program: Program): Command {
  const command = new Command('gw-operator')
    .description('The gw Kubernetes operator: compiles API specs and runs the gateways that serve them.')
    .version(VERSION)
    .showHelpAfterError('(see --help)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ gw-operator local examples/bookstore --allow-commands\n  $ gw-operator run --image registry.example.org/gw:0.8.0',
    );
  for (const add of [runCommand, localCommand, crdsCommand, fetchCommand]) add(command, program);
  command.addCommand(kubectlGwCommand(program).name('kubectl'));
  // The program is the same: its commands work under this name too.
  for (const each of kubectlGwCommand(program).commands) command.addCommand(each, { hidden: true });
  return command;
}
