/** Load of WebSocket messages: connections that each have one message under way, there and back. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { cpuTime, type Figures } from './load.ts';

const CONNECTIONS = 32;

export interface WebSocketLoad {
  readonly port: number;
  readonly path: string;
  /** Process whose CPU time counts, with that of its children. */
  readonly pid: number;
  /** Payload of a message; at most 65,535. */
  readonly bytes: number;
}

/** Counts echoes by their bytes alone, so that the client costs as little as can be. */
class Client {
  readonly #socket: Socket;
  readonly #message: Buffer;
  readonly #echoBytes: number;
  #received = 0;
  echoes = 0;
  readonly opened: Promise<void>;

  constructor({ port, path, bytes }: WebSocketLoad) {
    this.#message = frame(bytes, true);
    this.#echoBytes = frame(bytes, false).length;
    this.#socket = connect(port, '127.0.0.1');
    const key = randomBytes(16).toString('base64');
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    this.opened = this.#handshake();
  }

  begin(): void {
    this.#socket.on('data', (chunk) => {
      for (this.#received += chunk.length; this.#received >= this.#echoBytes; this.#received -= this.#echoBytes) {
        this.echoes++;
        this.#socket.write(this.#message);
      }
    });
    this.#socket.write(this.#message);
  }

  end(): void {
    this.#socket.removeAllListeners('data').destroy();
  }

  #handshake(): Promise<void> {
    return new Promise((resolve, reject) => {
      let head = '';
      const read = (chunk: Buffer) => {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        this.#socket.off('data', read);
        if (head.startsWith('HTTP/1.1 101 ')) resolve();
        else reject(new Error(head.split('\r\n')[0]));
      };
      this.#socket.on('data', read).once('error', reject);
    });
  }
}

/** A binary frame of that many zeros; masked by zeros, which leave it as it is. */
function frame(bytes: number, masked: boolean): Buffer {
  const length = bytes < 126 ? [bytes] : [126, bytes >> 8, bytes & 0xff];
  length[0] = (length[0] ?? 0) | (masked ? 0x80 : 0);
  return Buffer.concat([Buffer.from([0x82, ...length]), Buffer.alloc(bytes + (masked ? 4 : 0))]);
}

export async function measureWebSockets(load: WebSocketLoad, seconds: number): Promise<Figures> {
  const clients = Array.from({ length: CONNECTIONS }, () => new Client(load));
  try {
    await Promise.all(clients.map(({ opened }) => opened));
    const [cpu, since] = [cpuTime(load.pid), performance.now()];
    for (const client of clients) client.begin();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const echoes = clients.reduce((sum, client) => sum + client.echoes, 0);
    const took = (performance.now() - since) / 1000;
    const stalled = clients.filter((client) => client.echoes === 0).length;
    const cpuPerRequest = (cpuTime(load.pid) - cpu) / echoes;
    return { requestsPerSecond: echoes / took, cpuPerRequest, p99Ms: Number.NaN, notOk: stalled };
  } finally {
    for (const client of clients) client.end();
  }
}
