#!/usr/bin/env node
/** `gw-operator`: the Kubernetes operator, and its local mode. */
import { extname, join } from 'node:path';
import { VERSION } from '@gw/gateway/version';
import { Command } from 'commander';
import { crdsCommand } from './cli/crds.ts';
import { localCommand } from './cli/local.ts';
import { runCommand } from './cli/run.ts';
import { readEnvironment } from './config.ts';

const stopped = new Promise<void>((resolve) => {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    });
  }
});

/** Bundled, `gw` lies beside us; in the checkout, in its own workspace. */
const gwEntry =
  extname(import.meta.filename) === '.js'
    ? join(import.meta.dirname, 'gw.js')
    : join(import.meta.dirname, '..', '..', 'gateway', 'src', 'main.ts');

const command = new Command('gw-operator')
  .description('The gw Kubernetes operator: compiles API specs and runs the gateways that serve them.')
  .version(VERSION)
  .showHelpAfterError('(see --help)')
  .addHelpText(
    'after',
    '\nExamples:\n  $ gw-operator local examples/bookstore\n  $ gw-operator run --image registry.example.org/gw:0.8.0',
  );

for (const add of [runCommand, localCommand, crdsCommand]) {
  add(command, {
    environment: readEnvironment(process.env, process.stdout.isTTY === true),
    stdout: (text) => void process.stdout.write(text),
    stopped,
    gwEntry,
  });
}

try {
  await command.parseAsync();
  process.exitCode = 0;
} catch (error) {
  process.stderr.write(`gw-operator: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
