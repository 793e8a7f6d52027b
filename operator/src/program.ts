import type { Command } from 'commander';
import type { OperatorEnvironment } from './config.ts';

/** Process-level dependencies of commands. */
export interface Program {
  readonly environment: OperatorEnvironment;
  readonly stdout: (text: string) => void;
  /**
   * For a command with work to finish: resolves at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process
   * at once. Before this is called, the first one does.
   */
  readonly stopped: () => Promise<void>;
  /** Sets the exit code if nothing throws. Default: 0. */
  readonly endWith: (exitCode: number) => void;
  /** Path of the `gw` program, for local mode. */
  readonly gwEntry: string;
}

/** A command: adding one is a file like these and a line in main.ts. */
export type AddCommand = (parent: Command, program: Program) => void;
