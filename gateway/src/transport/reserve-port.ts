/** The port that several processes are about to share: looked at before any of them binds it. */
import { type AddressInfo, createServer } from 'node:net';

/** Processes can bind one port together, so that each has a queue of its own (SO_REUSEPORT, balanced). */
export const SHARES_PORTS: boolean = process.platform === 'linux';

/**
 * Binds the port alone for a moment. Resolves to its number, which for port 0 the system chooses; rejects if other
 * programs listen there, which processes that share ports would not notice.
 */
export function reservePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address() as AddressInfo;
      server.close(() => resolve(address.port));
    });
  });
}
