/** Carries a client's events: the body of a response, or a WebSocket. */
import type { Writable } from 'node:stream';
import type { Exchange, ResponseSink } from '../../../kit.ts';
import type { Framing } from './client-event.ts';

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

const LINE_BREAK = /\r\n|\r|\n/;

/** Events as server-sent events (HTML, section 9.2). */
export const SERVER_SENT_EVENTS: Framing = {
  write({ event, data }, id) {
    const name = event === 'message' ? '' : `event: ${event}\n`;
    const lines = LINE_BREAK.test(data) ? data.split(LINE_BREAK).join('\ndata: ') : data;
    return Buffer.from(`${name}${idLine(id)}data: ${lines}\n\n`);
  },
  // Without data clients see no event, but the id counts.
  opening: (id, retryMs) => Buffer.from(`retry: ${retryMs}\n${idLine(id)}\n`),
  heartbeat: (id) => Buffer.from(`:\n${idLine(id)}\n`),
};

function idLine(id: string | null): string {
  return id === null ? '' : `id: ${id}\n`;
}
