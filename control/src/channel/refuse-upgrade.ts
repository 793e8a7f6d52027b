/**
 * Answers of the channel to upgrades that it does not take: problem documents (docs/decisions.md#control-media-types),
 * and the connection closes.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

export interface UpgradeRefusal {
  readonly status: 400 | 404 | 503;
  readonly type: 'not-found' | 'bad-request' | 'unavailable';
  readonly detail: string;
}

export function refuseUpgrade(socket: Duplex, { status, type, detail }: UpgradeRefusal): void {
  const title = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ type: `urn:gw:error:${type}`, title, status, detail });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(status === 503 ? ['Retry-After: 1'] : []),
  ];
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
