/** A stream that the gateway itself answers with, and that goes on when its generation does not. */
import { CLIENT_CLOSED, type Exchange, type HeaderList, type ResponseSink } from '../exchange.ts';
import { addStandardHeaders } from '../headers/standard.ts';
import type { ResponseRun } from './response-run.ts';

/** Returns null if the client has gone. */
export function ownStream(exchange: Exchange, response: ResponseRun, headers: HeaderList): ResponseSink | null {
  if (exchange.closed) {
    response.record(CLIENT_CLOSED, 0);
    return null;
  }
  addStandardHeaders(exchange, headers);
  exchange.response.status = 200;
  response.goesOn(200);
  const sink = exchange.responder.stream(exchange, 200, headers);
  exchange.onClose(() => response.record(200, 0));
  return sink;
}
