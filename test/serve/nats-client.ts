/** A client of NATS that is not the gateway's. */
import { connect as connectSocket, type Socket } from 'node:net';
import type { NatsConnection } from '@nats-io/nats-core';
import { NatsConnectionImpl, setTransportFactory, type Transport } from '@nats-io/nats-core/internal';

class SocketTransport implements Transport {
  readonly lang = 'nats.js';
  readonly version = '3.4.0';
  isClosed = false;
  #socket: Socket | null = null;
  readonly #closed = Promise.withResolvers<void>();

  async connect({ hostname, port }: { readonly hostname: string; readonly port: number }): Promise<void> {
    const socket = connectSocket(port, hostname);
    this.#socket = socket;
    socket.on('error', () => {}).on('close', () => this.discard());
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#socket) yield* this.#socket.iterator({ destroyOnReturn: true });
  }

  isEncrypted(): boolean {
    return false;
  }

  send(frame: Uint8Array): void {
    this.#socket?.write(frame);
  }

  async close(): Promise<void> {
    this.discard();
  }

  disconnect(): void {
    this.discard();
  }

  closed(): Promise<void> {
    return this.#closed.promise;
  }

  discard(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#socket?.destroy();
    this.#closed.resolve();
  }
}

export function connect(url: string, options: object = {}): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new SocketTransport() });
  return NatsConnectionImpl.connect({ servers: [url], ...options });
}
