import { connect } from 'node:net';
import { eventually } from '../eventually.ts';

/**
 * Waits until a connection to the address of a Service is taken. Ready says that pods serve; nodes, which send
 * connections to them, learn of it a moment later.
 */
export function reachable(url: string): Promise<void> {
  const { hostname, port, protocol } = new URL(url);
  const to = { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  const attempt = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(to, () => {
        socket.end();
        resolve();
      });
      socket.setTimeout(5000, () => socket.destroy(new Error(`no answer from ${hostname}`)));
      socket.on('error', reject);
    });
  return eventually(attempt);
}
