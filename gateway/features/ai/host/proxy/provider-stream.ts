/** A provider's stream on its way to the client, event by event: only an incomplete event is held. */

import {
  EventParser,
  type HeaderList,
  isQuickJson,
  messageOf,
  type ResponseSink,
  type ServerSentEvent,
  Turns,
  writeWithBackpressure,
} from '../../../kit.ts';
import type { TranslatedContext } from './attempt-context.ts';
import { type ProviderError, ProviderFailure, ReportedError } from './conversation/provider-failure.ts';
import type { EndpointAttempt } from './endpoint-attempt.ts';
import type { StreamedAnswer } from './surfaces/surface.ts';
import type { TokenCount } from './token-count.ts';
import { TokenEstimate } from './token-estimate.ts';

/** Bytes of one event: the last one of a response has all of its text. */
const MAX_EVENT = 4 << 20;
/** Most bytes of events that the client does not get: two of the longest ones, and as many again in half a minute. */
const MAX_SILENT = 8 << 20;
const SILENT_PER_MS = 256;
/** Least size that an event counts as, in bytes, since each is work. */
const LEAST_EVENT = 256;
/** Bytes that a stream has before its first event, such as comments that keep its connection. */
const MAX_BEFORE = 64 << 10;
/** Milliseconds for which they are held: behind that, the client's connection is kept by them. */
const HELD = 10_000;

export class ProviderStream {
  readonly #context: TranslatedContext;
  readonly #attempt: EndpointAttempt;
  readonly #count: TokenCount;
  readonly #answer: StreamedAnswer;
  /** Null if no policy needs an estimate. */
  readonly #estimate: TokenEstimate | null;
  readonly #events = new EventParser(MAX_EVENT);
  readonly #turns = new Turns();
  /** Pieces to be written next. */
  #pieces: Buffer[] = [];
  /** Undefined until the head was sent; null if a response hook answered in its place. */
  #sink: ResponseSink | null | undefined;
  #bytes = 0;
  readonly #from = performance.now();
  /** Bytes that the client did not get lately, and the time of that count. */
  #silent = 0;
  #silentAt = this.#from;

  constructor(context: TranslatedContext, attempt: EndpointAttempt, count: TokenCount) {
    this.#context = context;
    this.#attempt = attempt;
    this.#count = count;
    this.#answer = context.translation.streamed();
    this.#estimate = TokenEstimate.of(context.exchange);
  }

  /** Sends the head with the first event. Throws errors that occur before that. */
  async run(body: AsyncIterable<Buffer>, headers: HeaderList): Promise<void> {
    const { exchange } = this.#context;
    let whole = false;
    try {
      for await (const chunk of body) {
        this.#read(chunk);
        await this.#write(headers);
        if (this.#sink === null || exchange.closed) break;
        await this.#turns.next();
      }
      if (exchange.closed && this.#sink === undefined) throw new ProviderFailure('the client has gone');
      if (!exchange.closed && this.#sink !== null) {
        if (!this.#answer.begun) throw new ProviderFailure('its stream ended before its first event');
        this.#add(this.#answer.end(this.#events.rest));
        await this.#write(headers);
        if (this.#sink === undefined) throw new ProviderFailure('its stream ended before its first event');
        whole = true;
      }
    } catch (error) {
      await this.#broken(error, headers);
    }
    this.#done(whole);
  }

  #read(chunk: Buffer): void {
    for (const event of this.#parsed(chunk)) {
      checkCost(event);
      if (event.data !== null) this.#estimate?.streamed(event.data);
      const piece = this.#answer.push(event);
      if (piece.length === 0) this.#passOver(event);
      this.#add(piece);
    }
  }

  /** Limits events that the client does not get: without backpressure, the provider would be read at full speed. */
  #passOver({ raw }: ServerSentEvent): void {
    const now = performance.now();
    const left = Math.max(0, this.#silent - (now - this.#silentAt) * SILENT_PER_MS);
    this.#silent = left + Math.max(raw.length, LEAST_EVENT);
    this.#silentAt = now;
    if (this.#silent > MAX_SILENT) throw new ProviderFailure('its stream says nothing without an end');
  }

  /** Reads each byte as a character, so that output and input are the same bytes. */
  #parsed(chunk: Buffer) {
    try {
      return this.#events.push(chunk.toString('latin1'));
    } catch (error) {
      throw new ProviderFailure(messageOf(error));
    }
  }

  #add(piece: Uint8Array | string): void {
    if (piece.length > 0) this.#pieces.push(Buffer.from(piece));
  }

  /** Another provider can still answer in place of this one, which has sent no event of its protocol. */
  #holds(): boolean {
    if (this.#answer.begun || this.#sink !== undefined) return false;
    const held = this.#pieces.reduce((sum, { length }) => sum + length, 0);
    if (held > MAX_BEFORE) throw new ProviderFailure('its stream does not begin');
    return performance.now() - this.#from < HELD;
  }

  async #write(headers: HeaderList): Promise<void> {
    if (this.#pieces.length === 0 || this.#holds()) return;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    if (this.#sink === undefined) this.#sink = await this.#head(headers);
    if (this.#sink === null) return;
    this.#bytes += bytes.length;
    await writeWithBackpressure(this.#sink, bytes, this.#context.exchange);
  }

  #head(headers: HeaderList) {
    const { exchange, response } = this.#context;
    this.#count.succeeded(null);
    return response.head(exchange, 200, [...headers, 'cache-control', 'no-cache']);
  }

  /** After the head, the stream ends with an error in the form of its surface. */
  async #broken(error: unknown, headers: HeaderList): Promise<void> {
    const { exchange } = this.#context;
    if (this.#answer.begun && this.#pieces.length > 0) await this.#write(headers);
    if (this.#sink === undefined) throw error;
    if (exchange.closed || this.#sink === null) return;
    this.#attempt.log('warn', `: ${messageOf(error)}`);
    const event = this.#answer.error(errorOf(error));
    const bytes = typeof event === 'string' ? Buffer.from(event) : event;
    this.#bytes += bytes.length;
    await writeWithBackpressure(this.#sink, bytes, exchange);
  }

  #done(whole: boolean): void {
    const { exchange, response } = this.#context;
    if (this.#answer.usage !== null) this.#count.succeeded(this.#answer.usage);
    if (whole) this.#count.completed();
    if (!this.#sink) return;
    if (!exchange.closed) this.#sink.end();
    response.done(exchange, this.#bytes);
  }
}

/** Throws if parsing would delay other requests. */
function checkCost({ data }: ServerSentEvent): void {
  if (data === null || isQuickJson(Buffer.from(data, 'latin1'))) return;
  throw new ProviderFailure('an event takes too long to parse');
}

function errorOf(error: unknown): ProviderError {
  if (error instanceof ReportedError) return error.error;
  return { status: 502, message: 'The provider ended its answer before it was whole.', code: 'upstream_failed' };
}
