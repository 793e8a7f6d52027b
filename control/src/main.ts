#!/usr/bin/env node
/** `gw-control`: the control plane and its command line (docs/reference/control-plane.md). */
import { earlySignals } from '@gw/gateway/early-signals';

const { stopped } = earlySignals((code) => process.exit(code));
const { enlargeThreadPool } = await import('@gw/gateway/thread-pool');
enlargeThreadPool(process.env);
const { endOnBrokenPipe, readStandardInput } = await import('@gw/gateway/command-line');
const { failureOf } = await import('./cli/failure.ts');
const { controlCommand } = await import('./cli/gw-control.ts');

endOnBrokenPipe([process.stdout, process.stderr], (code) => process.exit(code));

const command = controlCommand({
  env: process.env,
  output: process.stdout,
  stdin: (most) => readStandardInput(process.stdin, most),
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  interactive: process.stderr.isTTY === true,
  stopped,
});

try {
  await command.parseAsync();
  process.exitCode = 0;
} catch (error) {
  const { text, code } = failureOf(error);
  process.stderr.write(text);
  process.exit(code);
}
