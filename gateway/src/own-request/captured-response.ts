/** Takes a response in place of a client, and keeps its head and the first bytes of its body. */
import { Writable } from 'node:stream';
import { CLIENT_CLOSED, type Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';
import { GAVE_WAY, problem, renderProblem } from '../problems.ts';

export interface CaptureOptions {
  /** Bytes of the body that are kept. */
  readonly most: number;
  /** A body that is longer is not waited for. */
  readonly cutsOff: boolean;
  /** Holds the memory of kept bytes. Returns false if there is no room: the response is given up. Default: not counted. */
  holds?(bytes: number): boolean;
}

export class CapturedResponse implements Responder {
  status = 0;
  headers: HeaderList = [];
  bodyBytes = 0;
  aborted = false;
  readonly #kept: Uint8Array[] = [];
  readonly #options: CaptureOptions;
  readonly #ended = Promise.withResolvers<void>();
  #exchange: Exchange | null = null;
  #keptBytes = 0;

  constructor(options: CaptureOptions) {
    this.#options = options;
  }

  /** The response is there, or will not be: it was given up. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get headSent(): boolean {
    return this.status !== 0;
  }

  /** The body as far as it is kept. */
  get body(): Buffer {
    return Buffer.concat(this.#kept);
  }

  /** The body is longer than the kept part. */
  get tooLong(): boolean {
    return this.bodyBytes > this.#options.most;
  }

  get truncated(): boolean {
    return this.aborted || this.bodyBytes > this.#keptBytes;
  }

  send(exchange: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void {
    this.#head(status, headers);
    if (body !== null) this.#take(typeof body === 'string' ? Buffer.from(body) : body);
    exchange.close();
    this.#ended.resolve();
  }

  giveWay(exchange: Exchange): void {
    if (this.headSent) return this.abort(exchange);
    const refusal = problem('overloaded', GAVE_WAY);
    this.send(exchange, refusal.status, ['content-type', 'application/problem+json'], renderProblem(refusal));
  }

  stream(exchange: Exchange, status: number, headers: HeaderList): ResponseSink {
    this.#head(status, headers);
    this.#exchange = exchange;
    const sink: ResponseSink = new Writable({
      write: (chunk: Uint8Array, _, done) => {
        this.#take(chunk);
        done();
        // It was answered, and read as far as needed: the client has not left.
        if (this.#options.cutsOff && this.bodyBytes > this.#options.most) this.#cut(exchange);
      },
      final: (done) => {
        done();
        exchange.close();
        this.#ended.resolve();
      },
      destroy: (error, done) => {
        if (!exchange.closed) this.abort(exchange);
        done(error);
      },
    });
    sink.endWith = (body) => {
      this.#take(body);
      // The sender is not done yet, and would take it for a client that leaves.
      queueMicrotask(() => {
        exchange.close();
        this.#ended.resolve();
      });
    };
    return sink;
  }

  abort(exchange: Exchange | null = this.#exchange): void {
    this.aborted = true;
    exchange?.close(CLIENT_CLOSED);
    this.#ended.resolve();
  }

  #cut(exchange: Exchange): void {
    this.aborted = true;
    exchange.close(this.status);
    this.#ended.resolve();
  }

  #head(status: number, headers: HeaderList): void {
    this.status = status;
    this.headers = [...headers];
  }

  #take(bytes: Uint8Array): void {
    this.bodyBytes += bytes.length;
    const room = this.#options.most - this.#keptBytes;
    if (room <= 0) return;
    const part = bytes.subarray(0, room);
    if (this.#options.holds?.(part.length) === false) return void this.#kept.splice(0);
    this.#kept.push(Buffer.from(part));
    this.#keptBytes += part.length;
  }
}
