/**
 * Connections without a running request: silent ones, TLS handshakes and heads that do not end, and kept-alive ones.
 * Their number is limited; for one more, the longest idle connection of the address with most of them is closed.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from '@gw/gateway/client-network';
import { ItemsByOwner } from '@gw/gateway/items-by-owner';

/** More than clients with occasional requests keep; some 10 KB each, and 50 with TLS. */
const MAX_IDLE = 2_000;

interface Idle {
  readonly owner: string;
  readonly socket: Socket;
}

/** `server`: of node:http or node:https, before it listens. `max`: default 2,000. */
export function limitIdleSockets(server: Server, max = MAX_IDLE): void {
  const idle = new ItemsByOwner<Idle>();
  /** By the address of the other end: a TLS request has another socket than the accepted one. */
  const open = new Map<string, Idle>();
  server.on('connection', (socket: Socket) => {
    const connection = { owner: clientNetwork(socket.remoteAddress ?? ''), socket };
    const name = nameOf(socket);
    if (idle.size >= max) idle.takeOldestOfBusiest()?.socket.destroy();
    open.set(name, connection);
    idle.add(connection);
    socket.once('close', () => {
      idle.delete(connection);
      if (open.get(name) === connection) open.delete(name);
    });
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(nameOf(socket));
    if (!connection) return;
    idle.delete(connection);
    response.once('close', () => {
      if (!connection.socket.destroyed) idle.add(connection);
    });
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    const connection = open.get(nameOf(socket));
    if (connection) idle.delete(connection);
  });
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
