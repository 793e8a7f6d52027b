/**
 * Keeps a copy of a response's body as it streams past, up to a limit. It is read at the pace of its upstream: what its
 * client has yet to read waits in memory, so that a client which does not read delays nobody else
 * (docs/decisions.md#recorded-at-upstream-pace).
 */
import { Writable } from 'node:stream';
import { ByteCollector, type Evictable, type Exchange, type Holding, holdFor, type ResponseSink } from '../../kit.ts';

/** Why a body is not recorded: it is too large; its client's share of memory is used up; or it breaks off. */
export type DropReason = 'too-large' | 'no-room' | 'broken-off';

export class Recording {
  readonly #exchange: Exchange;
  readonly #collected = new ByteCollector();
  readonly #held: Holding | null;
  #bytes = 0;
  #open = true;
  #unread = false;
  readonly #limit: number;
  readonly #whole: (body: Buffer) => void;
  readonly #dropped: (why: DropReason) => void;

  /** Calls exactly one of the two, once; `drop` calls the second. */
  constructor(exchange: Exchange, limit: number, whole: (body: Buffer) => void, dropped: (why: DropReason) => void) {
    this.#exchange = exchange;
    this.#limit = limit;
    this.#whole = whole;
    this.#dropped = dropped;
    this.#held = exchange.responseMemory === null ? null : holdFor(exchange.responseMemory, exchange);
    if (this.#held !== null) this.#held.evictable = this.#yielding(this.#held.evictable);
    exchange.onClose(() => {
      this.drop('broken-off');
      this.#held?.release();
    });
  }

  /** Others need the memory: the copy goes, and the response itself only if its client has yet to read it. */
  #yielding(request: Evictable | null): Evictable {
    return {
      onlyForOthers: true,
      rate: (now) => request?.rate(now) ?? 0,
      evict: () => {
        this.drop('no-room');
        if (this.#unread) this.#exchange.giveWay();
      },
    };
  }

  /** The body is still being recorded. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Returns the copy; the chunk itself if it is not recorded. */
  add(chunk: Uint8Array): Uint8Array {
    if (!this.#open) return chunk;
    if (this.#bytes + chunk.length > this.#limit) this.drop('too-large');
    else if (this.#held !== null && !this.#held.take(chunk.length)) this.drop('no-room');
    if (!this.#open) return chunk;
    this.#bytes += chunk.length;
    // A copy: chunks are views of a socket's buffer, which is often much larger.
    const copy = Buffer.from(chunk);
    this.#collected.add(copy);
    return copy;
  }

  end(): void {
    if (!this.#open) return;
    const body = this.#collected.takeWhole();
    this.#close();
    this.#whole(body);
  }

  drop(why: DropReason): void {
    if (!this.#open) return;
    this.#close();
    this.#dropped(why);
  }

  /** Reports whether what was recorded still waits for the client: its bytes count until then. */
  set unread(unread: boolean) {
    this.#unread = unread;
    this.#releaseIfDone();
  }

  #close(): void {
    this.#open = false;
    this.#collected.take();
    this.#releaseIfDone();
  }

  #releaseIfDone(): void {
    if (!this.#open && !this.#unread) this.#held?.release();
  }
}

/** Passes a body on to `target` and to the recording. */
export class RecordingSink extends Writable implements ResponseSink {
  readonly #target: ResponseSink;
  readonly #recording: Recording;
  #waiting: (() => void) | null = null;

  constructor(target: ResponseSink, recording: Recording) {
    super();
    this.#target = target;
    this.#recording = recording;
    target.on('drain', () => this.#resume());
  }

  #resume(): void {
    this.#recording.unread = false;
    const resume = this.#waiting;
    this.#waiting = null;
    resume?.();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    if (this.#target.write(this.#recording.add(chunk))) return done();
    this.#recording.unread = true;
    // The upstream waits for the client only if nothing is recorded.
    if (this.#recording.isOpen) done();
    else this.#waiting = done;
  }

  override _final(done: () => void): void {
    this.#recording.end();
    this.#target.end();
    done();
  }

  endWith(body: Uint8Array): void {
    const recorded = this.#recording.add(body);
    this.#recording.unread = true;
    this.#recording.end();
    if (this.#target.endWith) this.#target.endWith(recorded);
    else this.#target.end(recorded);
  }
}
