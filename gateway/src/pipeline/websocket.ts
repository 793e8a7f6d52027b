/** A request that has become a WebSocket: its relay, and what the access log says of it. */
import type { Duplex } from 'node:stream';
import { RequestSlot } from '../capability/request-slot.ts';
import { type Exchange, joinedHeader, type RequestPart } from '../exchange.ts';
import type { WebSocketFigures } from '../web-socket-figures.ts';
import { compresses } from '../websocket/extensions.ts';
import { acceptClient, EXTENSIONS } from '../websocket/handshake.ts';
import { Relay, type RelayEnd, STOPPING } from '../websocket/relay.ts';

const slot = new RequestSlot<ClosedWebSocket>();

/** How it ended, for the access log. */
class ClosedWebSocket implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #end: RelayEnd;

  constructor(end: RelayEnd) {
    this.#end = end;
  }

  get logged(): string {
    const { by, code, reason } = this.#end;
    const why = reason === '' ? '' : `,"close_reason":"${reason}"`;
    return `,"closed_by":"${by}","close_code":${code}${why}`;
  }

  finished(): void {}
}

/**
 * Accepts the client's handshake with the response headers at hand, and relays until both connections have ended; then
 * calls back with the bytes that the client was sent. False where the client has gone.
 */
export function relayWebSocket(
  x: Exchange,
  upstream: Duplex,
  figures: WebSocketFigures,
  ended: (sent: number) => void,
): boolean {
  const limits = x.handOff?.webSocket;
  const deflate = compresses(joinedHeader(x.responseHeaders, EXTENSIONS));
  acceptClient(x, x.responseHeaders);
  let relay: Relay | null = null;
  const client = limits && x.responder.upgrade?.(x, x.responseHeaders, () => relay?.close(STOPPING));
  if (!client) {
    upstream.destroy();
    return false;
  }
  relay = new Relay({
    client,
    upstream,
    deflate,
    ...limits,
    figures,
    ended: (end) => {
      x.receivedUpgraded = end.received;
      slot.set(x, new ClosedWebSocket(end));
      ended(end.sent);
    },
  });
  return true;
}
