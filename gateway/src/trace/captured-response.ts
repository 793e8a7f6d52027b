/** Takes a response in place of a client, and keeps its head and the first bytes of its body. */
import { Writable } from 'node:stream';
import { CLIENT_CLOSED, type Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';

/** Bytes of a body that are kept. */
const MOST_BODY = 64 << 10;

export class CapturedResponse implements Responder {
  status = 0;
  headers: HeaderList = [];
  bodyBytes = 0;
  aborted = false;
  readonly #kept: Uint8Array[] = [];
  #keptBytes = 0;

  get headSent(): boolean {
    return this.status !== 0;
  }

  /** The body as far as it is kept. */
  get body(): Buffer {
    return Buffer.concat(this.#kept);
  }

  get truncated(): boolean {
    return this.aborted || this.bodyBytes > this.#keptBytes;
  }

  send(x: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void {
    this.#head(status, headers);
    if (body !== null) this.#take(typeof body === 'string' ? Buffer.from(body) : body);
    x.close();
  }

  stream(x: Exchange, status: number, headers: HeaderList): ResponseSink {
    this.#head(status, headers);
    return new Writable({
      write: (chunk: Uint8Array, _, done) => {
        this.#take(chunk);
        done();
      },
      final: (done) => {
        done();
        x.close();
      },
      destroy: (error, done) => {
        if (!x.closed) this.abort(x);
        done(error);
      },
    });
  }

  abort(x?: Exchange): void {
    this.aborted = true;
    x?.close(CLIENT_CLOSED);
  }

  #head(status: number, headers: HeaderList): void {
    this.status = status;
    this.headers = [...headers];
  }

  #take(bytes: Uint8Array): void {
    this.bodyBytes += bytes.length;
    const room = MOST_BODY - this.#keptBytes;
    if (room <= 0) return;
    const part = Buffer.from(bytes.subarray(0, room));
    this.#kept.push(part);
    this.#keptBytes += part.length;
  }
}
