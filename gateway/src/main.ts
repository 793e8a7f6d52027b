#!/usr/bin/env node
/** The `gw` command line (docs/reference/cli.md). */
import { earlySignals } from './cli/command-line/early-signals.ts';

/** A function, and no module that waits as it loads: the image has the program as a script (scripts/build-programs.ts). */
async function run(): Promise<void> {
  const { onSignal } = earlySignals((code) => process.exit(code));
  const { enlargeThreadPool } = await import('./process/thread-pool.ts');
  const { keepRequestsYoung } = await import('./process/young-generation.ts');
  enlargeThreadPool(process.env);
  keepRequestsYoung();

  const { CommanderError } = await import('commander');
  const { gwCommand } = await import('./cli/gw.ts');
  const { endOnBrokenPipe, exitFlushed, readStandardInput } = await import('./cli/command-line/standard-streams.ts');

  endOnBrokenPipe([process.stdout, process.stderr], (code) => process.exit(code));

  const gw = await gwCommand(
    {
      env: process.env,
      stdin: (most) => readStandardInput(process.stdin, most),
      input: () => process.stdin,
      stdout: (text) => void process.stdout.write(text),
      stderr: (text) => void process.stderr.write(text),
      exit: exitFlushed([process.stdout, process.stderr], (code) => process.exit(code)),
      onSignal,
    },
    process.argv.slice(2),
  );

  try {
    await gw.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Usage errors exit with 1, and with 2 for `gw compile` (docs/decisions.md#exit-codes); --help and --version are not
    // errors.
    if (error.exitCode !== 0) process.exitCode = process.argv[2] === 'compile' ? 2 : 1;
  }
}

void run();
