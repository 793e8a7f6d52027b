/** The command `gw-control` with all its subcommands (reference 3, section 4). */
import { VERSION } from '@gw/gateway/version';
import { Command } from 'commander';
import type { AddCommand, Program } from './program.ts';
import { serveCommand } from './serve.ts';

/** One line a command. */
const COMMANDS: readonly AddCommand[] = [serveCommand];

const EXAMPLES = `
Examples:
  $ GW_CONTROL_ADMIN_TOKEN=secret gw-control serve --database-url pglite://./data
  $ GW_CONTROL_ADMIN_TOKEN=secret gw-control serve --database-url postgres://gw@db/gw --listen 0.0.0.0:9090`;

export function controlCommand(program: Program): Command {
  const command = new Command('gw-control')
    .description('The gw control plane: stores specs and plugins, compiles them, and deploys to gateways.')
    .version(VERSION, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EXAMPLES);
  for (const add of COMMANDS) add(command, program);
  return command;
}
