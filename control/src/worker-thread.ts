/** One worker thread that does tasks one after the other, within limits, and is replaced when it breaks. */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { ByOwner } from '@gw/gateway/by-owner';
import { threadHeapMb } from '@gw/gateway/thread-heap';

export interface WorkerLimits {
  /** Milliseconds a task. */
  readonly timeoutMs: number;
  /** MiB of heap for the thread; half of what the process may have at most, where its container has a limit. */
  readonly memoryMb: number;
}

/** The task cost more than it may: the thread is gone, the next one gets a new one. */
export class WorkerLimitError extends Error {}

/** After this many milliseconds without work the thread ends, and its memory goes back. */
const IDLE_MS = 10_000;

/** What the thread says back. */
type Reply<R> = { readonly id: number } & ({ readonly result: R } | { readonly failure: string });

interface Job<T, R> {
  /** Whose turn it takes. */
  readonly owner: string;
  task(): T | Promise<T>;
  readonly limits: WorkerLimits;
  resolve(result: R): void;
  reject(error: Error): void;
}

export interface WorkerOptions {
  /** Beside the file of its user: `.ts` in the source tree, `.js` in a bundle. */
  readonly file: URL;
  readonly name: string;
  /** What it does, in words: "compiling". */
  readonly work: string;
}

export class WorkerThread<T, R> {
  readonly #options: WorkerOptions;
  readonly #waiting = new ByOwner<Job<T, R>>();
  #worker: Worker | null = null;
  #memoryMb = 0;
  #busy = false;
  #jobs = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /**
   * `task` is asked for when its turn comes, so that what waits holds no memory. Rejects with WorkerLimitError, with
   * what `task` throws, or with an Error for a defect of the worker. `owner`: those of different ones take turns.
   */
  run(task: () => T | Promise<T>, limits: WorkerLimits, owner = ''): Promise<R> {
    if (this.#closed) return Promise.reject(this.#closedError());
    return new Promise((resolve, reject) => {
      this.#waiting.add({ owner, task, limits, resolve, reject });
      void this.#next();
    });
  }

  /** Ends the thread; what waits is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    for (let job = this.#waiting.takeInTurn(); job; job = this.#waiting.takeInTurn()) job.reject(this.#closedError());
    await this.#drop();
  }

  #closedError(): Error {
    return new Error(`the thread for ${this.#options.work} is closed`);
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
        // Whatever broke it, nothing of it is left for the next task.
        await this.#drop();
        throw error;
      }
    } catch (error) {
      job.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.#busy = false;
    this.#worker?.unref();
    this.#idle = setTimeout(() => void this.#drop(), IDLE_MS).unref();
    void this.#next();
  }

  async #run(task: T, limits: WorkerLimits): Promise<R> {
    const { work } = this.#options;
    const memoryMb = threadHeapMb(limits.memoryMb);
    const worker = await this.#start(memoryMb);
    const id = ++this.#jobs;
    worker.ref();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        finish();
        reject(new WorkerLimitError(`${work} took more than ${limits.timeoutMs / 1000} s`));
      }, limits.timeoutMs);
      const onMessage = (reply: Reply<R>) => {
        if (reply.id !== id) return;
        finish();
        if ('result' in reply) resolve(reply.result);
        else reject(new Error(`${work} failed: ${reply.failure}`));
      };
      const onError = (error: Error) => {
        finish();
        const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        reject(isMemory ? new WorkerLimitError(`${work} took more than ${memoryMb} MiB of memory`) : error);
      };
      const onExit = (code: number) => {
        finish();
        reject(new Error(`the thread for ${work} ended with code ${code}`));
      };
      const finish = () => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      try {
        worker.postMessage({ id, task });
      } catch (error) {
        finish();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  async #start(memoryMb: number): Promise<Worker> {
    if (this.#closed) throw this.#closedError();
    if (this.#worker && this.#memoryMb !== memoryMb) await this.#drop();
    if (!this.#worker) {
      const { file, name } = this.#options;
      const worker = new Worker(file, { name, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
      // Errors and ends while nothing runs: the next task finds no thread and starts one.
      const gone = () => {
        if (this.#worker === worker) this.#worker = null;
      };
      worker.on('error', gone).on('exit', gone);
      this.#worker = worker;
      this.#memoryMb = memoryMb;
    }
    return this.#worker;
  }

  async #drop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}

/** For the worker's file: answers each task; `transfer` are memories of the result to hand over instead of copying. */
export function answerTasks<T, R>(
  answer: (task: T) => Promise<{ readonly result: R; readonly transfer?: readonly ArrayBuffer[] }>,
): void {
  if (isMainThread || !parentPort) return;
  const port = parentPort;
  port.on('message', ({ id, task }: { readonly id: number; readonly task: T }) => {
    void answer(task).then(
      ({ result, transfer = [] }) => port.postMessage({ id, result }, [...transfer]),
      (error: unknown) => {
        const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
        port.postMessage({ id, failure });
      },
    );
  });
}
