import type { Socket } from 'node:net';

/** Bytes up to which they are copied behind the text: one buffer costs the socket less than two. */
const MOST_COPIED_BYTES = 16 << 10;

/** Writes text in Latin-1 and the bytes behind it in one call to the system. Returns false if the socket is full. */
export function writeTogether(socket: Socket, text: string, bytes: Uint8Array): boolean {
  if (bytes.length <= MOST_COPIED_BYTES) {
    const joined = Buffer.allocUnsafe(text.length + bytes.length);
    joined.write(text, 'latin1');
    joined.set(bytes, text.length);
    return socket.write(joined);
  }
  socket.cork();
  socket.write(text, 'latin1');
  const takesMore = socket.write(bytes);
  socket.uncork();
  return takesMore;
}
