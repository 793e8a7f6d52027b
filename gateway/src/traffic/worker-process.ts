/** One worker as its parent sees it: the process, its log lines, and the calls to it. */
import type { StdioOptions } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { Duplex, type Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { LeaseSettlement } from '../state/quota-lease.ts';
import { Channel, linePort } from './channel.ts';
import { type LeaseRecalls, type MetricsSnapshot, type SharedState, STATE_FD, type WorkerMethods } from './messages.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker's lies beside it in both cases. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './serve-worker.ts' : './serve-worker.js', import.meta.url);

/** Standard streams, the channel of calls, and at STATE_FD the stream for shared state. */
const STDIO = ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'] satisfies StdioOptions;

export interface WorkerProcessDeps {
  /** Finished lines of its log. */
  lines(bytes: Uint8Array): void;
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

  constructor({ lines, stderr, state }: WorkerProcessDeps) {
    cluster.setupPrimary({ exec: fileURLToPath(ENTRY), args: [], serialization: 'advanced', stdio: STDIO });
    const worker = cluster.fork();
    this.#worker = worker;
    // A message to a worker that has just died is lost; its end is seen by `exited`.
    worker.on('error', () => {});
    const { stdout, stdio } = worker.process;
    if (stdout) wholeLines(stdout, lines);
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

const NEWLINE = 0x0a;

/** Calls `lines` with each part of the stream that ends with a line, so that lines of several workers do not mix. */
function wholeLines(stream: Readable, lines: (bytes: Uint8Array) => void): void {
  let rest: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      const whole = chunk.subarray(0, end);
      lines(rest.length === 0 ? whole : Buffer.concat([...rest, whole]));
      rest = [];
    }
    if (end < chunk.length) rest.push(chunk.subarray(end));
  });
  stream.on('end', () => {
    if (rest.length > 0) lines(Buffer.concat([...rest, Buffer.of(NEWLINE)]));
  });
}
