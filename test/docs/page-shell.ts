/** A shell as the reader of a page has it: one bash in one folder, into which the page's commands are typed in turn. */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../eventually.ts';

interface Ended {
  readonly code: number;
  /** Of both streams, as a terminal shows them. */
  readonly output: string;
}

/** A command that runs on. */
export interface Running {
  output(): Promise<string>;
  /** As Ctrl-C does; resolves when it has ended. */
  interrupt(): Promise<Ended>;
}

export interface PageShell {
  /** Waits until it ends; what it puts into the background goes on. */
  run(command: string): Promise<Ended>;
  start(command: string): Promise<Running>;
  /** Ends the shell, and everything that it has started. */
  close(): Promise<void>;
}

/**
 * `folder`: for its commands and their output, and nothing of the page; `cwd` is where it begins. Commands are sourced,
 * so that `cd` and `export` last; each job has a process group of its own. What bash itself says is of jobs only.
 */
export function openShell(folder: string, cwd: string, env: NodeJS.ProcessEnv): PageShell {
  const shell = spawn('bash', ['--noprofile', '--norc'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const closed = new Promise<void>((resolve) => shell.once('close', () => resolve()));
  const answers = createInterface(shell.stdout)[Symbol.asyncIterator]();
  /** What the lines print, as one line. */
  const ask = async (script: string): Promise<string> => {
    shell.stdin.write(`${script}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error('the shell has ended: a command of the page must not exit it');
    return value;
  };
  // A pipeline fails with any of its parts. What is left when the shell goes, goes with it.
  shell.stdin.write(
    "set -m -o pipefail\ntrap 'for job in $(jobs -p); do kill -- -$job; done 2>/dev/null; wait' EXIT\n",
  );

  let count = 0;
  const prepare = async (command: string) => {
    const file = join(folder, String(++count));
    await writeFile(file, `${command}\n`);
    return { source: `. '${file}' </dev/null >'${file}.out' 2>&1`, output: () => readFile(`${file}.out`, 'utf8') };
  };
  return {
    async run(command) {
      const { source, output } = await prepare(command);
      const code = Number(await ask(`${source}; echo $?`));
      return { code, output: await output() };
    },
    async start(command) {
      const { source, output } = await prepare(command);
      const pid = Number(await ask(`{ ${source}; } & echo $!`));
      return {
        output: () => eventually(output),
        async interrupt() {
          const code = Number(await ask(`kill -INT -- -${pid}; wait ${pid}; echo $?`));
          return { code, output: await output() };
        },
      };
    },
    async close() {
      shell.stdin.end();
      await closed;
    },
  };
}
