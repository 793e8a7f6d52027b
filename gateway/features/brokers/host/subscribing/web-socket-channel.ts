/** Carries a client's events over a WebSocket. Loaded with the library that reads frames. */

import type { Duplex } from 'node:stream';
import { type CloseStatus, closeFrame, type Exchange, type WebSocketFigures } from '../../../kit.ts';
import type { Channel } from './channel.ts';
import type { Framing } from './client-event.ts';
import { WebSocketInput } from './web-socket-input.ts';

/** Milliseconds that a client gets for its part of the closing handshake. */
const CLOSING_MS = 2_000;
const STOPPING: CloseStatus = { code: 1001, reason: 'the gateway is stopping' };
const COME_AGAIN: CloseStatus = { code: 1001, reason: 'open it again' };

export function webSocketChannel(exchange: Exchange, connection: Duplex, figures: WebSocketFigures): Channel {
  figures.open++;
  let closing: NodeJS.Timeout | null = null;
  let told = false;
  const tell = (why: CloseStatus | null) => {
    if (told || !connection.writable) return;
    told = true;
    connection.write(why === null ? Buffer.from([0x88, 0]) : closeFrame(why, false));
  };
  const giveUp = () => {
    // Counted and logged now: a gateway that stops may end before the connection says that it is closed.
    exchange.close();
    connection.destroy();
  };
  const end = () => {
    connection.end();
    closing ??= setTimeout(giveUp, CLOSING_MS);
  };
  const input = new WebSocketInput(connection, {
    received: (bytes) => {
      exchange.receivedUpgraded += bytes;
      figures.received.bytes += bytes;
    },
    message: () => {
      figures.received.messages++;
    },
    closed: (why) => {
      tell(why);
      end();
    },
  });
  connection.on('close', () => {
    if (closing !== null) clearTimeout(closing);
    input.destroy();
    figures.open--;
  });
  return {
    sink: connection,
    // Control frames come in between.
    inPieces: false,
    framing: WEB_SOCKET_MESSAGES,
    finish(stopping) {
      tell(stopping ? STOPPING : COME_AGAIN);
      // The client's close frame ends it; without one, it ends after a time-out.
      closing ??= setTimeout(giveUp, CLOSING_MS);
    },
    cut: () => void connection.destroy(),
  };
}

const FIN_TEXT = 0x81;
const PING = Buffer.from([0x89, 0]);

/** Events as messages of a WebSocket: each a JSON object in a text frame. */
const WEB_SOCKET_MESSAGES: Framing = {
  write: ({ event, data, isObject }, id) =>
    textFrame(`{"event":"${event}",${idMember(id)}"data":${isObject ? data : JSON.stringify(data)}}`),
  opening: (id) => textFrame(JSON.stringify({ event: 'open', ...(id === null ? {} : { id }) })),
  heartbeat: (id) => (id === null ? PING : Buffer.concat([PING, textFrame(JSON.stringify({ event: 'position', id }))])),
};

function idMember(id: string | null): string {
  return id === null ? '' : `"id":"${id}",`;
}

/** Unmasked, as servers send it (RFC 6455, section 5.2). */
function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headSize = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headSize + length);
  frame[0] = FIN_TEXT;
  if (headSize === 2) frame[1] = length;
  else if (headSize === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headSize);
  return frame;
}
