/** What commands need of the process around them. */
import type { Command } from 'commander';
import type { Environment } from '../config.ts';

export interface Program {
  readonly env: Environment;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Standard output is a terminal. */
  readonly interactive: boolean;
  /** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
  readonly stopped: Promise<void>;
}

/** A command: adding one is a file like these and a line in gw-control.ts. */
export type AddCommand = (parent: Command, program: Program) => void;
