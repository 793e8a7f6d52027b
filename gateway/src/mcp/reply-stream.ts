/** The answer to a request with earlier messages of the server: a stream from the first such message on, else JSON. */
import { type Answer, type HeaderList, joinedHeader, type ResponseSink } from '../exchange.ts';
import { writeWithBackpressure } from '../streams/write-with-backpressure.ts';
import { type McpRequest, STREAMS } from './tool-methods.ts';

const HEADERS: HeaderList = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
];

export class ReplyStream {
  readonly #request: McpRequest;
  /** Undefined before the first message. Null: the client has gone. */
  #sink: ResponseSink | null | undefined;

  constructor(request: McpRequest) {
    this.#request = request;
  }

  /**
   * Resolves when the client takes more, or `signal` reports the end of the call. Resolves with false if it takes no
   * streams, or has gone.
   */
  async say(message: object, signal: AbortSignal): Promise<boolean> {
    if (this.#sink === undefined) {
      if (!/(^|[,\s])text\/event-stream\b/i.test(joinedHeader(this.#request.exchange.headers, 'accept') ?? ''))
        return false;
      this.#sink = this.#request.stream([...HEADERS]);
      this.#sink?.on('error', () => {});
    }
    const sink = this.#sink;
    if (sink === null || sink.destroyed || signal.aborted) return false;
    await writeWithBackpressure(sink, eventOf(JSON.stringify(message)), waitingUntil(signal));
    return true;
  }

  /** `text`: the message that answers the request; null without one. */
  end(text: string | null, plain: () => Answer | null): Answer | null | typeof STREAMS {
    const sink = this.#sink;
    if (sink === undefined) return plain();
    if (sink !== null && !sink.destroyed) {
      if (text === null) sink.end();
      else sink.end(eventOf(text));
    }
    return STREAMS;
  }
}

function waitingUntil(signal: AbortSignal) {
  return {
    closed: signal.aborted,
    onClose(listener: () => void) {
      signal.addEventListener('abort', listener);
      return () => signal.removeEventListener('abort', listener);
    },
  };
}

/** `message`: JSON. */
function eventOf(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}
