/** One address before several servers, as users have it: each connection goes to the next one that takes it. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class LoadBalancer {
  readonly #targets: URL[];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #next = 0;
  #port = 0;

  private constructor(targets: readonly string[]) {
    this.#targets = targets.map((target) => new URL(target));
    this.#server = createServer((client) => {
      this.#sockets.add(client);
      client.on('error', () => {}).on('close', () => this.#sockets.delete(client));
      this.#forward(client, this.#targets.length);
    });
  }

  static async before(targets: readonly string[]): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(targets);
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve));
    balancer.#port = (balancer.#server.address() as AddressInfo).port;
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(client: Socket, tries: number): void {
    const target = this.#targets[this.#next++ % this.#targets.length];
    if (!target || tries === 0) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    upstream.once('error', () => this.#forward(client, tries - 1));
    upstream.once('connect', () => {
      upstream.removeAllListeners('error');
      upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  }
}
