/** Reads answers of an MCP server: one message of JSON, or a stream of events whose last message is the answer. */
import { type HeaderList, headerOf } from '../../exchange.ts';
import { mediaTypeOf } from '../../headers/media-type.ts';
import { mayBeInexact, parseExactly } from '../../json/exact-json.ts';
import { isQuickJson } from '../../json/json-scan.ts';
import { isNestedWithin, MOST_NESTING } from '../../json/nesting.ts';
import { slicesInTurns } from '../../scheduling/read-in-turns.ts';
import { isObject, type Obj } from '../../spec/json.ts';
import { readWhole } from '../../streams/read-whole.ts';
import { EventParser } from '../../streams/server-sent-events.ts';
import type { RpcId } from '../protocol/json-rpc.ts';
import type { StreamedAnswer } from './transport.ts';

export interface Received {
  readonly status: number;
  readonly headers: HeaderList;
  /** The message that answers the request; null without one. */
  readonly message: Obj | null;
  /** The body if it is not a stream. */
  readonly text: string;
}

export interface ReceiveOptions {
  /** Id of the request; null: any message is its answer. */
  readonly id: RpcId | null;
  /** Most bytes of the answer; of a stream, of one message, and of all ignored ones. */
  readonly most: number;
  /** Receives messages before the answer, one after the other; resolves with true if a message was passed on. */
  readonly onMessage?: ((message: Obj) => Promise<boolean>) | undefined;
}

/** Milliseconds, and pieces, in which a stream must end behind its answer, or its connection is closed. */
const END_MS = 1_000;
const MOST_PIECES = 16;

/** Most events before an answer, with or without a listener. */
const MOST_EVENTS = 5_000;

/** The answer is longer than the gateway takes. */
export class AnswerTooLong extends Error {}

/** A server sends too many messages before its answer; the message says how many. */
export class TooManyMessages extends Error {}

/** Throws AnswerTooLong, TooManyMessages, and errors of the connection. */
export async function receive(answer: StreamedAnswer, options: ReceiveOptions): Promise<Received> {
  const { status, headers } = answer;
  if (mediaTypeOf(headerOf(headers, 'content-type')) === 'text/event-stream') {
    return { status, headers, text: '', message: await answerInStream(answer, options) };
  }
  const tooLong = () => new AnswerTooLong(`the answer is longer than ${options.most} bytes`);
  if (Number(headerOf(headers, 'content-length')) > options.most) {
    answer.cancel();
    throw tooLong();
  }
  const body = await readWhole(answer.body, options.most, tooLong);
  return { status, headers, text: body.toString('utf8'), message: objectIn(body) };
}

/** Other messages, such as those of progress, may come before it. */
async function answerInStream(answer: StreamedAnswer, options: ReceiveOptions): Promise<Obj | null> {
  const events = new AnswerEvents(options);
  const chunks = answer.body[Symbol.asyncIterator]();
  let ends = false;
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      for await (const slice of slicesInTurns(next.value)) {
        const message = await events.read(slice, answer);
        if (message === null) continue;
        ends = true;
        return message;
      }
    }
    return null;
  } finally {
    if (ends) void readToEnd(chunks, answer);
    else await chunks.return?.();
  }
}

class AnswerEvents {
  readonly #options: ReceiveOptions;
  readonly #parser: EventParser;
  readonly #decoder = new TextDecoder();
  /** Bytes of ignored messages. */
  #ignored = 0;
  #events = 0;

  constructor(options: ReceiveOptions) {
    this.#options = options;
    this.#parser = new EventParser(options.most);
  }

  /** Returns the answer, or null if it is yet to come. */
  async read(bytes: Uint8Array, answer: StreamedAnswer): Promise<Obj | null> {
    const { id, most, onMessage } = this.#options;
    const events = pushed(this.#parser, this.#decoder.decode(bytes, { stream: true }));
    for (const { data, raw } of events) {
      const message = data === null ? null : objectIn(Buffer.from(data));
      if (message !== null && message['id'] === id && message['method'] === undefined) return message;
      if (++this.#events > MOST_EVENTS) {
        throw new TooManyMessages(`said more than ${MOST_EVENTS} messages before its answer`);
      }
      if (message === null || !(await onMessage?.(message))) this.#ignored += raw.length;
      // Ignored messages take the gateway's own time as well.
      if (this.#ignored > most) throw new AnswerTooLong(`it said more than ${most} bytes before its answer`);
    }
    if (events.length > 0) answer.consumed?.();
    return null;
  }
}

/** Reads the end, which is on its way: a connection with unread bytes cannot be reused. */
async function readToEnd(chunks: AsyncIterator<Uint8Array>, answer: StreamedAnswer): Promise<void> {
  const late = setTimeout(() => answer.cancel(), END_MS).unref();
  try {
    for (let left = MOST_PIECES; left > 0; left--) if ((await chunks.next()).done) return;
    answer.cancel();
  } catch {
    // It has been cancelled, or broke off: the answer was complete before.
  } finally {
    clearTimeout(late);
  }
}

function pushed(parser: EventParser, text: string) {
  try {
    return parser.push(text);
  } catch (cause) {
    throw new AnswerTooLong('a message of the answer is too long', { cause });
  }
}

function objectIn(bytes: Buffer): Obj | null {
  if (!isNestedWithin(bytes, MOST_NESTING)) return null;
  const text = bytes.toString('utf8');
  if (!isQuickJson(bytes, { exactly: mayBeInexact(text) })) return null;
  try {
    const value = parseExactly(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
