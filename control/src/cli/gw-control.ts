/** The command `gw-control` with all its subcommands (docs/reference/cli.md#gw-control-clients). */
import { VERSION } from '@gw/gateway/version';
import { Command } from 'commander';
import { apiKeysCommand, tokensCommand, whoamiCommand } from './access.ts';
import { artifactsCommand } from './artifacts.ts';
import { auditCommand } from './audit.ts';
import { compilationsCommand, compileCommand } from './compile.ts';
import { contextCommand } from './context.ts';
import { dataPlanesCommand } from './data-planes.ts';
import { deployCommand, deploymentsCommand, rollbackCommand } from './deployments.ts';
import { migrateCommand } from './migrate.ts';
import { pluginsCommand } from './plugins.ts';
import type { AddCommand, Program } from './program.ts';
import { projectPluginsCommand } from './project-plugins.ts';
import { initCommand, projectsCommand } from './projects.ts';
import { seedPluginsCommand } from './seed-plugins.ts';
import { serveCommand } from './serve.ts';
import { specsCommand } from './specs.ts';
import { completionCommand, healthCommand, openapiCommand } from './system.ts';

/** One line for each command. */
const COMMANDS: readonly AddCommand[] = [
  serveCommand,
  migrateCommand,
  seedPluginsCommand,
  contextCommand,
  initCommand,
  projectsCommand,
  specsCommand,
  pluginsCommand,
  projectPluginsCommand,
  compileCommand,
  compilationsCommand,
  artifactsCommand,
  deployCommand,
  rollbackCommand,
  deploymentsCommand,
  dataPlanesCommand,
  apiKeysCommand,
  tokensCommand,
  whoamiCommand,
  auditCommand,
  healthCommand,
  openapiCommand,
  completionCommand,
];

const EXAMPLES = `
Exit codes: 0 success, 1 failure, also of usage, 3 a compilation or deployment that was waited for did not succeed.

Examples:
  $ GW_CONTROL_ADMIN_TOKEN=secret gw-control serve --database-url pglite://./data
  $ echo secret | gw-control context set local --server http://127.0.0.1:9090 --token-stdin
  $ gw-control init shop && gw-control compile --project shop --wait && gw-control deploy --project shop --wait`;

/** Returns the program, which throws usage errors as CommanderError. */
export function controlCommand(program: Program): Command {
  const command = new Command('gw-control')
    .description('The gw control plane: stores specs and plugins, compiles them, and deploys to gateways.')
    .version(VERSION, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EXAMPLES);
  for (const add of COMMANDS) add(command, program);
  for (const each of [command, ...command.commands, ...command.commands.flatMap(({ commands }) => commands)]) {
    each.exitOverride().showHelpAfterError('(see --help)');
  }
  return command;
}
