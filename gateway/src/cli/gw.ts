/** The command `gw` with all its subcommands (docs/reference/cli.md). */
import { Command } from 'commander';
import { VERSION } from '../version.ts';
import type { Program } from './command-line/program.ts';

/** One line a command. Its modules are imported if the command line names it. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Program) => Command>>> = {
  init: async () => (await import('./init.ts')).initCommand,
  dev: async () => (await import('./dev/dev.ts')).devCommand,
  compile: async () => (await import('./compile.ts')).compileCommand,
  validate: async () => (await import('./validate.ts')).validateCommand,
  manifests: async () => (await import('./manifests.ts')).manifestsCommand,
  serve: async () => (await import('./serve/serve.ts')).serveCommand,
  routes: async () => (await import('./artifact/routes.ts')).routesCommand,
  inspect: async () => (await import('./artifact/inspect.ts')).inspectCommand,
  diff: async () => (await import('./artifact/diff.ts')).diffCommand,
  trace: async () => (await import('./trace/trace.ts')).traceCommand,
  mcp: async () => (await import('./mcp/mcp.ts')).mcpCommand,
  waf: async () => (await import('./waf/waf.ts')).wafCommand,
  plugin: async () => (await import('./plugin/plugin.ts')).pluginCommand,
  keygen: async () => (await import('./artifact/keygen.ts')).keygenCommand,
  verify: async () => (await import('./artifact/verify.ts')).verifyCommand,
  hash: async () => (await import('./hash.ts')).hashCommand,
  completion: async () => (await import('./command-line/completion.ts')).completionCommand,
};

const EXAMPLES = `
Examples:
  $ gw init demo && cd demo
  $ gw compile --manifest gw.yaml --output api.gwa
  $ gw serve --artifact api.gwa`;

/**
 * Returns the command line with the command that the first argument names, or with all. Usage errors are thrown, as
 * CommanderError.
 */
export async function gwCommand(program: Program, [named = '']: readonly string[] = []): Promise<Command> {
  const gw = new Command('gw')
    .description('A spec-driven API gateway: compiles OpenAPI and AsyncAPI documents and serves them.')
    .version(VERSION, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXAMPLES);
  for (const create of await importedCommands(named)) gw.addCommand(create(program));
  for (const command of [gw, ...gw.commands, ...gw.commands.flatMap((each) => each.commands)]) {
    command.exitOverride().showHelpAfterError('(see --help)');
  }
  return gw;
}

/** Completions are of all commands. */
function importedCommands(named: string): Promise<((program: Program) => Command)[]> {
  const only = named === 'completion' || !Object.hasOwn(COMMANDS, named) ? undefined : COMMANDS[named];
  return Promise.all((only ? [only] : Object.values(COMMANDS)).map((load) => load()));
}
