/** Data planes by hand, for tests of the channel. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { KEY, PROJECT } from './link-server.ts';

export const hello = (over: object = {}) => ({
  type: 'hello',
  api_key: KEY,
  project_id: PROJECT,
  name: 'edge',
  instance_id: 'i-1',
  gw_version: '0.8.0',
  artifact_versions: [6],
  artifact_hash: null,
  labels: {},
  ...over,
});

/** A data plane that says what it is told to. */
export class Peer {
  readonly heard: Record<string, unknown>[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  readonly #waiting = new Set<() => void>();

  /** `localAddress`: its end of the connection. */
  constructor(url: string, localAddress?: string) {
    this.socket = new WebSocket(url, ['gw.data-plane.v1'], {
      perMessageDeflate: false,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    this.socket.on('error', () => {});
    this.socket.on('message', (data) => {
      this.heard.push(JSON.parse(data.toString()));
      for (const look of [...this.#waiting]) look();
    });
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
  }

  async say(message: object | string): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open');
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  until(type: string, members: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.closed.then((code) => reject(new Error(`closed with ${code} before it heard ${type}`)));
      const look = () => {
        const found = this.heard.find(
          (message) =>
            message['type'] === type && Object.entries(members).every(([name, value]) => message[name] === value),
        );
        if (!found) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** How a connection to the channel becomes a WebSocket, for those that are not made by the library. */
export const UPGRADE_LINES: readonly string[] = [
  'GET /ws/data-plane HTTP/1.1',
  'Host: c',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: gw.data-plane.v1',
];
export const UPGRADE = requestOf(UPGRADE_LINES);

export function requestOf(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Of text, masked with zeroes (RFC 6455, section 5.2). */
export function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0xfe, bytes.length >> 8, bytes.length & 255, 0, 0, 0, 0]), bytes]);
}
