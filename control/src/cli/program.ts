/** Process-level dependencies of commands. */
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Environment } from '../config.ts';

export interface Program {
  readonly env: Environment;
  /** Standard output, for binary data. */
  readonly output: Writable;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Reads standard input to its end; rejects if it is longer than `most` bytes. */
  readonly stdin: (most: number) => Promise<Buffer>;
  /** Standard error is a terminal: progress may be drawn on it. */
  readonly interactive: boolean;
  /**
   * For a command with work to finish: resolves at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process
   * at once. Before this is called, the first one does.
   */
  readonly stopped: () => Promise<void>;
}

/** A command: adding one is a file like these and a line in gw-control.ts. */
export type AddCommand = (parent: Command, program: Program) => void;
