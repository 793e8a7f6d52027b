/** A server of bare bytes, for tests of clients whose peer does what it should not. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export class MisbehavingPeer {
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.sockets = sockets;
    this.port = (server.address() as AddressInfo).port;
  }

  /** `serve` gets each connection, which is read already. */
  static async start(serve: (socket: Socket) => unknown): Promise<MisbehavingPeer> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      socket.resume();
      serve(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MisbehavingPeer(server, sockets);
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Loses all clients. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

interface Publishing<M> {
  publish(message: M): Promise<unknown>;
  close(): void;
}

/** Publishes over a connection when it is open: what came of it, where the peer is not silent for long. */
export async function publishedTo<M>(
  peer: MisbehavingPeer,
  opened: Promise<Publishing<M>>,
  message: M,
): Promise<'stored' | 'failed' | 'silent'> {
  const done = opened
    .then((connection) => connection.publish(message).finally(() => connection.close()))
    .then(
      () => 'stored' as const,
      () => 'failed' as const,
    );
  const silence = new Promise<'silent'>((resolve) => setTimeout(resolve, 300, 'silent').unref());
  const outcome = await Promise.race([done, silence]);
  // Who still waits is told.
  opened.then((connection) => connection.close()).catch(() => {});
  peer.cut();
  return outcome;
}
