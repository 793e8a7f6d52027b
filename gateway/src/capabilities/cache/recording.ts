/** Keeps a copy of a response's body as it streams past, up to a limit; never holds it up. */
import { Writable } from 'node:stream';
import { ByteCollector } from '../../byte-collector.ts';
import type { ResponseSink } from '../../exchange.ts';

/** Bytes of all recordings of the process at once; past it responses pass without being stored. */
const MOST_RECORDED = 64 << 20;
let recorded = 0;

export class Recording {
  readonly #collected = new ByteCollector();
  #bytes = 0;
  #open = true;
  readonly #limit: number;
  readonly #whole: (body: Buffer) => void;
  readonly #dropped: () => void;

  /** Calls exactly one of the two, once; `drop` calls the second. */
  constructor(limit: number, whole: (body: Buffer) => void, dropped: () => void) {
    this.#limit = limit;
    this.#whole = whole;
    this.#dropped = dropped;
  }

  add(chunk: Uint8Array): void {
    if (!this.#open) return;
    if (this.#bytes + chunk.length > this.#limit || recorded + chunk.length > MOST_RECORDED) return this.drop();
    this.#bytes += chunk.length;
    recorded += chunk.length;
    // A copy: chunks are views of a socket's buffer, which is often much larger.
    this.#collected.add(Buffer.from(chunk));
  }

  end(): void {
    if (!this.#open) return;
    const body = this.#collected.takeWhole();
    this.#close();
    this.#whole(body);
  }

  /** The response breaks off, or is larger than may be stored. */
  drop(): void {
    if (!this.#open) return;
    this.#close();
    this.#dropped();
  }

  #close(): void {
    this.#open = false;
    this.#collected.take();
    recorded -= this.#bytes;
  }
}

/** Passes a body on to `target` and to the recording. */
export class RecordingSink extends Writable implements ResponseSink {
  readonly #target: ResponseSink;
  readonly #recording: Recording;

  constructor(target: ResponseSink, recording: Recording) {
    super();
    this.#target = target;
    this.#recording = recording;
    target.on('drain', () => this.#resume());
  }

  #waiting: (() => void) | null = null;

  #resume(): void {
    const resume = this.#waiting;
    this.#waiting = null;
    resume?.();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#recording.add(chunk);
    if (this.#target.write(chunk)) done();
    else this.#waiting = done;
  }

  override _final(done: () => void): void {
    this.#recording.end();
    this.#target.end();
    done();
  }

  endWith(body: Uint8Array): void {
    this.#recording.add(body);
    this.#recording.end();
    if (this.#target.endWith) this.#target.endWith(body);
    else this.#target.end(body);
  }
}
