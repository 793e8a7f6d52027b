#!/usr/bin/env node
/** The `gw` command line (reference 1, section 4.3). */
import { Command, CommanderError } from 'commander';
import { compileCommand } from './cli/compile.ts';
import { completionCommand } from './cli/completion.ts';
import { devCommand } from './cli/dev.ts';
import { initCommand } from './cli/init.ts';
import { inspectCommand } from './cli/inspect.ts';
import { keygenCommand } from './cli/keygen.ts';
import type { Program } from './cli/program.ts';
import { routesCommand } from './cli/routes.ts';
import { serveCommand } from './cli/serve.ts';
import { validateCommand } from './cli/validate.ts';
import { verifyCommand } from './cli/verify.ts';
import { VERSION } from './version.ts';

const program: Program = {
  env: process.env,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  exit: (code) => process.exit(code),
  onSignal: (signal, listener) => void process.on(signal, listener),
};

const gw = new Command('gw')
  .description('A spec-driven API gateway: compiles OpenAPI and AsyncAPI documents and serves them.')
  .version(VERSION, '-V, --version', 'print the version')
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true })
  .addHelpText(
    'after',
    '\nExamples:\n  $ gw init demo && cd demo\n  $ gw compile --manifest gw.yaml --output api.gwa\n  $ gw serve --artifact api.gwa\n',
  )
  .addCommand(initCommand(program))
  .addCommand(devCommand(program))
  .addCommand(compileCommand(program))
  .addCommand(validateCommand(program))
  .addCommand(serveCommand(program))
  .addCommand(routesCommand(program))
  .addCommand(inspectCommand(program))
  .addCommand(keygenCommand(program))
  .addCommand(verifyCommand(program))
  .addCommand(completionCommand(program));

for (const command of [gw, ...gw.commands]) command.exitOverride();

try {
  await gw.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Usage errors exit with 1, and with 2 for `gw compile` (D27); --help and --version are none.
  if (error.exitCode !== 0) process.exitCode = process.argv[2] === 'compile' ? 2 : 1;
}
