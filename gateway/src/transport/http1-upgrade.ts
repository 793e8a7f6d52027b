/**
 * Requests that ask to go on as a WebSocket (RFC 9110, section 7.8). node:http gives up their connection before a
 * decision: the answer is written on it by a response that replaces node:http's work.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Http1Response } from './http1-response.ts';
import { LINGER_MS } from './refuse.ts';

/** A request with a body, or of another method, is one of HTTP. node:http has seen `Connection: upgrade`. */
export function asksForWebSocket({ method, httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersionMinor === 0) return false;
  let asks = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = rawHeaders[i + 1] as string;
    if (name === 'upgrade') asks ||= /(?:^|,)\s*websocket\s*(?:,|$)/i.test(value);
    else if (name === 'transfer-encoding' || (name === 'content-length' && value !== '0')) return false;
  }
  return asks;
}

/** Returns a response on a connection that node:http has given up. `head`: bytes behind the request. */
export function responseOnUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): Http1Response {
  const response = new Http1Response(request);
  response.afterRequest = head;
  // Bytes behind the request are not HTTP.
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  const writable = () => {
    if (response.writableNeedDrain) response.emit('drain');
  };
  socket.on('error', ignore).on('drain', writable);
  const stopWatching = leaveWithClient(socket);
  response.once('upgraded', () => {
    stopWatching();
    socket.off('drain', writable);
  });
  response.once('finish', () => {
    stopWatching();
    response.detachSocket(socket);
    closeInStages(socket);
    response.emit('close');
  });
  return response;
}

/** Ends the connection when the client has sent everything; returns the function that cancels this. */
function leaveWithClient(socket: Socket): () => void {
  const look = () => {
    if (socket.readableLength === 0) socket.read();
  };
  const end = () => socket.destroy();
  socket.on('readable', look).on('end', end);
  return () => void socket.off('readable', look).off('end', end);
}

/** The client gets to read the answer: closing with bytes unread would reset the connection (RFC 9112, section 9.6). */
function closeInStages(socket: Socket): void {
  socket.resume();
  socket.end();
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
}

function ignore(): void {}
