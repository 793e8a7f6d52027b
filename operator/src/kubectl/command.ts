/** `kubectl gw`: commands for platform engineers in a cluster. The same program as `gw-operator`, by another name. */
import { VERSION } from '@gw/gateway/version';
import { Command } from 'commander';
import type { AddCommand, Program } from '../program.ts';
import { completionCommand } from './completion.ts';
import { diffCommand } from './diff.ts';
import { logsCommand } from './logs.ts';
import { rollbackCommand } from './rollback.ts';
import { routesCommand } from './routes.ts';
import { statusCommand } from './status.ts';
import { steeringCommands } from './steer.ts';
import { supportBundleCommand } from './support-bundle.ts';
import { traceCommand } from './trace.ts';
import { waitCommand } from './wait.ts';

/** One line for each command. */
const COMMANDS: readonly AddCommand[] = [
  statusCommand,
  routesCommand,
  diffCommand,
  rollbackCommand,
  ...steeringCommands,
  waitCommand,
  logsCommand,
  traceCommand,
  supportBundleCommand,
  completionCommand,
];

const DESCRIPTION = 'See and steer gw in a cluster: a plugin of kubectl.';

export function kubectlGwCommand(program: Program): Command {
  const command = new Command('kubectl-gw')
    .description(DESCRIPTION)
    .usage('<command> [options]')
    .version(VERSION)
    .showHelpAfterError('(see --help)')
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw status
  $ kubectl gw trace shop /books -H 'x-api-key: demo-key'
  $ kubectl gw rollback shop`,
    );
  for (const add of COMMANDS) add(command, program);
  return command;
}
