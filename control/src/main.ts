#!/usr/bin/env node
/** `gw-control`: the control plane and its command line (docs/reference/control-plane.md). */
import { endOnBrokenPipe, readWhole } from '@gw/gateway/command-line';
import { failureOf } from './cli/failure.ts';
import { controlCommand } from './cli/gw-control.ts';

const stopped = new Promise<void>((resolve) => {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    });
  }
});

endOnBrokenPipe([process.stdout, process.stderr], (code) => process.exit(code));

const command = controlCommand({
  env: process.env,
  output: process.stdout,
  stdin: (most) => readWhole(process.stdin, most),
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
