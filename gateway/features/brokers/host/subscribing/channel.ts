/** Carries a client's events: the body of a response, or a WebSocket. */
import type { Writable } from 'node:stream';
import type { Exchange, ResponseSink } from '../../../kit.ts';
import type { Framing } from './client-event.ts';
import { SERVER_SENT_EVENTS } from './sse.ts';

export interface Channel {
  readonly sink: Writable;
  /** Events may be written in pieces: nothing else is written in between. */
  readonly inPieces: boolean;
  readonly framing: Framing;
  /** Ends the stream: the client is told that it may come again. */
  finish(stopping: boolean): void;
  /** The client is lost. */
  cut(): void;
}

export function responseChannel(exchange: Exchange, sink: ResponseSink): Channel {
  return {
    sink,
    inPieces: true,
    framing: SERVER_SENT_EVENTS,
    finish: () => void sink.end(),
    cut: () => exchange.responder.abort(),
  };
}
