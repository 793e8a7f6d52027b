/** A call whose answer is read as it comes: its time, its span, and its caller. */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { BodyStream, Exchange } from '../exchange.ts';
import type { Span } from '../spans/span.ts';
import { failureOf, HttpCallError } from './http-call-error.ts';
import { type Stallable, StallTimer } from './stall-timer.ts';

/** Of an `HttpStreamCall`, which says what they mean. */
interface CallTerms {
  readonly timeoutMs: number;
  readonly headTimeoutMs?: number;
  readonly exchange?: Exchange | null;
  readonly shared?: boolean;
  readonly signal?: AbortSignal;
}

export class CallUnderWay implements Stallable {
  span: Span | null = null;
  /** Gives back its place among the calls of clients. */
  endPlace: () => void = () => {};
  readonly #ended = new AbortController();
  #timer: StallTimer;
  readonly #timeoutMs: number;
  readonly #withdraw: () => void;
  readonly #url: URL;
  /** Body of the request, if it streams. */
  #body: StreamedBody | null = null;
  #waitsForHead = true;

  constructor({ timeoutMs, headTimeoutMs = timeoutMs, exchange, shared, signal }: CallTerms, url: URL) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
    this.#timer = new StallTimer(headTimeoutMs, this);
    const withdraw = (shared ? null : exchange)?.onClose(() =>
      this.giveUp(new HttpCallError('failed', 'the client has gone')),
    );
    const stop = () => this.giveUp(new HttpCallError('failed', 'it was given up'));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    this.#withdraw = () => {
      withdraw?.();
      signal?.removeEventListener('abort', stop);
    };
  }

  giveUp(why: Error): void {
    this.#ended.abort(why);
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  stalled(timeoutMs: number): void {
    // The client's next piece restarts the timer; the transport limits that time.
    if (this.#waitsForHead && this.#body?.waitsForClient) return;
    this.#ended.abort(new HttpCallError('timeout', `nothing came for ${timeoutMs} ms`));
  }

  /** The request's body, as undici takes it. */
  sent(body: Uint8Array | string | BodyStream | null): Uint8Array | string | Readable | null {
    if (body === null || typeof body === 'string' || body instanceof Uint8Array) return body;
    this.#body = new StreamedBody(body, () => {
      if (this.#waitsForHead) this.progressed();
    });
    return this.#body.sent;
  }

  /** The head of the answer is there. */
  headed(): void {
    this.#waitsForHead = false;
    this.#timer.stop();
    this.#timer = new StallTimer(this.#timeoutMs, this);
  }

  progressed(): void {
    this.#timer.progressed();
  }

  /** Time in which the caller does not read does not count. */
  async *read(body: Dispatcher.ResponseData['body']): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body) {
        this.#timer.stop();
        yield chunk;
        this.progressed();
      }
    } catch (error) {
      throw this.failed(error);
    } finally {
      this.end();
    }
  }

  cancel(body: Dispatcher.ResponseData['body']): void {
    body.on('error', () => {}).destroy();
    this.end();
  }

  failed(error: unknown): HttpCallError {
    const failure = failureOf(this.signal.aborted ? this.signal.reason : error, this.#url);
    this.span?.failed(failure.failure);
    this.end();
    return failure;
  }

  /** Ends all waiting for the call. */
  end(): void {
    this.#waitsForHead = false;
    this.#body?.discard();
    this.#timer.stop();
    this.#withdraw();
    this.endPlace();
    this.span?.end();
    this.span = null;
  }
}

/** A request's body on its way into a call, as its client sends it. */
class StreamedBody {
  /** As undici takes it. */
  readonly sent: Readable;
  readonly #source: BodyStream;

  /** `progressed`: a piece has come, or the last one has been sent. */
  constructor(source: BodyStream, progressed: () => void) {
    this.#source = source;
    // The call fails with the source's error.
    this.sent = Readable.from(pieces(source, progressed)).on('error', () => {});
  }

  /** The client has yet to send more of it. */
  get waitsForClient(): boolean {
    return !this.#source.readableEnded && this.#source.waitsForClient;
  }

  /** Drops the rest. */
  discard(): void {
    this.#source.destroy();
  }
}

async function* pieces(source: BodyStream, progressed: () => void): AsyncGenerator<Uint8Array> {
  // Left early, the body would be one that has failed, which is for its client to bring about.
  for await (const piece of source.iterator({ destroyOnReturn: false })) {
    progressed();
    yield piece;
  }
  progressed();
}
