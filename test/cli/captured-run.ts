/** Runs a command of `gw` in this process, and keeps what it did. */
import { Readable } from 'node:stream';
import { Command } from 'commander';
import type { Program } from '../../gateway/src/cli/command-line/program.ts';

export interface CapturedRun {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command exits exactly once; rejects where it did not, and with commander's error for a usage error. */
export async function runCommand(
  create: (program: Program) => Command,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CapturedRun> {
  let stdout = '';
  let stderr = '';
  const codes: number[] = [];
  const command = create({
    env,
    stdin: async () => Buffer.from(input),
    input: () => Readable.from([Buffer.from(input)]),
    stdout: (output) => {
      stdout += typeof output === 'string' ? output : Buffer.from(output).toString('latin1');
    },
    stderr: (text) => {
      stderr += text;
    },
    exit: (code) => void codes.push(code),
    onSignal: () => {},
  });
  command.exitOverride().configureOutput({ writeErr: () => {} });
  await new Command('gw').addCommand(command).parseAsync([command.name(), ...args], { from: 'user' });
  if (codes.length !== 1) throw new Error(`the command exited ${codes.length} times`);
  return { code: codes[0], stdout, stderr };
}
