/** The body of an answer on its way to the client: events as they come; JSON, which is held until it is whole. */
import { Transform } from 'node:stream';
import { ByteCollector } from '../../../byte-collector.ts';
import type { Exchange, ResponseSink } from '../../../exchange.ts';
import { isQuickJson } from '../../../json/json-scan.ts';
import { EventParser, type ServerSentEvent } from '../../../server-sent-events.ts';
import { AnswerBlocked } from './answer-rules.ts';
import { GuardedEvents, type Guarding } from './guarded-events.ts';

/** Characters of an event: the last one of a response has all of its text. */
const MAX_EVENT = 4 << 20;
/** Bytes of JSON that streams: ai-proxy answers with it in memory, and other dispatchers with no more than that. */
const MAX_JSON = 4 << 20;
const WITHHELD = 'The answer has text that a policy does not allow.';

/** A stream of events: `push` gives what goes on of a piece, and `end` what is left. */
export class GuardedStream {
  readonly #parser = new EventParser(MAX_EVENT);
  readonly #events: GuardedEvents;
  readonly #blocked: (why: string) => void;
  /** Nothing may follow. */
  hasEnded = false;

  constructor(guarding: Guarding, blocked: (why: string) => void) {
    this.#events = new GuardedEvents(guarding);
    this.#blocked = blocked;
  }

  push(text: string): string {
    return this.#pass(text, false);
  }

  end(): string {
    return this.#pass('', true);
  }

  #pass(text: string, isLast: boolean): string {
    if (this.hasEnded) return '';
    let out = '';
    try {
      // An event without an end is none, but some clients take it for one.
      const ended = isLast && this.#parser.rest !== '' ? `${text}\n\n` : text;
      for (const event of this.#parser.push(ended)) out += this.#events.push(checkable(event));
      return isLast ? out + this.#events.end() : out;
    } catch (error) {
      this.hasEnded = true;
      const isBlocked = error instanceof AnswerBlocked;
      this.#blocked(isBlocked ? error.message : `an event has more than ${MAX_EVENT} characters`);
      return out + this.#events.error(WITHHELD, 'response_blocked');
    }
  }
}

/** Throws AnswerBlocked where others would wait for its parsing. */
function checkable(event: ServerSentEvent): ServerSentEvent {
  if (event.data === null || isQuickJson(Buffer.from(event.data))) return event;
  throw new AnswerBlocked('an event takes too long to be checked');
}

export function eventsTap(x: Exchange, guarded: GuardedStream, sink: ResponseSink): ResponseSink {
  const decoder = new TextDecoder();
  const transform = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      if (guarded.hasEnded) return done();
      const out = guarded.push(decoder.decode(chunk, { stream: true }));
      if (out !== '') this.push(out);
      // The client has its end, and with it the provider is left.
      if (guarded.hasEnded) this.push(null);
      done();
    },
    flush(done) {
      const out = guarded.push(decoder.decode()) + guarded.end();
      done(null, out === '' ? undefined : out);
    },
  });
  transform.on('error', () => x.responder.abort()).pipe(sink);
  return transform;
}

/** `rewrite` throws where the answer must not go on: its head was sent, so that its connection is cut. */
export function jsonTap(x: Exchange, rewrite: (body: Buffer) => string, sink: ResponseSink): ResponseSink {
  const collected = new ByteCollector();
  const transform = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      collected.add(chunk);
      done(collected.length > MAX_JSON ? new Error('the answer is too long to check') : null);
    },
    flush(done) {
      try {
        done(null, rewrite(collected.takeWhole()));
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  transform.on('error', () => x.responder.abort()).pipe(sink);
  return transform;
}
