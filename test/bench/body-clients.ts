/** Clients of large bodies, over bare sockets: they hold a piece of the body, and no more. */
import { connect, type Socket } from 'node:net';

const PIECE = Buffer.alloc(256 << 10, 'x');

/** Uploads so many bytes. Resolves with the body of the answer. */
export function upload(port: number, path: string, bytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  let left = bytes;
  const send = () => {
    while (left > 0) {
      const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE;
      left -= piece.length;
      if (!socket.write(piece)) return;
    }
  };
  socket.on('drain', send);
  send();
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  return ended(socket).then(() => bodyOf(text));
}

/** Downloads a body. Resolves with its bytes. */
export async function download(port: number, path: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  let head = '';
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    if (head.includes('\r\n\r\n')) {
      bytes += chunk.length;
      return;
    }
    head += chunk.toString('latin1');
    if (head.includes('\r\n\r\n')) bytes = head.length - head.indexOf('\r\n\r\n') - 4;
  });
  await ended(socket);
  if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(head.slice(0, 500));
  return bytes;
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => socket.on('error', reject).on('close', () => resolve()));
}

/** Body of an answer with a length, or in one chunk. Throws unless the status is 200. */
function bodyOf(text: string): string {
  if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(text.slice(0, 500));
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  return /^transfer-encoding: chunked/im.test(text) ? (body.split('\r\n')[1] ?? '') : body;
}
