/** Finds a free port of this machine. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to connections and to servers that request any port (from 32,768 on Linux), since
 * another process could take such a port before the caller listens on it. Above them are the node ports of Kubernetes.
 */
const [FIRST, END] = [11_000, 30_000];
const TRIES = 100;

export async function freePort(): Promise<number> {
  for (let i = 0; i < TRIES; i++) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${FIRST} to ${END - 1}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
