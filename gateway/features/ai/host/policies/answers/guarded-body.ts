/** The body of an answer on its way to the client: events as they come; JSON, which is held until it is whole. */
import { Transform } from 'node:stream';
import {
  ByteCollector,
  EventParser,
  type Exchange,
  inTurns,
  isQuickJson,
  type ResponseSink,
  type ServerSentEvent,
  type Steps,
} from '../../../../kit.ts';
import { AnswerBlocked } from './answer-rules.ts';
import { GuardedEvents, type Guarding } from './guarded-events.ts';

/** Characters of an event: the last one of a response has all of its text. */
const MAX_EVENT = 4 << 20;
/** Bytes of JSON that streams: ai-proxy answers with it in memory, and other dispatchers with no more than that. */
const MAX_JSON = 4 << 20;
const WITHHELD = 'The answer has text that a policy does not allow.';

/** Guards a stream of events: `push` returns the part of a piece that may go on, and `end` the rest. */
export class GuardedStream {
  readonly #parser = new EventParser(MAX_EVENT);
  readonly #events: GuardedEvents;
  readonly #blocked: (why: string) => void;
  /** The stream has ended; later events are dropped. */
  hasEnded = false;

  constructor(guarding: Guarding, blocked: (why: string) => void) {
    this.#events = new GuardedEvents(guarding);
    this.#blocked = blocked;
  }

  push(text: string): Steps<string> {
    return this.#pass(text, false);
  }

  end(): Steps<string> {
    return this.#pass('', true);
  }

  *#pass(text: string, isLast: boolean): Steps<string> {
    if (this.hasEnded) return '';
    let out = '';
    try {
      // Some clients accept an event without its blank line, so it is checked as well.
      const ended = isLast && this.#parser.rest !== '' ? `${text}\n\n` : text;
      for (const event of this.#parser.push(ended)) {
        out += yield* this.#events.push(checkable(event));
        yield;
      }
      return isLast ? out + this.#events.end() : out;
    } catch (error) {
      this.hasEnded = true;
      const isBlocked = error instanceof AnswerBlocked;
      this.#blocked(isBlocked ? error.message : `an event has more than ${MAX_EVENT} characters`);
      return out + this.#events.error(WITHHELD, 'response_blocked');
    }
  }
}

/** Throws AnswerBlocked if parsing would delay other requests. */
function checkable(event: ServerSentEvent): ServerSentEvent {
  if (event.data === null || isQuickJson(Buffer.from(event.data))) return event;
  throw new AnswerBlocked('an event takes too long to be checked');
}

export function eventsTap(exchange: Exchange, guarded: GuardedStream, sink: ResponseSink): ResponseSink {
  const decoder = new TextDecoder();
  const transform = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      if (guarded.hasEnded) return done();
      settle(exchange, guarded.push(decoder.decode(chunk, { stream: true })), done, (out) => {
        if (out !== '') this.push(out);
        // The client has its end, and with it the provider is left.
        if (guarded.hasEnded) this.push(null);
        done();
      });
    },
    flush(done) {
      settle(exchange, lastOf(guarded, decoder.decode()), done, (out) => done(null, out === '' ? undefined : out));
    },
  });
  transform.on('error', () => exchange.responder.abort()).pipe(sink);
  return transform;
}

function* lastOf(guarded: GuardedStream, text: string): Steps<string> {
  return (yield* guarded.push(text)) + (yield* guarded.end());
}

/** `rewrite` throws if the answer must not go on: its head was sent, so its connection is cut. */
export function jsonTap(
  exchange: Exchange,
  rewrite: (body: Buffer) => Steps<string>,
  sink: ResponseSink,
): ResponseSink {
  const collected = new ByteCollector();
  const transform = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      collected.add(chunk);
      done(collected.length > MAX_JSON ? new Error('the answer is too long to check') : null);
    },
    flush(done) {
      settle(exchange, rewrite(collected.takeWhole()), done, (out) => done(null, out));
    },
  });
  transform.on('error', () => exchange.responder.abort()).pipe(sink);
  return transform;
}

/** Does the work in turns with that of others: at once if it is quick. */
function settle(
  exchange: Exchange,
  steps: Steps<string>,
  failed: (error: Error) => void,
  done: (out: string) => void,
): void {
  const fail = (error: unknown) => failed(error instanceof Error ? error : new Error(String(error)));
  try {
    const out = inTurns(steps, () => !exchange.closed);
    if (typeof out === 'string') done(out);
    else out.then(done, fail);
  } catch (error) {
    fail(error);
  }
}
