/**
 * One process that runs tasks one after the other, within limits, and is replaced when it breaks. A thread would not
 * do: memory of WebAssembly compilers and buffers is outside of its heap limit, and ending a thread stops neither an
 * allocation nor a long parse (docs/decisions.md#tasks-in-processes).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ItemsByOwner } from '@gw/gateway/items-by-owner';
import { residentBytesOf } from '@gw/gateway/process-usage';

export interface TaskLimits {
  /** Milliseconds a task. */
  readonly timeoutMs: number;
  /** MiB of heap, and 512 MiB more of memory in all; at most half of this process's limit, if its container has one. */
  readonly memoryMb: number;
}

/** The task exceeded its limits: the process has ended, the next task gets a new one. */
export class TaskLimitError extends Error {}

/** Milliseconds without work after which the process ends, and its memory is freed. */
const IDLE_MS = 10_000;
/** Milliseconds between checks of its memory. */
const LOOK_MS = 200;
/** MiB beside the heap: the program itself, buffers, and code being compiled. */
const BESIDE_HEAP_MB = 512;
/** Part of the container's memory that a task may have. */
const SHARE = 1 / 2;
/** Signals by which Node.js ends when its heap is full, and by which the kernel ends a process over its limit. */
const OUT_OF_MEMORY = new Set<NodeJS.Signals>(['SIGABRT', 'SIGTRAP', 'SIGKILL']);
/** The kernel ends it before all other processes of the container, if memory runs out. */
const ENDS_FIRST = '1000';

/** A reply of the process. */
type Reply<R> = { readonly id: number } & ({ readonly result: R } | { readonly failure: string });

interface Job<T, R> {
  /** Whose turn it takes. */
  readonly owner: string;
  task(): T | Promise<T>;
  readonly limits: TaskLimits;
  resolve(result: R): void;
  reject(error: Error): void;
}

export interface TaskProcessOptions {
  /** Beside the file of its user: `.ts` in the source tree, `.js` in a bundle. */
  readonly file: URL;
  /** Its activity, in words: "compiling". */
  readonly work: string;
}

export class TaskProcess<T, R> {
  readonly #options: TaskProcessOptions;
  readonly #waiting = new ItemsByOwner<Job<T, R>>();
  #child: ChildProcess | null = null;
  #heapMb = 0;
  #busy = false;
  #jobs = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: TaskProcessOptions) {
    this.#options = options;
  }

  /**
   * Calls `task` when its turn comes, so that waiting ones hold no memory. Rejects with TaskLimitError, with the error
   * of `task`, or with an Error for a defect of the process. `owner`: different owners take turns.
   */
  run(task: () => T | Promise<T>, limits: TaskLimits, owner = ''): Promise<R> {
    if (this.#closed) return Promise.reject(this.#closedError());
    return new Promise((resolve, reject) => {
      this.#waiting.add({ owner, task, limits, resolve, reject });
      void this.#next();
    });
  }

  /** Ends the process; rejects waiting tasks. */
  async close(): Promise<void> {
    this.#closed = true;
    for (let job = this.#waiting.takeInTurn(); job; job = this.#waiting.takeInTurn()) job.reject(this.#closedError());
    await this.#drop();
  }

  #closedError(): Error {
    return new Error(`the process for ${this.#options.work} is closed`);
  }

  async #next(): Promise<void> {
    if (this.#busy) return;
    const job = this.#waiting.takeInTurn();
    if (!job) return;
    this.#busy = true;
    clearTimeout(this.#idle);
    try {
      const task = await job.task();
      try {
        job.resolve(await this.#run(task, job.limits));
      } catch (error) {
        // After any failure, nothing of it remains for the next task.
        await this.#drop();
        throw error;
      }
    } catch (error) {
      job.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.#busy = false;
    this.#hold(false);
    this.#idle = setTimeout(() => void this.#drop(), IDLE_MS).unref();
    void this.#next();
  }

  async #run(task: T, limits: TaskLimits): Promise<R> {
    const { work } = this.#options;
    const { heapMb, memoryMb } = memoryOf(limits);
    const child = await this.#start(heapMb);
    const id = ++this.#jobs;
    this.#hold(true);
    return new Promise((resolve, reject) => {
      const tooMuch = (mib: number) => new TaskLimitError(`${work} took more than ${mib} MiB of memory`);
      const end = (then: () => void) => {
        clearTimeout(timer);
        clearInterval(looks);
        child.off('message', onMessage).off('error', onError).off('exit', onExit);
        then();
      };
      const timer = setTimeout(
        () => end(() => reject(new TaskLimitError(`${work} took more than ${limits.timeoutMs / 1000} s`))),
        limits.timeoutMs,
      );
      const looks = setInterval(() => {
        if ((residentBytesOf(child.pid) ?? 0) > memoryMb << 20) end(() => reject(tooMuch(memoryMb)));
      }, LOOK_MS);
      const onMessage = (reply: Reply<R>) => {
        if (reply.id !== id) return;
        if ('result' in reply) end(() => resolve(reply.result));
        else end(() => reject(new Error(`${work} failed: ${reply.failure}`)));
      };
      const onError = (error: Error) => end(() => reject(error));
      const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
        const isMemory = signal !== null && OUT_OF_MEMORY.has(signal);
        end(() => reject(isMemory ? tooMuch(heapMb) : new Error(`the process for ${work} ended: ${signal ?? code}`)));
      };
      child.on('message', onMessage).on('error', onError).on('exit', onExit);
      try {
        child.send({ id, task }, (error) => {
          if (error !== null) onError(error);
        });
      } catch (error) {
        end(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    });
  }

  async #start(heapMb: number): Promise<ChildProcess> {
    if (this.#closed) throw this.#closedError();
    if (this.#child && this.#heapMb !== heapMb) await this.#drop();
    if (!this.#child) {
      const child = fork(fileURLToPath(this.#options.file), [], {
        serialization: 'advanced',
        // It gets nothing of this process's environment, which may contain secrets.
        env: {},
        execArgv: [`--max-old-space-size=${heapMb}`],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      // Errors and exits while nothing runs: the next task starts a new process.
      const gone = () => {
        if (this.#child === child) this.#child = null;
      };
      child.on('error', gone).on('exit', gone);
      endFirst(child.pid);
      this.#child = child;
      this.#heapMb = heapMb;
    }
    return this.#child;
  }

  /** Sets whether this process stays alive for the other one. */
  #hold(holds: boolean): void {
    const child = this.#child;
    if (holds) {
      child?.ref();
      child?.channel?.ref();
    } else {
      child?.unref();
      child?.channel?.unref();
    }
  }

  async #drop(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    // The caller that waits for the end may have nothing else to keep its process alive.
    child.ref();
    child.kill('SIGKILL');
    await ended;
  }
}

function memoryOf({ memoryMb }: TaskLimits): { readonly heapMb: number; readonly memoryMb: number } {
  // Without a limit it is 0, or more than any machine has.
  const bytes = process.constrainedMemory();
  const share = bytes > 0 ? Math.floor((bytes * SHARE) / (1 << 20)) : Number.POSITIVE_INFINITY;
  const heapMb = Math.min(memoryMb, share);
  return { heapMb, memoryMb: heapMb + Math.min(BESIDE_HEAP_MB, share) };
}

function endFirst(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, ENDS_FIRST);
  } catch {
    // Not on Linux, or not permitted here.
  }
}

/** Answers each task; for the module of the process. */
export function answerTasks<T, R>(answer: (task: T) => Promise<R>): void {
  // Started by hand.
  if (process.send === undefined) return;
  const say = (reply: Reply<R>) => process.send?.(reply);
  // An interrupt at the terminal is for the parent process, which then ends this one.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ id, task }: { readonly id: number; readonly task: T }) => {
    answer(task).then(
      (result) => say({ id, result }),
      (error: unknown) => {
        const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
        say({ id, failure });
      },
    );
  });
}
