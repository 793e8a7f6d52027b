/** A program under test that logs lines of JSON to standard output. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface LoggingProcess {
  readonly pid: number;
  readonly log: readonly LogLine[];
  /** Resolves with the first line, past or to come, that fits; rejects when the process ends without it. */
  logged(fits: (line: LogLine) => boolean): Promise<LogLine>;
  signal(name: NodeJS.Signals): void;
  /** SIGTERM, then the exit code. */
  stop(): Promise<number>;
  /** The exit code; -1 where a signal ended it. */
  readonly exited: Promise<number>;
}

/** `name` is for what tests print when it ends too early. */
export function loggingProcess(child: ChildProcess, name: string): LoggingProcess {
  const { stdout, stderr, pid } = child;
  if (!stdout || !stderr || pid === undefined) throw new Error(`${name} did not start, or has no output`);
  // Its last lines are read by then, which `exit` does not promise.
  const exited = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const log: LogLine[] = [];
  const waiting = new Set<(line: LogLine) => void>();
  let errors = '';
  stderr.on('data', (chunk) => {
    errors += chunk;
  });
  createInterface(stdout).on('line', (text) => {
    const line: LogLine = JSON.parse(text);
    log.push(line);
    for (const each of waiting) each(line);
  });
  return {
    pid,
    log,
    exited,
    logged: (fits) =>
      new Promise((resolve, reject) => {
        const past = log.find(fits);
        if (past) return resolve(past);
        const listener = (line: LogLine) => {
          if (!fits(line)) return;
          waiting.delete(listener);
          resolve(line);
        };
        waiting.add(listener);
        void exited.then((code) => reject(new Error(`${name} exited with ${code}: ${errors}`)));
      }),
    signal: (signal) => void child.kill(signal),
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
