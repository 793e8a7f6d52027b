/** One validation helper from the gateway's side: a process, its current work, and the time for it. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cpuMsOf, runInBackground } from '../../process/process-usage.ts';
import type { Fault, FromHelper, SchemaTable, ToHelper, Work } from './messages.ts';

/** In the source tree a TypeScript file above this folder; in a bundle, with all files in one folder, JavaScript. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? '../validation-worker.ts' : './validation-worker.js',
  import.meta.url,
);

/** A helper that gets no CPU for so many times its limit is ended as well. */
const MOST_WAIT = 40;

/**
 * The process ended before it gave a verdict: `deadline`, it took too long; `unprepared`, schemas took too long to compile;
 * `failed`, it ran out of memory or crashed.
 */
export type Loss = 'deadline' | 'unprepared' | 'failed';
export type Outcome = { readonly fault: Fault | null } | { readonly lost: Loss };

interface Running {
  readonly settle: (outcome: Outcome) => void;
  /** CPU time of the process when validation began; null while schemas are compiled. */
  begunCpuMs: number | null;
  /** CPU milliseconds in which schemas must be compiled. */
  readonly prepareMs: number;
  readonly startCpuMs: number;
  readonly startedAt: number;
}

export class HelperProcess {
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #deadlineMs: number;
  readonly #tables = new Set<number>();
  #running: Running | null = null;
  /** Why it was ended. */
  #overdue: 'deadline' | 'unprepared' | null = null;

  /** `deadlineMs`: CPU time of one validation. `heapMb`: heap limit of the process. */
  constructor(deadlineMs: number, heapMb: number) {
    this.#deadlineMs = deadlineMs;
    this.#child = fork(fileURLToPath(ENTRY), [], {
      serialization: 'advanced',
      // The gateway's environment is withheld: it may hold secrets.
      env: {},
      execArgv: [`--max-old-space-size=${heapMb}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // Short requests on the event loop come first.
    runInBackground(this.#child.pid);
    let isReady: () => void = () => {};
    this.ready = new Promise((resolve) => {
      isReady = resolve;
    });
    this.exited = new Promise((resolve) => {
      const ended = () => {
        this.#settle({ lost: this.#overdue ?? 'failed' });
        resolve();
      };
      this.#child.once('exit', ended);
      // The process could not be started, or a message to it failed: it is killed, if it runs.
      this.#child.on('error', () => {
        this.#child.kill('SIGKILL');
        if (this.#child.pid === undefined) ended();
      });
    });
    this.#child.on('message', (message: FromHelper) => {
      if (message.type === 'ready') isReady();
      else if (message.type === 'done') this.#settle({ fault: message.fault });
      else if (this.#running !== null) this.#running.begunCpuMs = message.cpuMs;
    });
    // An idle helper keeps no process alive.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /**
   * Runs one work at a time, once the process is ready. `table`: the number of the schemas; `prepareMs`: CPU time to
   * compile them.
   */
  run(table: number, given: SchemaTable, work: Work, prepareMs: number): Promise<Outcome> {
    const now = performance.now();
    if (!this.#child.connected) return Promise.resolve({ lost: 'failed' });
    return new Promise((settle) => {
      this.#running = { settle, prepareMs, begunCpuMs: null, startCpuMs: this.#cpuMs() ?? 0, startedAt: now };
      if (!this.#tables.has(table)) this.#send({ type: 'table', table, given });
      this.#tables.add(table);
      this.#send({ type: 'work', table, work });
    });
  }

  /** Its schemas are no longer needed. */
  forget(table: number): void {
    if (this.#tables.delete(table)) this.#send({ type: 'forget', table });
  }

  /** Ends the process if it has taken longer than it may. */
  checkDeadline(): void {
    const running = this.#running;
    if (running === null) return;
    const { begunCpuMs, startCpuMs, startedAt, prepareMs } = running;
    const limit = begunCpuMs === null ? prepareMs : this.#deadlineMs;
    const waited = performance.now() - startedAt;
    // Without /proc, time that has passed stands for CPU time.
    const cpuMs = this.#cpuMs();
    const used = cpuMs === null ? waited : cpuMs - (begunCpuMs ?? startCpuMs);
    if (used <= limit && waited <= MOST_WAIT * limit) return;
    this.#overdue = begunCpuMs === null ? 'unprepared' : 'deadline';
    this.kill();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #send(message: ToHelper): void {
    if (this.#child.connected) this.#child.send(message, undefined, undefined, () => {});
  }

  #settle(outcome: Outcome): void {
    const running = this.#running;
    this.#running = null;
    running?.settle(outcome);
  }

  /** CPU time of all its threads, seen from outside. */
  #cpuMs(): number | null {
    return cpuMsOf(this.#child.pid);
  }
}
