/** One worker as its parent sees it: the process, its log lines, and the calls to it. */
import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import { Channel } from './channel.ts';
import type { MetricsSnapshot, ParentMethods, WorkerMethods } from './messages.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker's lies beside it either way. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './serve-worker.ts' : './serve-worker.js', import.meta.url);

export interface WorkerProcessDeps {
  /** A finished line of its log, with the newline. */
  line(text: string): void;
  /** What it wrote to standard error. */
  stderr(text: string): void;
  /** Shared state, for this worker. */
  readonly methods: ParentMethods;
}

/** How a worker ended. */
export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export class WorkerProcess {
  readonly channel: Channel<WorkerMethods, ParentMethods>;
  readonly exited: Promise<WorkerExit>;
  /** Counts of the last time that it was asked; what remains of a worker that dies. */
  snapshot: MetricsSnapshot = [];
  /** True from the moment that it takes connections. */
  serving = false;
  readonly #worker: Worker;

  constructor({ line, stderr, methods }: WorkerProcessDeps) {
    cluster.setupPrimary({ exec: ENTRY.pathname, args: [], serialization: 'advanced', silent: true });
    const worker = cluster.fork();
    this.#worker = worker;
    // A message to a worker that has just died goes nowhere; its end is seen by `exited`.
    worker.on('error', () => {});
    const { stdout } = worker.process;
    if (stdout) createInterface({ input: stdout }).on('line', (text) => line(`${text}\n`));
    worker.process.stderr?.setEncoding('utf8').on('data', stderr);
    this.channel = new Channel<WorkerMethods, ParentMethods>(
      {
        send: (message) => void worker.process.send(message as object, undefined, undefined, () => {}),
        receive: (listener) => void worker.on('message', listener),
      },
      methods,
    );
    this.exited = new Promise((resolve) => {
      worker.once('exit', (code, signal) => {
        this.serving = false;
        this.channel.close();
        resolve({ code, signal });
      });
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** Ends it without waiting for anything. */
  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}
