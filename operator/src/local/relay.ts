/**
 * A Service of local mode: a TCP relay. Each connection goes to a pod that is ready at that moment; connections that
 * are open stay with their pod, which ends them when it drains. So pods change without a connection being refused.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface RelayOptions {
  readonly host: string;
  readonly port: number;
  /** Ports on 127.0.0.1 of the pods that are ready now, best first. */
  readonly targets: () => readonly number[];
}

/** A client that comes before the first pod is ready waits this long. */
const WAIT_MS = 10_000;
const LOOK_MS = 50;

export class Relay {
  readonly #server: Server;
  readonly #options: RelayOptions;
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) => {
      this.#track(client);
      this.#relay(client, performance.now() + WAIT_MS, 0);
    });
  }

  /** Rejects with EADDRINUSE when the port is taken. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port, this.#options.host, () => {
        this.#server.off('error', reject);
        this.#server.on('error', () => undefined);
        resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  #relay(client: Socket, until: number, attempt: number): void {
    if (client.destroyed) return;
    const targets = this.#options.targets();
    const port = targets[(this.#turn++ + attempt) % Math.max(1, targets.length)];
    if (port === undefined) {
      if (performance.now() >= until) client.destroy();
      else setTimeout(() => this.#relay(client, until, 0), LOOK_MS);
      return;
    }
    const pod = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
    this.#track(pod);
    const refused = () => {
      // It stopped between check and connect: nothing has been sent yet, so another pod may be tried.
      if (performance.now() >= until) client.destroy();
      else setTimeout(() => this.#relay(client, until, attempt + 1), LOOK_MS);
    };
    pod.once('error', refused);
    pod.once('connect', () => {
      pod.off('error', refused);
      pod.on('error', () => client.destroy());
      client.on('error', () => pod.destroy());
      pod.on('close', () => client.destroySoon());
      client.on('close', () => pod.destroySoon());
      client.pipe(pod).pipe(client);
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // Until both ends are joined, an error only ends this one.
    socket.on('error', () => undefined);
  }
}
