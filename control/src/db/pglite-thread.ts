/** PGlite in a thread of its own, reached like a server: `pg` writes its protocol into a stream that leads there. */
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { PgliteReply, PgliteRequest } from './pglite-worker.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker is beside it in both. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './pglite-worker.ts' : './pglite-worker.js', import.meta.url);

/** AuthenticationOk and ReadyForQuery: the thread has no users, and begins no session. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
const TERMINATE = 0x58;

export class PgliteThread {
  readonly #dataDir: string | undefined;
  readonly #streams = new Map<number, PgliteStream>();
  #worker: Promise<Worker> | null = null;
  #connections = 0;
  #closed = false;
  /** Settles when the thread has ended. */
  #ended: Promise<void> | undefined;

  /** @param dataDir the folder of the database; without one it is in memory only. */
  constructor(dataDir: string | undefined) {
    this.#dataDir = dataDir;
  }

  /** Resolves when the database answers; rejects if it cannot be opened. */
  async start(): Promise<void> {
    await this.#running();
  }

  /** Returns a connection in the form of `pg`'s option `stream`. */
  stream(): Duplex {
    const id = ++this.#connections;
    const stream = new PgliteStream({
      open: () => this.#running(),
      send: (bytes) => void this.#send({ connection: id, bytes }),
      ended: () => void this.#streams.delete(id),
    });
    this.#streams.set(id, stream);
    return stream;
  }

  /** Waits for running queries, writes everything to disk, and ends the thread. */
  close(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    this.#closed = true;
    const worker = await this.#worker?.catch(() => null);
    if (!worker) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ close: true } satisfies PgliteRequest);
    await exited;
  }

  async #send(request: Extract<PgliteRequest, { bytes: Uint8Array }>): Promise<void> {
    const worker = await this.#running().catch(() => null);
    // Separate memory, so that it can be transferred instead of copied.
    const bytes = new Uint8Array(request.bytes);
    worker?.postMessage({ ...request, bytes } satisfies PgliteRequest, [bytes.buffer]);
  }

  /** Returns the thread; starts a new one if it broke. */
  #running(): Promise<Worker> {
    if (this.#closed) return Promise.reject(new Error('the database is closed'));
    this.#worker ??= this.#start();
    return this.#worker;
  }

  #start(): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(WORKER, { name: 'gw-database', workerData: { dataDir: this.#dataDir } });
      const broke = (error: Error) => {
        this.#worker = null;
        reject(error);
        for (const stream of this.#streams.values()) stream.destroy(error);
        void worker.terminate();
      };
      worker.on('message', (reply: PgliteReply) => {
        if ('ready' in reply) resolve(worker);
        else if ('failure' in reply) broke(new Error(`the embedded database failed: ${reply.failure}`));
        else this.#streams.get(reply.connection)?.push(reply.bytes);
      });
      worker.on('error', (error: Error) => broke(new Error(`the embedded database failed: ${error.message}`)));
      worker.on('exit', (code) => {
        if (!this.#closed) broke(new Error(`the embedded database ended with code ${code}`));
      });
    });
  }
}

interface Port {
  open(): Promise<unknown>;
  send(bytes: Uint8Array): void;
  ended(): void;
}

/** Looks to `pg` like a socket. */
class PgliteStream extends Duplex {
  readonly #port: Port;
  #started = false;

  constructor(port: Port) {
    super();
    this.#port = port;
  }

  connect(): this {
    this.#port.open().then(
      () => this.emit('connect'),
      (error: Error) => this.destroy(error),
    );
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.#started) {
      this.#started = true;
      this.push(WELCOME);
    } else if (bytes[0] !== TERMINATE) {
      this.#port.send(bytes);
    }
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done);
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.ended();
    done(error);
  }
}
