/** Makes a port of this machine's loopback one that pods reach, where the node is this machine. */
import { connect, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { execute } from './kubectl.ts';

export interface Relay {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Undefined where pods run on another machine. */
export async function relayTo(port: number): Promise<Relay | undefined> {
  const path = 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}';
  const host = await execute('kubectl', ['get', 'nodes', '-o', path]);
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  if (!own.some(({ address }) => address === host)) return undefined;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect({ host: '127.0.0.1', port });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => open.delete(socket));
    }
    client.pipe(target).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the relay listens nowhere');
  return {
    host,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
