/** One worker thread that compiles projects one after the other, within limits, and is replaced when it breaks. */
import { Worker } from 'node:worker_threads';
import type { CompileResult, Project } from '@gw/gateway/compiler';
import type { WorkerReply } from './compile-worker.ts';

export interface CompileLimits {
  /** Milliseconds a project. */
  readonly timeoutMs: number;
  /** MiB of heap for the thread. */
  readonly memoryMb: number;
}

/** The project cost more than it may: the thread is gone, the next one gets a new one. */
export class CompileLimitError extends Error {}

/** After this many milliseconds without work the thread ends, and its memory goes back. */
const IDLE_MS = 30_000;

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker lies beside it either way. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './compile-worker.ts' : './compile-worker.js',
  import.meta.url,
);

interface Job {
  readonly project: Project;
  readonly limits: CompileLimits;
  resolve(result: CompileResult): void;
  reject(error: Error): void;
}

export class CompileThread {
  readonly #waiting: Job[] = [];
  #worker: Worker | null = null;
  #memoryMb = 0;
  #busy = false;
  #jobs = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  /** Rejects with CompileLimitError, or with an Error for a defect of the compiler. */
  compile(project: Project, limits: CompileLimits): Promise<CompileResult> {
    if (this.#closed) return Promise.reject(new Error('the compile thread is closed'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ project, limits, resolve, reject });
      void this.#next();
    });
  }

  /** Ends the thread; what waits is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.reject(new Error('the compile thread is closed'));
    await this.#drop();
  }

  async #next(): Promise<void> {
    if (this.#busy) return;
    const job = this.#waiting.shift();
    if (!job) return;
    this.#busy = true;
    clearTimeout(this.#idle);
    try {
      job.resolve(await this.#run(job));
    } catch (error) {
      // Whatever broke it, nothing of it is left for the next project.
      await this.#drop();
      job.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.#busy = false;
    this.#worker?.unref();
    this.#idle = setTimeout(() => void this.#drop(), IDLE_MS).unref();
    void this.#next();
  }

  async #run({ project, limits }: Job): Promise<CompileResult> {
    const worker = await this.#start(limits.memoryMb);
    const id = ++this.#jobs;
    worker.ref();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        finish();
        reject(new CompileLimitError(`compiling took more than ${limits.timeoutMs / 1000} s`));
      }, limits.timeoutMs);
      const onMessage = (reply: WorkerReply) => {
        if (reply.id !== id) return;
        finish();
        if ('result' in reply) resolve(reply.result);
        else reject(new Error(`the compiler failed: ${reply.failure}`));
      };
      const onError = (error: Error) => {
        finish();
        const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        reject(isMemory ? new CompileLimitError(`compiling took more than ${limits.memoryMb} MiB of memory`) : error);
      };
      const onExit = (code: number) => {
        finish();
        reject(new Error(`the compile thread ended with code ${code}`));
      };
      const finish = () => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      try {
        worker.postMessage({ id, project });
      } catch (error) {
        finish();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  async #start(memoryMb: number): Promise<Worker> {
    if (this.#worker && this.#memoryMb !== memoryMb) await this.#drop();
    if (!this.#worker) {
      const worker = new Worker(WORKER, { name: 'gw-compile', resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
      // Errors and ends while nothing runs: the next project finds no thread and starts one.
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
