#!/usr/bin/env node
/** `gw-control`: the control plane and its command line (reference 3). */
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

const command = controlCommand({
  env: process.env,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  interactive: process.stdout.isTTY === true,
  stopped,
});

try {
  await command.parseAsync();
} catch (error) {
  process.stderr.write(`gw-control: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
