/**
 * A thread for large-bodies.ts: an upstream that answers GET with as many bytes as its path names, and reads the body of
 * POST to `/all` as fast as it comes, or to a number at so many bytes a second. Posts its port.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

const PIECE = Buffer.alloc(256 << 10, 'x');

createServer((request, response) => {
  const name = (request.url ?? '').split('/').at(-1) ?? '';
  if (request.method === 'GET') void send(response, Number(name));
  else void receive(request, response, name === 'all' ? null : Number(name));
}).listen(0, '127.0.0.1', function (this: { address(): unknown }) {
  parentPort?.postMessage((this.address() as AddressInfo).port);
});

async function send(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
  for (let left = bytes; left > 0 && !response.destroyed; left -= PIECE.length) {
    const goesOn = response.write(left < PIECE.length ? PIECE.subarray(0, left) : PIECE);
    if (!goesOn) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end();
}

async function receive(request: IncomingMessage, response: ServerResponse, perSecond: number | null): Promise<void> {
  let bytes = 0;
  const from = performance.now();
  for await (const chunk of request) {
    bytes += chunk.length;
    const due = perSecond === null ? 0 : (bytes / perSecond) * 1000 - (performance.now() - from);
    if (due > 10) await pause(due);
  }
  response.end(String(bytes));
}
