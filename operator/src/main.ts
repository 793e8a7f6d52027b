#!/usr/bin/env node
/** `gw-operator`: the Kubernetes operator, and its local mode. */
import { earlySignals } from '@gw/gateway/early-signals';
import type { Command } from 'commander';
import type { Program } from './program.ts';

const { stopped } = earlySignals((code) => process.exit(code));
const { enlargeThreadPool } = await import('@gw/gateway/thread-pool');
enlargeThreadPool(process.env);
const { basename, extname, join } = await import('node:path');
const { messageOf } = await import('@gw/gateway/message-of');
const { readEnvironment } = await import('./config.ts');

/** Bundled, `gw` is beside this program; in the checkout, in its own workspace. */
const gwEntry =
  extname(import.meta.filename) === '.js'
    ? join(import.meta.dirname, 'gw.js')
    : join(import.meta.dirname, '..', '..', 'gateway', 'src', 'main.ts');

let exitCode = 0;
const program: Program = {
  environment: readEnvironment(process.env, process.stdout.isTTY === true),
  stdout: (text) => void process.stdout.write(text),
  stopped,
  endWith: (code) => {
    exitCode = code;
  },
  gwEntry,
};
/** kubectl runs its plugins by their file's name: the same program, as `kubectl-gw`. */
const asPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-gw');
// Each command loads only its modules: the plugin starts in a fraction of the time of the controllers, and so does the
// program that pods wait for.
async function commandOf(): Promise<Command> {
  if (asPlugin) return (await import('./kubectl/command.ts')).kubectlGwCommand(program);
  if (process.argv[2] !== 'fetch') return (await import('./cli/gw-operator.ts')).gwOperatorCommand(program);
  const { Command } = await import('commander');
  const command = new Command('gw-operator').showHelpAfterError('(see --help)');
  (await import('./cli/fetch.ts')).fetchCommand(command, program);
  return command;
}

try {
  const command = await commandOf();
  await command.parseAsync();
  process.exitCode = exitCode;
} catch (error) {
  process.stderr.write(`${asPlugin ? 'kubectl gw' : 'gw-operator'}: ${messageOf(error)}\n`);
  process.exit(1);
}
