/** The clients of steady-clients.ts, in their process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A request that was not answered with 200. */
export interface Failure {
  /** When it failed, in ISO 8601. */
  readonly at: string;
  readonly client: string;
  /** The status, or the error. */
  readonly what: string;
  /** Milliseconds since it was sent. */
  readonly ms: number;
}

interface Totals {
  readonly sent: number;
  readonly answered: number;
  /** To another connection, since the first one was ending. */
  readonly moved: number;
  readonly failures: readonly Failure[];
  /** The longest time that the clients' process could not run. */
  readonly stoodStillMs: number;
}

export interface SteadyLoad {
  /** As of the last second, and of the end when it has stopped. */
  readonly totals: Totals;
  /** Sends no more, and waits for the answers of what was sent. */
  stop(): Promise<void>;
  /** What was sent, answered and not, in lines to read. */
  summary(): string;
}

export function startSteadyLoad(url: string, perSecond: number): SteadyLoad {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'steady-clients.ts'), url, String(perSecond)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let totals: Totals = { sent: 0, answered: 0, moved: 0, failures: [], stoodStillMs: 0 };
  createInterface({ input: child.stdout }).on('line', (line) => {
    totals = JSON.parse(line);
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  return {
    get totals() {
      return totals;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
    summary: () => summary(totals),
  };
}

function summary({ sent, answered, moved, failures, stoodStillMs }: Totals): string {
  const kinds = Map.groupBy(failures, ({ client, what }) => `${client}: ${what}`);
  return [
    `${sent} requests, ${answered} answered with 200, ${moved} moved, ${failures.length} failed; ` +
      `the clients stood still for at most ${stoodStillMs} ms`,
    ...[...kinds].map(([kind, of]) => {
      const times = of.map(({ ms }) => ms);
      const after = `after ${Math.min(...times)} to ${Math.max(...times)} ms`;
      return `${of.length} ${kind}, ${after}, from ${of[0]?.at} to ${of.at(-1)?.at}`;
    }),
  ].join('\n');
}
