/** Events as messages of a WebSocket: each a JSON object in a text frame. */
import type { Framing } from './client-event.ts';

const FIN_TEXT = 0x81;
const PING = Buffer.from([0x89, 0]);

export const WEB_SOCKET_MESSAGES: Framing = {
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
