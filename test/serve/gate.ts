/** Stands before a real server, so that a test can take it away, have it be silent, and bring it back. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class Gate {
  readonly #target: URL;
  readonly #host: string;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  /** It takes what clients send, and passes nothing on. */
  silent = false;
  /** Hears what clients send. */
  tap: (chunk: Buffer) => void = () => {};
  /** Where clients connect to; the same after it was closed. */
  port = 0;
  /** Connections so far. */
  accepted = 0;

  /** Before the server of this URL; `port` where the URL names none. */
  constructor(target: string, port = 0) {
    const url = new URL(target);
    this.#target = url;
    this.#host = url.hostname;
    this.#port = Number(url.port || port);
  }

  /** The server's URL, by way of this. */
  get url(): string {
    return this.#target.href.replace(this.#target.host, `127.0.0.1:${this.port}`);
  }

  async open(): Promise<void> {
    const server = createServer((client) => {
      this.accepted++;
      const upstream = connect(this.#port, this.#host);
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket.on('error', () => {}));
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.on('data', (chunk: Buffer) => {
        this.tap(chunk);
        if (!this.silent) upstream.write(chunk);
      });
      upstream.pipe(client);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Ends what is open, and refuses connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
