/** One worker as its parent sees it: the process, its log lines, and the calls to it. */
import type { StdioOptions } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { LeaseSettlement } from '../state/quota-lease.ts';
import { Channel, linePort } from './channel.ts';
import { type LeaseRecalls, type MetricsSnapshot, type SharedState, STATE_FD, type WorkerMethods } from './messages.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker's lies beside it in both cases. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './serve-worker.ts' : './serve-worker.js', import.meta.url);

/** Standard streams, the channel of calls, and at STATE_FD the stream for shared state. */
const STDIO = ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'] satisfies StdioOptions;

export interface WorkerProcessDeps {
  /** A finished line of its log, with the newline. */
  line(text: string): void;
  /** Receives its standard error. */
  stderr(text: string): void;
  /** Shared state, for this worker. */
  readonly state: SharedState;
}

/** How a worker ended. */
export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export class WorkerProcess {
  readonly channel: Channel<WorkerMethods, Record<never, never>>;
  readonly exited: Promise<WorkerExit>;
  /** Last known counts, which remain if the worker dies. */
  snapshot: MetricsSnapshot = [];
  /** True once it has taken connections. */
  serving = false;
  readonly #worker: Worker;
  readonly #state: Channel<LeaseRecalls, SharedState> | null;

  constructor({ line, stderr, state }: WorkerProcessDeps) {
    cluster.setupPrimary({ exec: fileURLToPath(ENTRY), args: [], serialization: 'advanced', stdio: STDIO });
    const worker = cluster.fork();
    this.#worker = worker;
    // A message to a worker that has just died is lost; its end is seen by `exited`.
    worker.on('error', () => {});
    const { stdout, stdio } = worker.process;
    if (stdout) createInterface({ input: stdout }).on('line', (text) => line(`${text}\n`));
    worker.process.stderr?.setEncoding('utf8').on('data', stderr);
    this.channel = new Channel<WorkerMethods, Record<never, never>>(
      {
        send: (message) => void worker.process.send(message as object, undefined, undefined, () => {}),
        receive: (listener) => void worker.on('message', listener),
      },
      {},
    );
    const stateStream = stdio[STATE_FD];
    this.#state =
      stateStream instanceof Duplex ? new Channel<LeaseRecalls, SharedState>(linePort(stateStream), state) : null;
    this.exited = new Promise((resolve) => {
      worker.once('exit', (code, signal) => {
        this.channel.close();
        this.#state?.close();
        resolve({ code, signal });
      });
    });
  }

  /** Ends a lease of a quota; null if the worker has ended it. Rejects if the worker ends. */
  async recallLease(id: number): Promise<LeaseSettlement | null> {
    return this.#state === null ? null : this.#state.call('recallLease', id);
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** Ends it without waiting for anything. */
  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}
