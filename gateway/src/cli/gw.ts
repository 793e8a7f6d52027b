/** The command `gw` with all its subcommands (docs/reference/cli.md). */
import { Command } from 'commander';
import { VERSION } from '../version.ts';
import { diffCommand } from './artifact/diff.ts';
import { inspectCommand } from './artifact/inspect.ts';
import { keygenCommand } from './artifact/keygen.ts';
import { routesCommand } from './artifact/routes.ts';
import { verifyCommand } from './artifact/verify.ts';
import { completionCommand } from './command-line/completion.ts';
import type { Program } from './command-line/program.ts';
import { compileCommand } from './compile.ts';
import { devCommand } from './dev/dev.ts';
import { hashCommand } from './hash.ts';
import { initCommand } from './init.ts';
import { manifestsCommand } from './manifests.ts';
import { mcpCommand } from './mcp/mcp.ts';
import { pluginCommand } from './plugin/plugin.ts';
import { serveCommand } from './serve/serve.ts';
import { traceCommand } from './trace/trace.ts';
import { validateCommand } from './validate.ts';

/** One line a command. */
const COMMANDS: readonly ((program: Program) => Command)[] = [
  initCommand,
  devCommand,
  compileCommand,
  validateCommand,
  manifestsCommand,
  serveCommand,
  routesCommand,
  inspectCommand,
  diffCommand,
  traceCommand,
  mcpCommand,
  pluginCommand,
  keygenCommand,
  verifyCommand,
  hashCommand,
  completionCommand,
];

const EXAMPLES = `
Examples:
  $ gw init demo && cd demo
  $ gw compile --manifest gw.yaml --output api.gwa
  $ gw serve --artifact api.gwa`;

/** Usage errors are thrown, as CommanderError. */
export function gwCommand(program: Program): Command {
  const gw = new Command('gw')
    .description('A spec-driven API gateway: compiles OpenAPI and AsyncAPI documents and serves them.')
    .version(VERSION, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXAMPLES);
  for (const create of COMMANDS) gw.addCommand(create(program));
  for (const command of [gw, ...gw.commands, ...gw.commands.flatMap((each) => each.commands)]) {
    command.exitOverride().showHelpAfterError('(see --help)');
  }
  return gw;
}
