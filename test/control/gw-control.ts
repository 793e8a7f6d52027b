/** `gw-control` as a person or a script runs it. */
import { execFile } from 'node:child_process';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { programEnv } from '../programs/program.ts';

export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type GwControl = (
  args: readonly string[],
  input?: string,
  env?: Readonly<Record<string, string>>,
) => Promise<CommandRun>;

/** `common`: the environment of every run. */
export const gwControl =
  (common: Readonly<Record<string, string>>): GwControl =>
  (args, input = '', env = {}) =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [GW_CONTROL, ...args],
        { env: { ...programEnv(), ...common, ...env } },
        (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
      child.stdin?.end(input);
    });
