/** WebSocket servers and clients of tests. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { type ClientOptions, type ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { eventually } from '../eventually.ts';

export interface WebSocketUpstream {
  readonly url: string;
  readonly server: WebSocketServer;
  /** Handshakes so far. */
  readonly handshakes: IncomingMessage[];
  /** The latest connection that is open. */
  latest(): WebSocket;
  /** Connections that are open, WebSockets or not. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** An upstream that sends every message back, over TLS where it has a key pair. Requests without upgrade get 404. */
export async function startEcho(
  options: ServerOptions = {},
  pair: { cert: Buffer; key: Buffer } | null = null,
): Promise<WebSocketUpstream> {
  const http = pair === null ? createServer(notFound) : createSecureServer(pair, notFound);
  const server = new WebSocketServer({ server: http, maxPayload: 256 << 20, ...options });
  const handshakes: IncomingMessage[] = [];
  server.on('connection', (socket, request) => {
    handshakes.push(request);
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `${pair === null ? 'ws' : 'wss'}://127.0.0.1:${(http.address() as AddressInfo).port}`,
    server,
    handshakes,
    latest() {
      const socket = [...server.clients].at(-1);
      if (socket === undefined) throw new Error('no client is connected');
      return socket;
    },
    connections: () => promisedConnections(http),
    close: () =>
      new Promise((resolve) => {
        for (const client of server.clients) client.terminate();
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

function notFound(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404).end();
}

function promisedConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

/** An upstream of bare bytes: `serve` gets each connection with the head of its handshake. */
export async function startRawUpstream(serve: (socket: Socket, head: string) => void) {
  const sockets = new Set<Socket>();
  let received = Buffer.alloc(0);
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let head = '';
    socket.on('data', function read(chunk: Buffer) {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', read).on('data', (later: Buffer) => {
        received = Buffer.concat([received, later]);
      });
      serve(socket, head);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    /** What came behind heads. */
    get received() {
      return received;
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** The right answer to a handshake. */
export function switching(head: string, ...lines: string[]): string {
  const key = /^sec-websocket-key: *(\S+)/im.exec(head)?.[1] ?? '';
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const all = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`, ...lines];
  return `HTTP/1.1 101 Switching Protocols\r\n${all.join('\r\n')}\r\n\r\n`;
}

/** Clients that tests have opened. */
const clients = new Set<{ leave(): void }>();

/** Ends all clients of a test, also of one that failed. */
export function leaveAll(): void {
  for (const client of clients) client.leave();
  clients.clear();
}

/** A client that begins its handshake. */
export function connecting(url: string, protocols: string[] = [], options: ClientOptions = {}): WebSocket {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, { maxPayload: 256 << 20, ...options });
  clients.add({ leave: () => socket.terminate() });
  socket.on('error', () => {});
  return socket;
}

/** A client that is open. */
export async function opened(url: string, protocols: string[] = [], options: ClientOptions = {}): Promise<WebSocket> {
  const socket = connecting(url, protocols, options);
  await once(socket, 'open');
  return socket;
}

/** The answer to a handshake that is refused. */
export async function refused(url: string, options: ClientOptions = {}) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), options);
  socket.on('error', () => {});
  const [, response]: [unknown, IncomingMessage] = (await once(socket, 'unexpected-response')) as never;
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, headers: response.headers, body };
}

/** The next message. */
export async function message(socket: WebSocket): Promise<Buffer> {
  const [data] = await once(socket, 'message');
  return data;
}

/** Code and reason with which it ends. */
export async function closed(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = await once(socket, 'close');
  return { code, reason: String(reason) };
}

export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** The lines of a handshake's head. */
export function handshake(path: string, ...lines: string[]): string {
  const all = [
    ...[`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${KEY}`, ...lines],
  ];
  return `${all.join('\r\n')}\r\n\r\n`;
}

/** A connection of bare bytes, with all that has come on it. */
export class RawClient {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  /** Bytes so far. */
  bytes = 0;
  ended = false;

  constructor(url: string, first: string | Buffer) {
    const { port } = new URL(url);
    this.socket = connect(Number(port), '127.0.0.1');
    clients.add({ leave: () => this.socket.destroy() });
    this.socket.write(first);
    this.socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.bytes += chunk.length;
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.ended = true;
    });
  }

  get received(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  /** What has come behind the head of the answer. */
  get frames(): Buffer {
    const { received } = this;
    const at = received.indexOf('\r\n\r\n');
    return at < 0 ? Buffer.alloc(0) : received.subarray(at + 4);
  }

  until(holds: (client: RawClient) => boolean): Promise<void> {
    return eventually(() => {
      if (!holds(this)) throw new Error(`not yet: ${JSON.stringify(this.text.slice(0, 2000))}, ended: ${this.ended}`);
    });
  }
}

interface FrameOptions {
  readonly opcode?: number;
  readonly fin?: boolean;
  readonly rsv?: number;
  readonly masked?: boolean;
}

/** A frame; a text message of a client by default. */
export function frame(payload: string | Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = 1, fin = true, rsv = 0, masked = true } = options;
  const data = Buffer.from(payload);
  const bit = masked ? 0x80 : 0;
  const head = Buffer.from([(fin ? 0x80 : 0) | (rsv << 4) | opcode]);
  let length: Buffer;
  if (data.length < 126) length = Buffer.from([bit | data.length]);
  else if (data.length < 65536) length = Buffer.from([bit | 126, data.length >> 8, data.length & 0xff]);
  else {
    length = Buffer.alloc(9);
    length[0] = bit | 127;
    length.writeBigUInt64BE(BigInt(data.length), 1);
  }
  if (!masked) return Buffer.concat([head, length, data]);
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([head, length, mask, data.map((byte, i) => byte ^ (mask[i % 4] as number))]);
}

/** A close frame as servers send it. */
export function serverClose(code: number, reason: string): Buffer {
  return frame(Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]), {
    opcode: 8,
    masked: false,
  });
}
